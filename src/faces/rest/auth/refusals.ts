import { HttpError } from '../../../core/http/index.ts'

/** The content of an `HTTPException`, from any copy of the SDK. */
export interface Refusal {
  readonly status: number
  readonly message: string
  readonly headers: Headers
}

/** Undefined for any other error. */
export function refusalOf(error: unknown): Refusal | undefined {
  const { status, message, headers } = Object(error) as Partial<Record<keyof Refusal, unknown>>
  if (typeof status !== 'number' || headers === undefined) return undefined
  // Any other status is a response, not a rejection.
  if (!Number.isInteger(status) || status < 400 || status > 599) return undefined
  return {
    status,
    message: typeof message === 'string' ? message : '',
    headers: new Headers((headers ?? {}) as HeadersInit),
  }
}

/**
 * Calls a handler. Throws `HttpError` if the handler throws an `HTTPException`, and rethrows other errors.
 */
export async function refusing<T>(handler: () => T | Promise<T>): Promise<T> {
  try {
    return await handler()
  } catch (error) {
    const refusal = refusalOf(error)
    if (!refusal) throw error
    const { status, message, headers } = refusal
    throw new HttpError(status, CODES[status] ?? 'permission_denied', message || 'Not permitted.', {
      headers: Object.fromEntries(headers),
      cause: error,
    })
  }
}

const CODES: Readonly<Record<number, string>> = {
  401: 'unauthorized',
  404: 'not_found',
  409: 'conflict',
  429: 'too_many_requests',
}
