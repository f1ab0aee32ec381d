import { holdLease } from '../coordination/hold-lease.ts'
import { ConflictError, FencedError } from '../errors.ts'
import type { Doc, Json, Store } from '../store/store.ts'
import { COLLECTION, putJob, removeJobOp, type StoredJob } from './job.ts'

export interface ClaimContext {
  readonly store: Store
  /** How long a claim lasts unless it is renewed, in milliseconds. */
  readonly claimMs: number
  /** The store's clock. */
  readonly now: () => number
}

/** A job that only this process may work on. Each write is guarded by the version of the previous one. */
export interface Claim {
  readonly partition: string
  readonly id: string
  readonly job: StoredJob
  readonly version: number
  /** Whether the claim was lost or ended, after which nothing is written. */
  readonly isOver: boolean
  /** Whether the job was replaced, removed or claimed by another process. */
  readonly isLost: boolean
  /** Aborts when the handler must stop. */
  readonly signal: AbortSignal
  /** Extends the claim by `claimMs`. Throws `FencedError` if it was lost, like `save`. */
  renew(): Promise<void>
  /** Stores the progress of the handler. */
  save(data: Json): Promise<void>
  /** Releases the claim, with the job to store, due in `dueMs` milliseconds. Without a job it is deleted. */
  end(job: StoredJob | undefined, dueMs?: number): Promise<void>
  /** Stops the handler, but keeps the claim. */
  stop(): void
  /** Records that the job was replaced or removed. */
  lose(): void
}

/** Claims a due job. Undefined if another process claimed it first. */
export async function claimJob({ store, claimMs, now }: ClaimContext, doc: Doc): Promise<Claim | undefined> {
  const { partition, id } = doc
  const stopped = new AbortController()
  let { version } = doc
  let job = doc.value as unknown as StoredJob

  async function commit(next: StoredJob | undefined, dueMs: number): Promise<void> {
    try {
      const { versions } = await store.commit(partition, {
        guards: [{ guard: 'version', collection: COLLECTION, id, version }],
        ops: [next ? putJob(id, next, now() + dueMs) : removeJobOp(id)],
      })
      if (next) job = next
      version = versions[0] ?? version
    } catch (error) {
      throw error instanceof ConflictError ? taken() : error
    }
  }

  const claimedAt = performance.now()
  try {
    await commit(job, claimMs)
  } catch (error) {
    if (error instanceof FencedError) return undefined
    throw error
  }
  const renew = () => commit(job, claimMs)
  const lease = holdLease({ ttlMs: claimMs, renew, claimedAt })
  const { signal, extend, lose, end } = lease
  return {
    partition,
    id,
    get job() {
      return job
    },
    get version() {
      return version
    },
    get isOver() {
      return signal.aborted
    },
    get isLost() {
      return lease.isLost
    },
    signal: AbortSignal.any([signal, stopped.signal]),
    renew: () => extend(renew),
    save: (data) => extend(() => commit({ kind: job.kind, data, failures: 0 }, claimMs)),
    end: (next, dueMs = claimMs) => extend(() => commit(next, dueMs)).finally(end),
    stop: () => stopped.abort(taken()),
    lose,
  }
}

const taken = () => new FencedError('The handler lost the lease of the job.')
