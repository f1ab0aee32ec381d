import { HttpError } from '../../src/core/http/errors.ts'
import { bodyStream } from './body.ts'
import type { Client } from './client.ts'
import { type Forwarded, header, requestUrl } from './target.ts'
import type { NodeRequest } from './types.ts'

export interface Incoming {
  readonly request: Request
  /** The body as an earlier body parser left it. */
  readonly parsedBody: unknown
}

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'

/** Throws `HttpError` if no Web `Request` can be built: 400 for an invalid target or host, 405 for TRACE. */
export function toRequest(req: NodeRequest, forwarded: Forwarded | undefined, client: Client): Incoming {
  const url = requestUrl(req, forwarded)
  if (url === undefined) {
    throw new HttpError(400, 'invalid_target', 'The request target or the Host header is not valid.')
  }
  const method = req.method ?? 'GET'
  if (/^(?:TRACE|TRACK|CONNECT)$/i.test(method)) {
    throw new HttpError(405, 'method_not_allowed', 'This method is not supported.', {
      headers: { allow: METHODS },
    })
  }
  // A body parser may set `body` without reading the stream, for example for an unknown content type.
  const parsed = req.readableEnded && req.body !== undefined ? { value: req.body } : undefined
  const init: RequestInit & { duplex?: 'half' } = { method, headers: toHeaders(req, parsed !== undefined) }
  if (method !== 'GET' && method !== 'HEAD') {
    init.body = parsed ? serialized(parsed.value, header(req, 'content-type')) : bodyStream(req)
    init.duplex = 'half'
  }
  const request = new Request(url, init)
  // Node 20 loses the signal of a collected `Request` (nodejs/node#55428). This one lives as long as the
  // exchange.
  Object.defineProperty(request, 'signal', { get: () => client.signal, configurable: true })
  return { request, parsedBody: isRaw(parsed?.value) ? undefined : parsed?.value }
}

function toHeaders(req: NodeRequest, parsed: boolean): Headers {
  const headers = new Headers()
  const raw = req.rawHeaders
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at]!
    if (name.startsWith(':')) continue
    const value = raw[at + 1]!
    // A request without a body has none, whatever a body parser returned.
    const isOfBody =
      parsed && value !== '0' && /^(?:content-length|content-encoding|transfer-encoding)$/i.test(name)
    if (!isOfBody) headers.append(name, value)
  }
  // HTTP/2 may split a cookie into several fields, which are joined with `; ` (RFC 9113 §8.2.3).
  const cookie = header(req, 'cookie')
  if (cookie) headers.set('cookie', cookie)
  return headers
}

/** Serializes a parsed body again, but only if the handler reads the body despite `parsedBody`. */
function serialized(value: unknown, contentType: string | undefined): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const bytes = isRaw(value) ? toBytes(value) : new TextEncoder().encode(text(value, contentType))
        if (bytes.byteLength > 0) controller.enqueue(bytes)
        controller.close()
      },
    },
    { highWaterMark: 0 },
  )
}

function text(value: unknown, contentType: string | undefined): string {
  if (
    contentType?.startsWith('application/x-www-form-urlencoded') &&
    typeof value === 'object' &&
    value !== null
  ) {
    const pairs = Object.entries(value).flatMap(([name, of]) => [of].flat().map((one) => [name, String(one)]))
    return new URLSearchParams(pairs).toString()
  }
  return JSON.stringify(value)
}

/** `express.text()` and `express.raw()` leave the body unparsed. */
function isRaw(value: unknown): value is string | Uint8Array {
  return typeof value === 'string' || value instanceof Uint8Array
}

function toBytes(value: string | Uint8Array): Uint8Array {
  return typeof value === 'string' ? new TextEncoder().encode(value) : value
}
