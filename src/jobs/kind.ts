import type { Deliver, DeliveryRequest } from '../egress/delivery.ts'
import type { DeliveryError } from '../egress/errors.ts'
import type { AgentwireError } from '../errors.ts'
import type { Json } from '../storage/store/store.ts'
import type { Job } from './job.ts'
import type { RetryRule } from './retry-rule.ts'

/** What a process does with the jobs of one kind. */
export interface JobKind {
  readonly handle: JobHandler
  readonly retry: RetryRule
  /** Sends the requests of the handler. Without it the kind delivers nothing. */
  readonly deliver?: Deliver | undefined
  /**
   * What a delivery is about. Where it is given, each job that is given up is observed as a failed delivery.
   */
  readonly originOf?: ((job: Job) => JobOrigin) | undefined
}

export type JobKinds = Readonly<Record<string, JobKind>>

export interface JobOrigin {
  readonly threadId: string
  readonly runId: string | undefined
}

/**
 * Does a job. Once it returns, the job is done and deleted. When it throws, the job has failed: the handler
 * is called again later, by the retry rule of the kind and with the data that was saved last. A
 * `DeliveryError` that is not `retryable` ends the job, unless the handler catches it and continues.
 *
 * It may be called again after each loss of its process, so what it delivered since the last `save` may be
 * delivered twice. It may wait for hours.
 */
export type JobHandler = (job: Job, tools: JobTools) => Promise<void>

export interface JobTools {
  /**
   * Posts a request while the job is held, when a slot is free. Throws `DeliveryError`, and `FencedError`
   * when the job was taken from the handler.
   */
  deliver(request: Omit<DeliveryRequest, 'signal'>): Promise<{ readonly status: number }>
  /**
   * Stores what the next call begins with, and ends the count of failures. Throws `FencedError` when the job
   * was taken from the handler.
   */
  save(data: Json): Promise<void>
  /** Reports a refusal for good after which the handler continues. */
  skip(error: DeliveryError): void
  /**
   * Aborts when the handler has to stop: the job was removed or lost, or the process closes. A job whose
   * handler returns after that is not done.
   */
  readonly signal: AbortSignal
}

/** Something that was not delivered, and is not tried any more. */
export interface Undelivered {
  readonly job: Job
  readonly kind: string
  /** The receiver's host, where a request was to be sent. */
  readonly host: string | undefined
  /** How often it was tried. */
  readonly failures: number
  /** Its cause is the last failure. For logs, never for clients. */
  readonly error: AgentwireError
}

/** Called with failures that no caller sees and that are not the receiver's. It must not throw. */
export type JobReporter = (error: unknown, job?: Job, kind?: JobKind) => void
