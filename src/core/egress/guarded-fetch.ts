import { concatBytes } from '../bytes.ts'
import { readAllowed } from './address.ts'
import { DeliveryError } from './errors.ts'
import type { createRequester, DeliveryOptions } from './requests.ts'

/** The options of a request. The body is text or a form. */
export interface GuardedFetchInit {
  readonly method?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly body?: string | URLSearchParams | undefined
  readonly signal?: AbortSignal | undefined
}

/** Like `fetch`, for GET and POST. */
export type GuardedFetch = (url: string, init?: GuardedFetchInit) => Promise<Response>

/**
 * A `fetch` for URLs that others chose. It uses `createRequester`, which is loaded on the first request. The
 * response was read completely, and its content type is its only header; a redirect is returned like any
 * other response. Rejects with `DeliveryError`: `too_large` if the body is longer than `maxResponseBytes`.
 */
export function createGuardedFetch(options: DeliveryOptions = {}): GuardedFetch {
  readAllowed(options.allow) // Throws immediately for an invalid entry.
  let send: ReturnType<typeof createRequester> | undefined
  return async (url, { method = 'GET', headers, body = '', signal } = {}) => {
    if (method !== 'GET' && method !== 'POST')
      throw new DeliveryError('invalid_request', 'Only GET and POST requests are sent.')
    send ??= (await import('./requests.ts')).createRequester(options)
    const answer = await send({ url, method, headers, body: String(body), keepsBody: true, signal })
    const { status, contentType, ending } = answer
    // Runtimes that hide the status of a redirect return 0.
    if (status < 200 || status > 599)
      throw new DeliveryError('redirected', 'The receiver responded with a redirect, which is not followed.')
    if (ending === 'too_large') throw new DeliveryError(ending, 'The response is too long.', { status })
    if (ending === 'broken') throw new DeliveryError('unreachable', 'The response was cut off.', { status })
    const content = [204, 205, 304].includes(status) ? null : concatBytes(answer.body).slice()
    return new Response(content, { status, headers: contentType ? { 'content-type': contentType } : {} })
  }
}
