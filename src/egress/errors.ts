import { AgentwireError } from '../errors.ts'

/** Whether another try of the same delivery may succeed. */
const RETRYABLE = {
  /** It is no `http:` or `https:` URL without credentials, or a header is malformed. */
  invalid_request: false,
  /** It leads elsewhere than to the public internet. */
  address_refused: false,
  /** The receiver answered with a redirect, which is never followed. */
  redirected: false,
  /** The receiver answered 4xx. */
  rejected: false,
  /** The answer is longer than may be read. */
  too_large: false,
  /** The receiver answered 408, 425, 429 or 5xx. */
  failed: true,
  /** The name was not resolved, or the connection was refused, cut, or is not to be trusted. */
  unreachable: true,
  /** The receiver did not answer in time. */
  timeout: true,
  /** The signal of the request fired. */
  aborted: true,
} as const

export type DeliveryErrorCode = keyof typeof RETRYABLE

/**
 * A request that was not delivered. The message names neither the URL nor anything of the request or of the
 * answer but its status, so that it can be logged and shown.
 */
export class DeliveryError extends AgentwireError {
  static override readonly brand = 'DeliveryError'
  declare readonly code: DeliveryErrorCode
  /** Whether another try may succeed. */
  readonly retryable: boolean
  /** The status of the answer, where there was one. */
  readonly status: number | undefined
  /** What the receiver's `Retry-After` asks for, in milliseconds. */
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
