import { type IncomingMessage, type Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { pipeline } from 'node:stream'
import type { Backend } from './backend.ts'
import { type Exchange, failed, forbidden, notRunning, openRequest, sendBack } from './forward.ts'
import type { Gate } from './gate.ts'
import { endToEnd, requestHeaders } from './headers.ts'

/** A request to switch its connection to another protocol. */
export interface Upgrade {
  readonly req: IncomingMessage
  readonly socket: Socket
  /** What was read after the head. */
  readonly head: Buffer
}

export const isWebSocket = ({ req }: Upgrade): boolean => req.headers.upgrade?.toLowerCase() === 'websocket'

interface UpgradeTarget {
  readonly backend: Backend | undefined
  readonly gate: Gate
  readonly isBehindProxy: boolean
}

/** Connects the client to a web socket of the server. If there is none, the client gets the HTTP response. */
export function forwardUpgrade(
  { req, socket, head }: Upgrade,
  { backend, gate, isBehindProxy }: UpgradeTarget,
): void {
  // Node no longer handles the connection.
  const res = new ServerResponse(req)
  res.shouldKeepAlive = false
  res.assignSocket(socket)
  res.once('finish', () => socket.end())
  socket.on('drain', () => res.emit('drain'))
  socket.on('error', () => socket.destroy())
  const exchange: Exchange = { req, res, isBehindProxy }
  if (!gate(req)) {
    forbidden(exchange)
    return
  }
  if (!backend) {
    notRunning(exchange)
    return
  }
  socket.once('close', backend.enter())
  const headers = [...requestHeaders(req, isBehindProxy), 'Connection', 'Upgrade', 'Upgrade', 'websocket']
  const sent = openRequest(exchange, backend, headers, false)
  sent?.on('error', (error) => failed(exchange, error))
  sent?.once('response', (response) => sendBack(response, exchange))
  sent?.once('upgrade', (response, far: Socket, farHead: Buffer) => {
    res.detachSocket(socket)
    socket.write(headOf(response))
    socket.write(farHead)
    far.write(head)
    socket.setNoDelay(true)
    far.setNoDelay(true)
    pipeline(socket, far, () => {})
    pipeline(far, socket, () => {})
  })
  sent?.end()
}

function headOf(response: IncomingMessage): Buffer {
  const headers = [...endToEnd(response), 'Connection', 'Upgrade', 'Upgrade', response.headers.upgrade ?? '']
  return rawHead(`HTTP/1.1 101 ${response.statusMessage}`, headers)
}

/**
 * Returns the connection to the HTTP server, as if the request had not asked for another protocol. Servers
 * may ignore that (RFC 9110 §7.8): Java's clients ask for HTTP/2 with each first request, and send its body
 * immediately.
 */
export function overlookUpgrade(server: Server, { req, socket, head }: Upgrade): void {
  const ends = /(^|,)\s*close\s*(,|$)/i.test(req.headers.connection ?? '')
  const headers = [...endToEnd(req), ...(ends ? ['Connection', 'close'] : [])]
  const chunked = req.headers['transfer-encoding']
  if (chunked !== undefined) headers.push('Transfer-Encoding', chunked)
  const plain = rawHead(`${req.method} ${req.url} HTTP/${req.httpVersion}`, headers)
  socket.unshift(Buffer.concat([plain, head]))
  server.emit('connection', socket)
  socket.resume()
}

function rawHead(firstLine: string, headers: readonly string[]): Buffer {
  let text = `${firstLine}\r\n`
  for (let at = 0; at < headers.length; at += 2) text += `${headers[at]}: ${headers[at + 1]}\r\n`
  // Node reads headers as Latin-1.
  return Buffer.from(`${text}\r\n`, 'latin1')
}
