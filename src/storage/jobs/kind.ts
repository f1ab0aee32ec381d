import type { Deliver, DeliveryRequest } from '../../core/egress/delivery.ts'
import type { DeliveryError } from '../../core/egress/errors.ts'
import type { AgentwireError } from '../../core/errors.ts'
import type { Json } from '../store/store.ts'
import type { Job } from './job.ts'
import type { RetryRule } from './retry-rule.ts'

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
