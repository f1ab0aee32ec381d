import { AgentwireError } from '../errors.ts'
import type { KeyedSemaphore } from '../storage/coordination/keyed-semaphore.ts'
import { FencedError } from '../storage/errors.ts'
import type { Json } from '../storage/store/store.ts'
import { backoff, nextTurn } from '../time.ts'
import type { Claim } from './claim.ts'
import type { Deliver, DeliveryRequest } from './delivery/delivery.ts'
import { DeliveryError } from './delivery/errors.ts'
import type { OutboxJob } from './job.ts'

/**
 * Delivers what a job is about, in order. Returning means that the job is done: it is deleted. What it throws makes the job fail: it is
 * called again after a while, with the data that was saved last; a `DeliveryError` that is not `retryable` ends the job, unless
 * the handler catches it and goes on.
 *
 * It may be called again after every loss of its process, so what was delivered since the last `save` may be delivered twice. It may
 * wait for hours.
 */
export type OutboxHandler = (job: OutboxJob, tools: OutboxTools) => Promise<void>

export interface OutboxTools {
  /** Posts while the job is held, when a slot is free. Throws `DeliveryError`, and `FencedError` when the job was taken from the handler. */
  deliver(request: Omit<DeliveryRequest, 'signal'>): Promise<{ readonly status: number }>
  /** Stores what the next call begins with, and ends the count of failures. Throws `FencedError` when the job was taken from the handler. */
  save(data: Json): Promise<void>
  /** Tells that something was refused for good, where the handler goes on without it. */
  skip(error: DeliveryError): void
  /** Aborts when the handler has to stop: the job was removed or lost, or the process closes. What it returns then counts as not done. */
  readonly signal: AbortSignal
}

export interface OutboxTimes {
  /** How long a process that stopped responding keeps its jobs, in milliseconds. Default 15,000. */
  readonly claimMs: number
  /** How long a job waits after its first failure, in milliseconds; twice as long after each further one. Default 1,000. */
  readonly retryMs: number
  /** The longest such wait. Default 300,000. */
  readonly maxRetryMs: number
  /** How long a job may fail without a `save`, in milliseconds, before it is given up. Default 86,400,000, a day. */
  readonly giveUpMs: number
  /** How long deliveries may go on after `close()`, in milliseconds. Default 5,000. */
  readonly drainMs: number
}

/** Called with failures that no caller sees and that are not the receiver's. It must not throw. */
export type OutboxReporter = (error: unknown, job?: OutboxJob) => void

/** What was not delivered, and is not tried any more. */
export interface Undelivered {
  readonly job: OutboxJob
  readonly kind: string
  /** The receiver's host, where a request was to be sent. */
  readonly host: string | undefined
  /** How often it was tried. */
  readonly failures: number
  /** With what failed last as its cause. For logs, never for clients. */
  readonly error: AgentwireError
}

export interface WorkContext {
  readonly handlers: Readonly<Record<string, OutboxHandler>>
  readonly deliver: Deliver
  /** By host. */
  readonly slots: KeyedSemaphore<string>
  readonly times: OutboxTimes
  readonly report: OutboxReporter
  /** Told of each thing that is given up. It must not throw. */
  readonly onUndelivered: (undelivered: Undelivered) => void
  readonly now: () => number
  /** Whether the outbox closes: no delivery begins any more. */
  readonly isClosing: () => boolean
  /** Has the outbox look for the job again in so many milliseconds. */
  readonly lookIn: (ms: number) => void
}

export interface Work {
  readonly claim: Claim
  /** Settles when the handler has stopped and the claim is over. Never rejects. */
  readonly done: Promise<void>
  /** Stops the handler as soon as it neither delivers nor saves, and has not returned. */
  stopWhenIdle(): Promise<void>
  /** Takes the job from a handler that does not stop, so that others can go on with it. Never rejects. */
  giveBack(): Promise<void>
}

