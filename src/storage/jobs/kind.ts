import type { Deliver, DeliveryRequest } from '../../core/egress/delivery.ts'
import { DeliveryError } from '../../core/egress/errors.ts'
import type { AgentwireError } from '../../core/errors.ts'
import { backoff } from '../../core/time.ts'
import type { Json } from '../store/store.ts'
import type { Job } from './job.ts'

/** How a process handles the jobs of one kind. */
export interface JobKind {
  readonly handle: JobHandler
  readonly retry: RetryRule
  /** Sends the requests of the handler. Absent for a kind that delivers nothing. */
  readonly deliver?: Deliver | undefined
  /** The subject of a delivery. If present, each job that is given up is observed as a failed delivery. */
  readonly originOf?: ((job: Job) => JobOrigin) | undefined
}

export type JobKinds = Readonly<Record<string, JobKind>>

export interface JobOrigin {
  readonly threadId: string
  readonly runId: string | undefined
}

/**
 * Does a job. When it returns, the job is done and deleted. If it throws, the job has failed: the handler is
 * called again later, with the retry rule of the kind and the data of the last `save`. A `DeliveryError` that
 * is not `retryable` ends the job, unless the handler catches it and continues.
 *
 * The handler is called again after each loss of its process, so deliveries since the last `save` may be
 * repeated. It may wait for hours.
 */
export type JobHandler = (job: Job, tools: JobTools) => Promise<void>

export interface JobTools {
  /**
   * Posts a request while the job is held, when a slot is free. Throws `DeliveryError`, and `FencedError` if
   * the handler lost the job.
   */
  deliver(request: Omit<DeliveryRequest, 'signal'>): Promise<{ readonly status: number }>
  /**
   * Stores the data for the next call, and resets the count of failures. Throws `FencedError` if the handler
   * lost the job.
   */
  save(data: Json): Promise<void>
  /** Reports a permanent rejection after which the handler continues. */
  skip(error: DeliveryError): void
  /**
   * Aborts when the handler must stop: the job was removed or lost, or the process is closing. If the handler
   * returns after that, the job is not done.
   */
  readonly signal: AbortSignal
}

/** A delivery or job that failed and is not retried. */
export interface Undelivered {
  readonly job: Job
  readonly kind: string
  /** The receiver's host, if a request was to be sent. */
  readonly host: string | undefined
  /** The number of attempts. */
  readonly failures: number
  /** Its cause is the last failure. For logs, never for clients. */
  readonly error: AgentwireError
}

/** Called with failures that no caller sees and that are not the receiver's fault. It must not throw. */
export type JobReporter = (error: unknown, job?: Job, kind?: JobKind) => void

/** When a failed job is retried, and when it is given up. All times are in milliseconds. */
interface RetryRule {
  /**
   * The delay after the first failure. It doubles with each further failure, minus a random part: see
   * `backoff`.
   */
  readonly firstMs: number
  /** The maximum delay, including a delay that a receiver requests. */
  readonly maxMs: number
  /** How long a job may fail without a `save` before it is given up. */
  readonly giveUpAfterMs: number
}

/** The rule of webhooks, pushes and crons. docs/operating.md describes it. */
export const RETRY_FOR_A_DAY: RetryRule = { firstMs: 1_000, maxMs: 300_000, giveUpAfterMs: 86_400_000 }

/**
 * The delay before the next attempt of a job. Undefined if there is none, because it failed for too long or
 * its receiver rejected it permanently.
 *
 * @param failures The number of earlier failures.
 *
 * @param failingMs The time since the first failure.
 */
export function nextDelay(
  { firstMs, maxMs, giveUpAfterMs }: RetryRule,
  {
    error,
    failures,
    failingMs,
  }: { readonly error: unknown; readonly failures: number; readonly failingMs: number },
): number | undefined {
  const refusal = error instanceof DeliveryError ? error : undefined
  if (failingMs >= giveUpAfterMs || refusal?.retryable === false) return undefined
  return Math.min(Math.max(backoff(failures, firstMs, maxMs), refusal?.retryAfterMs ?? 0), maxMs)
}
