import { createServer } from 'node:http'
import type { Socket } from 'node:net'
import type { Backend } from './backend.ts'
import { forward, unavailable } from './forward.ts'
import { listen } from './listen.ts'
import { forwardUpgrade, isWebSocket, overlookUpgrade } from './upgrade.ts'

export interface ProxyOptions {
  readonly hostname: string
  /** Where this port is taken, another one is used. Default: any free one. */
  readonly port: number | undefined
  /** Whether a proxy in front of this one tells who the client is. */
  readonly isBehindProxy: boolean
  /** Told when a connection cannot be accepted. */
  readonly onError: (error: Error) => void
}

/** A port of our own that leads to one server at a time. */
export interface ReverseProxy {
  readonly port: number
  /** Where requests are sent. Without it they are answered with 503. */
  readonly backend: Backend | undefined
  /** Sends requests to this server from now on. Those under way, also in web sockets, stay where they are. */
  turnTo(backend: Backend | undefined): void
  /** Takes no more connections. What is under way goes on. Settles when all connections have ended. */
  stopListening(): Promise<void>
  /** Ends all connections. */
  close(): Promise<void>
}

/** How long an unused connection of a client is kept: longer than proxies in front keep theirs. */
const KEEP_ALIVE_MS = 65_000

export async function openProxy(options: ProxyOptions): Promise<ReverseProxy> {
  const { hostname, port, isBehindProxy, onError } = options
  let backend: Backend | undefined
  /** Connections with a request that is not answered yet. */
  const busy = new Set<Socket>()
  const server = createServer((req, res) => {
    const exchange = { req, res, isBehindProxy }
    busy.add(req.socket)
    res.once('close', () => busy.delete(req.socket))
    if (backend) forward(exchange, backend)
    else unavailable(exchange)
  })
  server.keepAliveTimeout = KEEP_ALIVE_MS
  // An upload may take as long as the server behind allows.
  server.requestTimeout = 0
  server.on('upgrade', (req, socket, head) => {
    const upgrade = { req, socket: socket as Socket, head }
    // Behind a request that is not answered yet there is nobody who could be told.
    if (busy.has(upgrade.socket)) socket.destroy()
    else if (isWebSocket(upgrade)) forwardUpgrade(upgrade, backend, isBehindProxy)
    else overlookUpgrade(server, upgrade)
  })
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    // A connection that is given back to the server comes once more.
    if (sockets.has(socket)) return
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  const bound = await listen(server, hostname, port)
  server.on('error', onError)
  let closed: Promise<void> | undefined
  const stopListening = () => (closed ??= new Promise((resolve) => server.close(() => resolve())))
  return {
    port: bound,
    get backend() {
      return backend
    },
    turnTo(next) {
      backend = next
    },
    stopListening,
    async close() {
      backend = undefined
      const ended = stopListening()
      for (const socket of sockets) socket.destroy()
      await ended
    },
  }
}