/** Has a claimed job's handler work on it. */
export function startWork(context: WorkContext, claim: Claim): Work {
  const { deliver, slots, isClosing } = context
  let busy = 0
  let host: string | undefined
  const giveUp: GiveUp = (code, message, cause, failures) => {
    const { partition, id, job } = claim
    const error = new AgentwireError(code, message, { cause })
    context.onUndelivered({ job: { partition, id, data: job.data }, kind: job.kind, host, failures, error })
  }

  async function stopWhenIdle(): Promise<void> {
    // A handler that has delivered may save or return in this turn.
    await nextTurn()
    if (busy === 0) claim.stop()
  }

  async function during<T>(step: () => Promise<T>): Promise<T> {
    busy++
    try {
      return await step()
    } finally {
      busy--
      if (isClosing()) void stopWhenIdle()
    }
  }

  const tools: OutboxTools = {
    signal: claim.signal,
    save: (data) => during(() => claim.save(data)),
    skip(error) {
      giveUp(
        'delivery_refused',
        `A delivery of kind ${claim.job.kind} was refused for good.`,
        error,
        claim.job.failures + 1,
      )
    },
    async deliver(request) {
      if (isClosing()) claim.stop()
      host = hostOf(request.url)
      const release = await slots.acquire(host, claim.signal)
      try {
        return await during(async () => {
          // The claim then lasts longer than the delivery, and a job that was removed is not delivered.
          await claim.renew()
          return deliver({ ...request, signal: claim.signal })
        })
      } finally {
        release()
      }
    },
  }
  return {
    claim,
    done: untilOver(context, claim, () => work(context, claim, tools, giveUp)),
    stopWhenIdle,
    giveBack: () => untilOver(context, claim, () => claim.end(claim.job, 0)),
  }
}

/** Reports why a claim could not be ended. The job stays, and is due when the claim has expired. */
async function untilOver(
  { report }: WorkContext,
  { partition, id, job: { data } }: Claim,
  end: () => Promise<void>,
): Promise<void> {
  try {
    await end()
  } catch (error) {
    if (!(error instanceof FencedError)) report(error, { partition, id, data })
  }
}

type GiveUp = (code: string, message: string, cause: unknown, failures: number) => void

async function work(context: WorkContext, claim: Claim, tools: OutboxTools, giveUp: GiveUp): Promise<void> {
  const { partition, id, job, signal } = claim
  const handler = context.handlers[job.kind]!
  const failure = await failureOf(() => handler({ partition, id, data: job.data }, tools))
  if (claim.isOver) return
  if (signal.aborted) await claim.end(claim.job, 0)
  else if (failure) await fail(context, claim, failure.error, giveUp)
  else await claim.end(undefined)
}

async function failureOf(attempt: () => Promise<void>): Promise<{ readonly error: unknown } | undefined> {
  try {
    await attempt()
    return undefined
  } catch (error) {
    return { error }
  }
}

/** Stores that a job has failed, and when it is due again; or gives it up. */
async function fail(
  { times, report, now, lookIn }: WorkContext,
  claim: Claim,
  error: unknown,
  giveUp: GiveUp,
): Promise<void> {
  const { partition, id, job } = claim
  const isReceivers = error instanceof DeliveryError
  const failingSince = job.failingSince ?? now()
  const failingMs = now() - failingSince
  if (failingMs >= times.giveUpMs || (isReceivers && !error.retryable)) {
    await claim.end(undefined)
    const message = `A job of kind ${job.kind} was given up, after ${job.failures + 1} failures in ${Math.round(failingMs / 1_000)} seconds.`
    giveUp('job_given_up', message, error, job.failures + 1)
    return
  }
  if (!isReceivers) report(error, { partition, id, data: job.data })
  const asked = (isReceivers && error.retryAfterMs) || 0
  const delay = backoff(job.failures, times.retryMs, times.maxRetryMs)
  const waitMs = Math.min(Math.max(delay, asked), times.maxRetryMs)
  await claim.end({ ...job, failures: job.failures + 1, failingSince }, waitMs)
  lookIn(waitMs)
}

/** The receivers that share slots. */
const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : url)
