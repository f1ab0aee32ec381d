import { AgentwireError } from '../errors.ts'
import { json, knownBody } from './respond.ts'

/** The optional fields of an `HttpError`. */
export interface HttpErrorOptions {
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** For logs only: it is never sent in a response. */
  readonly cause?: unknown
}

/**
 * Ends a request with this status. Clients see `code` and `message`, so do not put secrets or causes in them.
 */
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

/** The location of an error, as far as it is known. */
export interface ErrorOrigin {
  readonly threadId?: string | undefined
  readonly runId?: string | undefined
  /** The `x-request-id` header of the request, set by a proxy or the client. */
  readonly requestId?: string | undefined
}

/** The error id and location of an error, for `onError`. */
export interface ErrorInfo extends ErrorOrigin {
  /** The error id that was sent to the client, to find the logged error. */
  readonly id: string
}

/**
 * Called with every error that is the server's fault, and with every failed run. It cannot change the
 * response. Errors that it throws or rejects with are ignored.
 */
export type OnError = (error: unknown, info: ErrorInfo) => unknown

/**
 * The response for an error, `{ "error": code, "message": … }`: an `HttpError` with its own status,
 * unavailable storage as 503 with `Retry-After`, anything else as 500 `internal_error` without details. From
 * status 500 the body also has an `id`, and `onError` gets the error with the same id.
 */
export function errorResponse(error: unknown, onError?: OnError, origin?: ErrorOrigin): Response {
  const { status, code, message, headers } = toHttpError(error)
  const body = { error: code, message }
  return json(status < 500 ? body : { ...body, id: reportError(error, onError, origin) }, { status, headers })
}

/** Whether a client accepts text but not JSON. */
export function wantsText(request: Request): boolean {
  const accept = request.headers.get('accept') ?? ''
  return /\btext\/plain\b/i.test(accept) && !/\*\/\*|\bapplication\/(\*|json\b)/i.test(accept)
}

/** An error in the format of LangGraph's own server: the plain message, with the error id if there is one. */
export function asText(response: Response): Response {
  const body = knownBody(response)
  const { message, id } = typeof body === 'string' ? JSON.parse(body) : {}
  if (typeof message !== 'string') return response
  const { status, headers: given } = response
  const headers = new Headers(given)
  headers.delete('content-length')
  headers.set('content-type', 'text/plain; charset=utf-8')
  return new Response(id === undefined ? message : `${message} Error id: ${id}`, { status, headers })
}

/** Passes an error to `onError` with a new id and returns the id. Never throws. */
export function reportError(error: unknown, onError: OnError | undefined, origin?: ErrorOrigin): string {
  const id = crypto.randomUUID()
  callReporter(() => onError?.(error, { ...origin, id }))
  return id
}

/**
 * Calls an error reporter. Errors that it throws or rejects with are dropped, because there is nowhere to
 * report them.
 */
export function callReporter(call: () => unknown): void {
  const report = async () => call()
  report().catch(() => {})
}

/** The location of an error in this request. Other route parameters are ignored. */
export function originOf(request: Request, params: Readonly<Record<string, string>> = {}): ErrorOrigin {
  const requestId = request.headers.get('x-request-id')
  return {
    ...(params.thread_id !== undefined && { threadId: params.thread_id }),
    ...(params.run_id !== undefined && { runId: params.run_id }),
    ...(requestId !== null && { requestId }),
  }
}

/** The part of an error that a client may see. */
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
