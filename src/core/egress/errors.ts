import { AgentwireError } from '../errors.ts'

/** Whether repeating the same delivery may succeed. */
const RETRYABLE = {
  /** Not an `http:` or `https:` URL without credentials, or a malformed header. */
  invalid_request: false,
  /** The URL does not lead to the public internet. */
  address_refused: false,
  /** The receiver responded with a redirect, which is never followed. */
  redirected: false,
  /** The receiver responded with 4xx. */
  rejected: false,
  /** The response exceeds the limit. */
  too_large: false,
  /** The receiver responded with 408, 425, 429 or 5xx. */
  failed: true,
  /** The name was not resolved, or the connection was refused, lost, or not trusted. */
  unreachable: true,
  /** The receiver did not respond in time. */
  timeout: true,
  /** The signal of the request fired. */
  aborted: true,
} as const

export type DeliveryErrorCode = keyof typeof RETRYABLE

/**
 * A request that was not delivered. The message contains neither the URL nor any part of the request or
 * response except the status, so that it can be logged and shown.
 */
export class DeliveryError extends AgentwireError {
  static override readonly brand = 'DeliveryError'
  declare readonly code: DeliveryErrorCode
  /** Whether repeating the request may succeed. */
  readonly retryable: boolean
  /** The status of the response, if there was one. */
  readonly status: number | undefined
  /** The receiver's `Retry-After`, in milliseconds. */
  readonly retryAfterMs: number | undefined

  constructor(
    code: DeliveryErrorCode,
    message: string,
    answer: { readonly status?: number; readonly retryAfterMs?: number | undefined } = {},
  ) {
    super(code, message)
    this.retryable = RETRYABLE[code]
    this.status = answer.status
    this.retryAfterMs = answer.retryAfterMs
  }
}
