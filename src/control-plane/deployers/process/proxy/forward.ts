import { type ClientRequest, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { BACKEND_HOST, type Backend } from './backend.ts'
import { endToEnd, framing, hasBody, requestHeaders } from './headers.ts'

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
