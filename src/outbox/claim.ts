import { ConflictError, FencedError } from '../storage/errors.ts'
import type { Doc, Json, Store } from '../storage/store/store.ts'
import { COLLECTION, putJob, removeJobOp, type StoredJob } from './job.ts'

export interface ClaimContext {
  readonly store: Store
  /** How long a claim lasts that is not renewed, in milliseconds. */
  readonly claimMs: number
  /** The store's clock. */
  readonly now: () => number
}

/** A job that only this process may work on. Each write is guarded by the version of the one before. */
export interface Claim {
  readonly partition: string
  readonly id: string
  readonly job: StoredJob
  readonly version: number
  /** Whether the claim was lost or ended: nothing is written any more. */
  readonly isOver: boolean
  /** Whether the job was replaced, removed or claimed by another process. */
  readonly isLost: boolean
  /** Aborts when the handler has to stop. */
  readonly signal: AbortSignal
  /** Makes the claim last for another `claimMs`. Throws `FencedError` where it was lost, as `save` does. */
  renew(): Promise<void>
  /** Stores what the handler has come to. */
  save(data: Json): Promise<void>
  /** Gives the claim back, with the job as it is to be stored, due in so many milliseconds. Without a job it is deleted. */
  end(job: StoredJob | undefined, dueMs?: number): Promise<void>
  /** Makes the handler stop, while the claim is kept. */
  stop(): void
  /** Tells that the job was replaced or removed. */
  lose(): void
}

/** Claims a due job. Undefined where another process was first. */
export async function claimJob({ store, claimMs, now }: ClaimContext, doc: Doc): Promise<Claim | undefined> {
  const { partition, id } = doc
  const stopped = new AbortController()
  let { version } = doc
  let job = doc.value as unknown as StoredJob
  let heldUntil = 0
  let isOver = false
  let isLost = false
  let timer: ReturnType<typeof setTimeout> | undefined
  let last: Promise<unknown> = Promise.resolve()

  const stop = () => stopped.abort(new FencedError('The job was taken from its handler.'))
  const over = () => {
    isOver = true
    clearTimeout(timer)
    stop()
  }
  const lose = () => {
    isLost ||= !isOver
    over()
  }

  async function commit(next: StoredJob | undefined, dueMs: number): Promise<void> {
    const startedAt = performance.now()
    const { versions } = await store.commit(partition, {
      guards: [{ guard: 'version', collection: COLLECTION, id, version }],
      ops: [next ? putJob(id, next, now() + dueMs) : removeJobOp(id)],
    })
    if (next) job = next
    version = versions[0] ?? version
    heldUntil = startedAt + claimMs
  }

  /** Writes what `change` makes of the job, after all writes before. */
  function write(change: (job: StoredJob) => StoredJob | undefined, dueMs = claimMs): Promise<void> {
    const written = last.then(async () => {
      if (isOver) throw new FencedError('The job was taken from its handler.')
      try {
        await commit(change(job), dueMs)
        renewLater()
      } catch (error) {
        // While the store is away, another process may have taken it as soon as the claim has expired.
        if (error instanceof ConflictError || performance.now() >= heldUntil) lose()
        throw error instanceof ConflictError ? stopped.signal.reason : error
      }
    })
    last = written.catch(() => {})
    return written
  }

  const renew = () => write((job) => job)

  function renewLater(): void {
    clearTimeout(timer)
    timer = setTimeout(
      () => {
        renew().catch(() => {
          if (!isOver) renewLater()
        })
      },
      (claimMs / 3) * (0.75 + Math.random() / 2),
    )
    ;(timer as { unref?: () => void }).unref?.()
  }

  try {
    await commit(job, claimMs)
  } catch (error) {
    if (error instanceof ConflictError) return undefined
    throw error
  }
  renewLater()
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
      return isOver
    },
    get isLost() {
      return isLost
    },
    signal: stopped.signal,
    renew,
    save: (data) => write(({ kind }) => ({ kind, data, failures: 0 })),
    end: (next, dueMs) => write(() => next, dueMs).finally(over),
    stop,
    lose,
  }
}
