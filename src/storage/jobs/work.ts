import type { Deliver } from '../../core/egress/delivery.ts'
import { DeliveryError } from '../../core/egress/errors.ts'
import { AgentwireError } from '../../core/errors.ts'
import { nextTurn } from '../../core/time.ts'
import { holdLease } from '../coordination/hold-lease.ts'
import type { KeyedSemaphore } from '../coordination/keyed-semaphore.ts'
import { ConflictError, FencedError } from '../errors.ts'
import type { Doc, Json, Store } from '../store/store.ts'
import { COLLECTION, type Job, putJob, removeJobOp, type StoredJob } from './job.ts'
import { type JobKind, type JobReporter, type JobTools, nextDelay, type Undelivered } from './kind.ts'

export interface WorkContext {
  readonly kinds: ReadonlyMap<string, JobKind>
  /** By host. */
  readonly slots: KeyedSemaphore<string>
  readonly report: JobReporter
  readonly onUndelivered: (undelivered: Undelivered, kind: JobKind) => void
  readonly now: () => number
  /** Whether the runner is closing, after which no delivery starts. */
  readonly isClosing: () => boolean
  /** Makes the runner search for the job again in `ms` milliseconds. */
  readonly lookIn: (ms: number) => void
}

export interface Work {
  readonly claim: Claim
  /** Settles when the handler has stopped and the claim is over. Never rejects. */
  readonly done: Promise<void>
  /** Stops the handler when it is neither delivering nor saving, if it has not returned. */
  stopWhenIdle(): Promise<void>
  /** Releases the job of a handler that does not stop, so that others can continue it. Never rejects. */
  giveBack(): Promise<void>
}

/** A handler that runs. */
interface Handling {
  readonly context: WorkContext
  readonly claim: Claim
  readonly kind: JobKind
  /** The number of deliveries and saves under way. */
  busy: number
  /** The receiver of the last delivery. */
  host: string | undefined
}

/** Runs the handler of a claimed job. */
export function startWork(context: WorkContext, claim: Claim): Work {
  const kind = context.kinds.get(claim.job.kind)!
  const handling: Handling = { context, claim, kind, busy: 0, host: undefined }

  /**
   * Reports the error if a claim could not be ended. The job stays, and is due when the claim has expired.
   */
  async function untilOver(end: () => Promise<void>): Promise<void> {
    try {
      await end()
    } catch (error) {
      if (!(error instanceof FencedError)) context.report(error, jobOf(claim), kind)
    }
  }

  return {
    claim,
    done: untilOver(() => work(handling)),
    stopWhenIdle: () => stopWhenIdle(handling),
    giveBack: () => untilOver(() => claim.end(claim.job, 0)),
  }
}

const jobOf = ({ partition, id, job }: Claim): Job => ({ partition, id, data: job.data })

async function work(handling: Handling): Promise<void> {
  const { claim, kind } = handling
  const failure = await failureOf(() => kind.handle(jobOf(claim), toolsOf(handling)))
  if (claim.isOver) return
  if (claim.signal.aborted) await claim.end(claim.job, 0)
  else if (failure) await fail(handling, failure.error)
  else await claim.end(undefined)
}

function toolsOf(handling: Handling): JobTools {
  const { context, claim, kind } = handling
  return {
    signal: claim.signal,
    save: (data) => during(handling, () => claim.save(data)),
    skip(error) {
      const message = `A delivery of kind ${claim.job.kind} was permanently rejected.`
      giveUp(handling, 'delivery_refused', message, error)
    },
    async deliver(request) {
      if (context.isClosing()) claim.stop()
      const host = hostOf(request.url)
      handling.host = host
      const release = await context.slots.acquire(host, claim.signal)
      try {
        return await during(handling, async () => {
          // The claim then lasts longer than the delivery, and a removed job is not delivered.
          await claim.renew()
          return delivererOf(kind)({ ...request, signal: claim.signal })
        })
      } finally {
        release()
      }
    },
  }
}

async function stopWhenIdle(handling: Handling): Promise<void> {
  // A handler that finished a delivery may save or return in this turn.
  await nextTurn()
  if (handling.busy === 0) handling.claim.stop()
}

async function during<T>(handling: Handling, step: () => Promise<T>): Promise<T> {
  handling.busy++
  try {
    return await step()
  } finally {
    handling.busy--
    if (handling.context.isClosing()) void stopWhenIdle(handling)
  }
}

function giveUp({ context, claim, kind, host }: Handling, code: string, message: string, cause: unknown) {
  const failures = claim.job.failures + 1
  const error = new AgentwireError(code, message, { cause })
  context.onUndelivered({ job: jobOf(claim), kind: claim.job.kind, host, failures, error }, kind)
}

/** Stores the failure and the time of the next attempt, or gives the job up. */
async function fail(handling: Handling, error: unknown): Promise<void> {
  const { claim, kind, context } = handling
  const { job } = claim
  const failures = job.failures + 1
  const failingSince = job.failingSince ?? context.now()
  const failingMs = context.now() - failingSince
  const delay = nextDelay(kind.retry, { error, failures: job.failures, failingMs })
  if (delay === undefined) {
    await claim.end(undefined)
    const message = `Gave up on a job of kind ${job.kind} after ${failures} failures in ${Math.round(failingMs / 1_000)} seconds.`
    giveUp(handling, 'job_given_up', message, error)
    return
  }
  if (!(error instanceof DeliveryError)) context.report(error, jobOf(claim), kind)
  await claim.end({ ...job, failures, failingSince }, delay)
  context.lookIn(delay)
}

async function failureOf(attempt: () => Promise<void>): Promise<{ readonly error: unknown } | undefined> {
  try {
    await attempt()
    return undefined
  } catch (error) {
    return { error }
  }
}

function delivererOf({ deliver }: JobKind): Deliver {
  if (deliver) return deliver
  throw new TypeError('Jobs of this kind do not deliver anything.')
}

/** The receivers that share slots. */
const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : url)

interface ClaimContext {
  readonly store: Store
  /** How long a claim lasts unless it is renewed, in milliseconds. */
  readonly claimMs: number
  /** The store's clock. */
  readonly now: () => number
}

/** A job that only this process may work on. Each write is guarded by the version of the previous one. */
interface Claim {
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
