import { AgentwireError } from '../errors.ts'
import { json } from './respond.ts'

export interface HttpErrorOptions {
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** For the log only: it never reaches a response. */
  readonly cause?: unknown
}

/** A request that ends with this status. `code` and `message` are sent to the client: put no secret and no cause in them. */
export class HttpError extends AgentwireError {
  static override readonly brand = 'HttpError'
  readonly status: number
  readonly headers: Readonly<Record<string, string>> | undefined

  constructor(status: number, code: string, message: string, options: HttpErrorOptions = {}) {
    super(code, message, 'cause' in options ? { cause: options.cause } : undefined)
    this.status = status
    this.headers = options.headers
  }
}

export interface ErrorInfo {
  /** The `id` of the response body, by which a client's report leads to the logged error. */
  readonly id: string
}

/** Called with every error that is the server's fault. It cannot change the response, and what it throws is ignored. */
export type OnError = (error: unknown, info: ErrorInfo) => unknown

/**
 * The response for an error, `{ "error": code, "message": … }`: an `HttpError` with its own status, an unavailable storage as
 * 503 with `Retry-After`, anything else as 500 `internal_error` without details. From status 500 up the body also has an `id`,
 * and `onError` gets the error with the same id.
 */
export function errorResponse(error: unknown, onError?: OnError): Response {
  const { status, code, message, headers } = toHttpError(error)
  const body = { error: code, message }
  return json(status < 500 ? body : { ...body, id: reportError(error, onError) }, { status, headers })
}

/** Passes an error to `onError` with a new id and returns the id. Never throws. */
export function reportError(error: unknown, onError: OnError | undefined): string {
  const id = crypto.randomUUID()
  const report = async () => onError?.(error, { id })
  report().catch(() => {}) // There is nowhere to report a failing reporter.
  return id
}

/** The part of any error that a client may see. */
export function toHttpError(error: unknown): HttpError {
  if (error instanceof HttpError) return error
  if (!isUnavailable(error)) {
    return new HttpError(500, 'internal_error', 'The server failed to answer this request.', { cause: error })
  }
  const headers = { 'retry-after': String(Math.ceil(error.retryAfterMs / 1_000)) }
  return new HttpError(503, 'unavailable', 'The storage is not available. Try again later.', {
    headers,
    cause: error,
  })
}

// Checked by shape, because this folder must not import the storage's errors.
function isUnavailable(error: unknown): error is { readonly retryAfterMs: number } {
  if (!(error instanceof AgentwireError) || error.code !== 'unavailable') return false
  return typeof (error as { readonly retryAfterMs?: unknown }).retryAfterMs === 'number'
}
