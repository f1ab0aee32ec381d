import type { IncomingMessage } from 'node:http'
import { errorResponse, HttpError, type OnError, reportError } from '../../src/core/http/errors.ts'
import { type SocketSession, socketOf } from '../../src/core/http/sockets/socket.ts'
import type { HandlerContext, WebHandler } from '../../src/core/http/types.ts'
import { checkHandler, checkOptions, type OptionTable } from '../../src/core/options.ts'
import { identifying, type PrincipalOf } from '../principal.ts'
import { bodyStream } from './body.ts'
import { type Client, watchClient } from './client.ts'
import { abortResponse, sendResponse } from './response.ts'
import { type Forwarded, forwardedHeaders, header, requestUrl } from './target.ts'
import type { NodeRequest, NodeResponse } from './types.ts'

export interface NodeOptions<Req = IncomingMessage> {
  /**
   * Says who sent a request, by your own session, instead of the server's `authenticate`. Null or undefined is
   * 401. Default: `authenticate` decides.
   */
  readonly principal?: PrincipalOf<Req> | undefined
  /** The path this handler is mounted at, such as `/agent`. Default: the handler's own. */
  readonly basePath?: string | undefined
  /**
   * Trust `x-forwarded-proto` and `x-forwarded-host`. Set it only behind a proxy that sets them. Default:
   * false.
   */
  readonly trustProxy?: boolean | undefined
  /** Called for errors that the handler does not answer. Default: `console.error`. */
  readonly onError?: OnError | undefined
}

export const NODE_OPTIONS: OptionTable<NodeOptions> = {
  principal: 'function',
  basePath: 'string',
  trustProxy: 'boolean',
  onError: 'function',
}

export type NodeListener = (req: NodeRequest, res: NodeResponse, next?: (error?: unknown) => void) => void

/**
 * A listener for `http.createServer`, `https`, `http2` and Connect. A path without a route goes to `next`;
 * without `next`, it gets the handler's 404.
 */
export function toNode<Req = IncomingMessage>(
  handler: WebHandler,
  options: NodeOptions<Req> = {},
): NodeListener {
  checkHandler('toNode', handler)
  checkOptions('toNode', options, NODE_OPTIONS)
  const { basePath, trustProxy = false, onError } = options
  const callerOf = identifying(handler, options.principal)
  return (req, res, next) => {
    answer(req, res, {
      authenticate: callerOf(req as Req),
      handle: next ? handler.handle : handler.fetch,
      basePath,
      forwarded: trustProxy ? forwardedHeaders(req) : undefined,
      onError,
      next,
    })
  }
}

export interface Exchange {
  readonly handle: (request: Request, context: HandlerContext) => Promise<Response | undefined>
  readonly authenticate: HandlerContext['authenticate']
  readonly bodyError?: HandlerContext['bodyError']
  readonly basePath: string | undefined
  readonly forwarded: Forwarded | undefined
  readonly onError: OnError | undefined
  /** Called for a request that `handle` has no response for. */
  readonly next?: (() => void) | undefined
  /** Called right before the response is written. */
  readonly takeOver?: (() => void) | undefined
  /** Switches to a web socket if the handler has accepted the handshake. */
  readonly upgrade?: ((session: SocketSession) => Promise<void>) | undefined
}

/** Answers one request. It never throws and leaves no rejected promise. */
export function answer(req: NodeRequest, res: NodeResponse, exchange: Exchange): void {
  const client = watchClient(req, res)
  const onError: OnError = exchange.onError ?? ((error, { id }) => console.error(id, error))
  const report = (error: unknown) => {
    // The handler itself reports an abort, by the client or by the handler, if it is a failure.
    if (!isAbort(error)) reportError(error, onError)
  }
  const send = (response: Response) => {
    if (!client.gone) exchange.takeOver?.()
    return sendResponse(response, req, res, client, report)
  }
  const respond = async () => {
    const { request, parsedBody } = toRequest(req, exchange.forwarded, client)
    const response = await exchange.handle(request, {
      get signal() {
        return client.signal
      },
      parsedBody,
      authenticate: exchange.authenticate,
      bodyError: exchange.bodyError,
      basePath: exchange.basePath,
    })
    const session = response && exchange.upgrade && socketOf(response)
    if (session) return client.gone ? undefined : exchange.upgrade!(session)
    if (response) return send(response)
    if (!exchange.next) throw new TypeError('The handler did not return a Response.')
    client.handBack()
    if (!client.gone) exchange.next()
  }
  const fail = async (error: unknown) => {
    if (!client.gone && !res.headersSent) return send(errorResponse(error, onError))
    report(error)
    if (!client.gone) await abortResponse(req, res)
  }
  respond()
    .catch(fail)
    .catch((error) => {
      report(error)
      res.destroy()
    })
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError'
}

interface Incoming {
  readonly request: Request
  /** The body as an earlier body parser left it. */
  readonly parsedBody: unknown
}

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'

/** Throws `HttpError` if no Web `Request` can be built: 400 for an invalid target or host, 405 for TRACE. */
function toRequest(req: NodeRequest, forwarded: Forwarded | undefined, client: Client): Incoming {
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
