import { createServer } from 'node:http'
import type { AddressInfo, Server, Socket } from 'node:net'
import { sleep } from '../../../../time.ts'
import { DeployError } from '../../deployer.ts'
import type { Backend } from './backend.ts'
import { forward, notRunning } from './forward.ts'
import { forwardUpgrade, isWebSocket, overlookUpgrade } from './upgrade.ts'

export interface ProxyOptions {
  readonly hostname: string
  /** If it is taken, another one is used. Default: any free one. */
  readonly port: number | undefined
  /** Whether a proxy in front of this one says who the client is. */
  readonly isBehindProxy: boolean
  /** Called when a connection cannot be accepted. */
  readonly onError: (error: Error) => void
}

/** How long an unused connection of a client is kept: longer than proxies in front keep theirs. */
const KEEP_ALIVE_MS = 65_000

/** A port that leads to one server at a time. */
export type ReverseProxy = Awaited<ReturnType<typeof openProxy>>

export async function openProxy({ hostname, port, isBehindProxy, onError }: ProxyOptions) {
  let backend: Backend | undefined
  /** Connections with a request that is not answered yet. */
  const busy = new Set<Socket>()
  const server = createServer((req, res) => {
    const exchange = { req, res, isBehindProxy }
    busy.add(req.socket)
    res.once('close', () => busy.delete(req.socket))
    if (backend) forward(exchange, backend)
    else notRunning(exchange)
  })
  server.keepAliveTimeout = KEEP_ALIVE_MS
  // An upload may take as long as the server behind allows.
  server.requestTimeout = 0
  server.on('upgrade', (req, socket, head) => {
    const upgrade = { req, socket: socket as Socket, head }
    // An answer could not be told from that of the request before.
    if (busy.has(upgrade.socket)) socket.destroy()
    else if (isWebSocket(upgrade)) forwardUpgrade(upgrade, backend, isBehindProxy)
    else overlookUpgrade(server, upgrade)
  })
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    // A connection that was given back to the server comes again.
    if (sockets.has(socket)) return
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  const bound = await listen(server, hostname, port)
  server.on('error', onError)
  let closed: Promise<void> | undefined
  /** Accepts no more connections. Settles when those that are open have ended. */
  const stopListening = (): Promise<void> =>
    (closed ??= new Promise((resolve) => server.close(() => resolve())))
  return {
    port: bound,
    /** Where requests are sent. Without it they are answered with 503. */
    get backend() {
      return backend
    },
    /** Sends new requests to this server. Those in progress, also in web sockets, stay where they are. */
    turnTo(next: Backend | undefined): void {
      backend = next
    },
    stopListening,
    /** Ends all connections. */
    async close(): Promise<void> {
      backend = undefined
      const ended = stopListening()
      for (const socket of sockets) socket.destroy()
      await ended
    },
  }
}

/** How long a taken port is waited for, in milliseconds: a killed process may hold it for a moment. */
const TAKEN_MS = 1_000

/** Listens on the wanted port, or on any free one if it is taken, and returns its number. */
async function listen(server: Server, hostname: string, wanted = 0): Promise<number> {
  const waitUntil = performance.now() + TAKEN_MS
  for (let port = wanted; ; ) {
    try {
      await listenOn(server, hostname, port)
      return (server.address() as AddressInfo).port
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (port === 0)
        throw new DeployError(`No port can be opened on ${hostname}: ${code}.`, { cause: error })
      if (code === 'EADDRINUSE' && performance.now() < waitUntil) await sleep(50)
      else port = 0
    }
  }
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
