import type { IncomingMessage } from 'node:http'

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

export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

/** The headers that delimit a request's body. */
export function framing({ headers, method }: IncomingMessage): readonly string[] {
  if (headers['transfer-encoding'] !== undefined) return ['Transfer-Encoding', 'chunked']
  // Node would otherwise announce a body for methods that usually have one.
  const isEmpty = headers['content-length'] === undefined && !BODILESS.has(method!)
  return isEmpty ? ['Content-Length', '0'] : []
}

const BODILESS = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE'])
