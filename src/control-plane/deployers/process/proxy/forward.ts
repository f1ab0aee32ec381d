import { type ClientRequest, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { BACKEND_HOST, type Backend } from './backend.ts'

export interface Exchange {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  /** Whether a proxy in front of this one reports the client's address. */
  readonly isBehindProxy: boolean
}

/** Methods that may be retried if the connection turns out to be closed (RFC 9110 §9.2.2). */
const IDEMPOTENT = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'])

/** Forwards a request to a server and its response back, both with backpressure. */
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

/** Undefined if the proxy itself has responded: the server is down, or the request cannot be sent. */
export function openRequest(
  exchange: Exchange,
  { port }: Backend,
  headers: readonly string[],
  agent: Backend['agent'] | false,
): ClientRequest | undefined {
  const { req, res } = exchange
  if (port === undefined) return notRunning(exchange)
  try {
    const sent = request({ host: BACKEND_HOST, port, method: req.method, path: req.url, headers, agent })
    // A request ends with its client. The rest of a body that the server did not read is discarded.
    res.once('close', () => {
      req.unpipe(sent)
      req.resume()
      sent.destroy()
    })
    return sent
  } catch {
    const message =
      'The request cannot be forwarded: its path or a header has a character that HTTP does not allow.'
    return refuse(exchange, 400, 'invalid_request', message)
  }
}

/** Sends the server's response to a client. */
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
  // An interrupted response must not look complete.
  response.once('error', () => res.destroy())
  response.pipe(res)
  // Streams send their head long before their first event. If a body follows the head immediately, both are
  // sent together.
  setImmediate(() => {
    if (!res.writableEnded && !res.destroyed) res.flushHeaders()
  })
}

/** The proxy's responses for a server that did not respond. */
export function failed(exchange: Exchange, error: NodeJS.ErrnoException): void {
  if (isAnswered(exchange)) return
  if (error.code === 'ECONNREFUSED') notRunning(exchange)
  else
    refuse(
      exchange,
      502,
      'broke_off',
      'The server of this deployment closed the connection before it responded.',
    )
}

const isAnswered = ({ res }: Exchange): boolean => res.headersSent || res.destroyed

export function notRunning(exchange: Exchange): undefined {
  const message = 'No server of this deployment is currently running. Try again in a second.'
  return refuse(exchange, 503, 'not_running', message, { 'retry-after': '1' })
}

export function forbidden(exchange: Exchange): undefined {
  const message = 'Send a key of this deployment as X-Api-Key or as a bearer token.'
  return refuse(exchange, 401, 'unauthorized', message)
}

function refuse({ res }: Exchange, status: number, error: string, message: string, headers = {}): undefined {
  res.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers })
  res.end(JSON.stringify({ error, message }))
}

/** Hop-by-hop headers (RFC 9110 §7.6.1). `Connection` may name more. */
const HOP_BY_HOP = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'transfer-encoding',
  'upgrade',
]

/** Headers in which proxies report the client. Any client can send them. */
const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto']

/** The raw headers, without hop-by-hop headers. */
export function endToEnd(
  { rawHeaders, headers }: IncomingMessage,
  without: readonly string[] = [],
): string[] {
  const named = (headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase())
  const dropped = new Set([...HOP_BY_HOP, ...named, ...without])
  const kept: string[] = []
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (!dropped.has(rawHeaders[at]!.toLowerCase())) kept.push(rawHeaders[at]!, rawHeaders[at + 1]!)
  return kept
}

/** The headers for the server. Those about the client are only kept from a proxy in front of this one. */
export function requestHeaders(req: IncomingMessage, isBehindProxy: boolean): string[] {
  const { host, 'x-forwarded-for': before, ...given } = req.headers
  const address = req.socket.remoteAddress ?? 'unknown'
  // Node answers `Expect` itself, and a server would answer it again.
  const sent = endToEnd(req, isBehindProxy ? ['expect', 'x-forwarded-for'] : ['expect', ...FORWARDED])
  sent.push('X-Forwarded-For', isBehindProxy && before ? `${before}, ${address}` : address)
  if (!isBehindProxy || !given['x-forwarded-proto']) sent.push('X-Forwarded-Proto', 'http')
  // HTTP/1.0 clients may omit it, and HTTP/1.1 servers reject requests without it.
  if (host === undefined) sent.push('Host', 'localhost')
  else if (!isBehindProxy || !given['x-forwarded-host']) sent.push('X-Forwarded-Host', host)
  return sent
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

/** The headers that delimit a request's body. */
function framing({ headers, method }: IncomingMessage): readonly string[] {
  if (headers['transfer-encoding'] !== undefined) return ['Transfer-Encoding', 'chunked']
  // Node would otherwise announce a body for methods that usually have one.
  const isEmpty = headers['content-length'] === undefined && !BODILESS.has(method!)
  return isEmpty ? ['Content-Length', '0'] : []
}

const BODILESS = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE'])
