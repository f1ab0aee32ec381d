import { type ClientRequest, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { BACKEND_HOST, type Backend } from './backend.ts'
import { endToEnd, framing, hasBody, requestHeaders } from './headers.ts'

/** A request of a client with its response. */
export interface Exchange {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  /** Whether a proxy in front of ours tells who the client is. */
  readonly isBehindProxy: boolean
}

/** What may be sent again when its connection turned out to be closed already (RFC 9110 §9.2.2). */
const IDEMPOTENT = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'])

/** Sends a request on to a server, and its response back, both at the pace of their readers. */
export function forward(exchange: Exchange, backend: Backend): void {
  const { req, res, isBehindProxy } = exchange
  res.once('close', backend.enter())
  const headers = [...requestHeaders(req, isBehindProxy), ...framing(req)]

  const mayRepeat = IDEMPOTENT.has(req.method!) && !hasBody(req)

  function send(agent: Backend['agent'] | false): void {
    const sent = openRequest(exchange, backend, headers, agent)
    if (!sent) return
    sent.once('response', (response) => sendBack(response, exchange))
    sent.on('error', (error) => {
      if (mayRepeat && sent.reusedSocket && !isAnswered(exchange)) send(false)
      else failed(exchange, error)
    })
    if (hasBody(req)) req.pipe(sent)
    else sent.end()
  }
  send(backend.agent)
}

/** Undefined where the server is not up, or the request is none that can be sent on: then it is answered. */
export function openRequest(
  exchange: Exchange,
  { port }: Backend,
  headers: readonly string[],
  agent: Backend['agent'] | false,
): ClientRequest | undefined {
  const { req, res } = exchange
  if (port === undefined) {
    refuse(exchange, NOT_RUNNING)
    return undefined
  }
  try {
    const sent = request({ host: BACKEND_HOST, port, method: req.method, path: req.url, headers, agent })
    // A client that has gone takes its request along; what is left of a body that the server did not want is thrown away.
    res.once('close', () => {
      req.unpipe(sent)
      req.resume()
      sent.destroy()
    })
    return sent
  } catch {
    refuse(exchange, NOT_FORWARDED)
    return undefined
  }
}

/** Answers a client with what the server answered. */
export function sendBack(response: IncomingMessage, { res }: Exchange): void {
  if (res.destroyed) {
    response.destroy()
    return
  }
  res.writeHead(response.statusCode!, response.statusMessage, endToEnd(response))
  response.once('end', () => {
    const trailers = Object.entries(response.trailers)
    if (trailers.length > 0) res.addTrailers(trailers as [string, string][])
  })
  // An answer that breaks off must not look complete.
  response.once('error', () => res.destroy())
  response.pipe(res)
  // Streams send their head long before their first event. What has a body by then is sent in one piece.
  setImmediate(() => {
    if (!res.writableEnded && !res.destroyed) res.flushHeaders()
  })
}

/** Answers for a server that gave none. */
export function failed(exchange: Exchange, error: NodeJS.ErrnoException): void {
  if (!isAnswered(exchange)) refuse(exchange, error.code === 'ECONNREFUSED' ? NOT_RUNNING : BROKE_OFF)
}

const isAnswered = ({ res }: Exchange): boolean => res.headersSent || res.destroyed

interface Refusal {
  readonly status: number
  readonly error: string
  readonly message: string
  /** In seconds. */
  readonly retryAfter?: string
}

const NOT_RUNNING: Refusal = {
  status: 503,
  error: 'not_running',
  message: 'No server of this deployment is running at the moment. Try again in a second.',
  retryAfter: '1',
}

const BROKE_OFF: Refusal = {
  status: 502,
  error: 'broke_off',
  message: 'The server of this deployment ended the connection before it answered.',
}

const NOT_FORWARDED: Refusal = {
  status: 400,
  error: 'invalid_request',
  message: 'The request cannot be sent on: its path or a header has a character that HTTP does not allow.',
}

/** Answers a request for which there is no server. */
export const unavailable = (exchange: Exchange): void => refuse(exchange, NOT_RUNNING)

function refuse({ res }: Exchange, { status, error, message, retryAfter }: Refusal): void {
  res.writeHead(status, {
    'content-type': 'application/json',
    'cache-control': 'no-store',
    ...(retryAfter && { 'retry-after': retryAfter }),
  })
  res.end(JSON.stringify({ error, message }))
}
