import { createServer, type IncomingMessage, type Server, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { pipeline } from 'node:stream'
import { sleep } from '../../../../core/time.ts'
import { DeployError } from '../../deployer.ts'
import type { Backend, Gate } from './backend.ts'
import {
  type Exchange,
  endToEnd,
  failed,
  forbidden,
  forward,
  notRunning,
  openRequest,
  requestHeaders,
  sendBack,
} from './forward.ts'

export interface ProxyOptions {
  readonly hostname: string
  /** If it is taken, another one is used. Default: any free port. */
  readonly port: number | undefined
  /** The first and the last port that may be used. Default: any free port. */
  readonly ports?: readonly [first: number, last: number] | undefined
  readonly gate: Gate
  /** Whether a proxy in front of this one reports the client's address. */
  readonly isBehindProxy: boolean
  /** Called when a connection cannot be accepted. */
  readonly onError: (error: Error) => void
}

/**
 * How long an unused client connection is kept, in milliseconds: longer than proxies in front keep theirs.
 */
const KEEP_ALIVE_MS = 65_000

/** A port that forwards to one server at a time. */
export type ReverseProxy = Awaited<ReturnType<typeof openProxy>>

export async function openProxy(options: ProxyOptions) {
  const { hostname, port, ports, gate, isBehindProxy, onError } = options
  let backend: Backend | undefined
  /** Connections with a pending request. */
  const busy = new Set<Socket>()
  const server = createServer((req, res) => {
    const exchange = { req, res, isBehindProxy }
    busy.add(req.socket)
    res.once('close', () => busy.delete(req.socket))
    if (!gate(req)) forbidden(exchange)
    else if (backend) forward(exchange, backend)
    else notRunning(exchange)
  })
  server.keepAliveTimeout = KEEP_ALIVE_MS
  // An upload may take as long as the server behind allows.
  server.requestTimeout = 0
  server.on('upgrade', (req, socket, head) => {
    const upgrade = { req, socket: socket as Socket, head }
    // Its response could not be distinguished from that of the earlier request.
    if (busy.has(upgrade.socket)) socket.destroy()
    else if (isWebSocket(upgrade)) forwardUpgrade(upgrade, { backend, gate, isBehindProxy })
    else overlookUpgrade(server, upgrade)
  })
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    // A connection that was returned to the server is emitted again.
    if (sockets.has(socket)) return
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  const bound = await listen(server, hostname, candidates(port, ports))
  server.on('error', onError)
  let closed: Promise<void> | undefined
  /** Stops accepting connections. Resolves when all open ones have closed. */
  const stopListening = (): Promise<void> =>
    (closed ??= new Promise((resolve) => server.close(() => resolve())))
  return {
    port: bound,
    /** The server that receives requests. Without it, the response is 503. */
    get backend() {
      return backend
    },
    /** Sends new requests to this server. Active requests and web sockets stay where they are. */
    turnTo(next: Backend | undefined): void {
      backend = next
    },
    stopListening,
    /** Closes all connections. */
    async close(): Promise<void> {
      backend = undefined
      const ended = stopListening()
      for (const socket of sockets) socket.destroy()
      await ended
    },
  }
}

/** How long to wait for a taken port, in milliseconds: a killed process may hold it briefly. */
const TAKEN_MS = 1_000

/** The ports to try, in this order. 0 means any free port. */
function candidates(wanted: number | undefined, ports: ProxyOptions['ports']): readonly number[] {
  if (ports === undefined) return wanted === undefined ? [0] : [wanted, 0]
  const [first, last] = ports
  const all = Array.from({ length: last - first + 1 }, (_, at) => first + at)
  return wanted !== undefined && all.includes(wanted)
    ? [wanted, ...all.filter((port) => port !== wanted)]
    : all
}

/** Listens on the first free port, and returns its number. */
async function listen(server: Server, hostname: string, ports: readonly number[]): Promise<number> {
  const [wanted] = ports
  const waitUntil = performance.now() + TAKEN_MS
  let taken: unknown
  for (const port of ports)
    for (let isWaiting = true; isWaiting; ) {
      try {
        await listenOn(server, hostname, port)
        return (server.address() as AddressInfo).port
      } catch (error) {
        taken = error
        const { code } = error as NodeJS.ErrnoException
        isWaiting = port === wanted && code === 'EADDRINUSE' && performance.now() < waitUntil
        if (isWaiting) await sleep(50)
      }
    }
  const { code } = taken as NodeJS.ErrnoException
  throw new DeployError(`No port can be opened on ${hostname}: ${code}.`, { cause: taken })
}

function listenOn(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (error?: Error) => {
      server.off('error', settle).off('listening', settle)
      if (error) reject(error)
      else resolve()
    }
    server.on('error', settle).on('listening', settle)
    server.listen({ port, host })
  })
}

/** A request to switch its connection to another protocol. */
export interface Upgrade {
  readonly req: IncomingMessage
  readonly socket: Socket
  /** What was read after the head. */
  readonly head: Buffer
}

const isWebSocket = ({ req }: Upgrade): boolean => req.headers.upgrade?.toLowerCase() === 'websocket'

interface UpgradeTarget {
  readonly backend: Backend | undefined
  readonly gate: Gate
  readonly isBehindProxy: boolean
}

/** Connects the client to a web socket of the server. If there is none, the client gets the HTTP response. */
function forwardUpgrade(
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
function overlookUpgrade(server: Server, { req, socket, head }: Upgrade): void {
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
