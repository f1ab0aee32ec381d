import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { AgentwireError } from '../../src/core/errors.ts'
import { LOOPBACK, withCors } from '../../src/core/http/cors.ts'
import { bracketed, isLoopback, withHosts } from '../../src/core/http/origins.ts'
import { normalizeBase } from '../../src/core/http/router.ts'
import { warnOpen } from '../../src/core/http/security.ts'
import type { WebHandler } from '../../src/core/http/types.ts'
import { checkHandler, checkOptions, type OptionTable } from '../../src/core/options.ts'
import { NODE_OPTIONS, type NodeOptions, toNode } from './listener.ts'
import { acceptSockets } from './sockets.ts'

export interface ServeOptions extends NodeOptions {
  /** The port to listen on. With 0, the system chooses one. */
  readonly port: number
  /** The address to listen on: `0.0.0.0` for all addresses, as containers need. Default: `127.0.0.1`. */
  readonly hostname?: string | undefined
  /**
   * The host names that a server without `authenticate` answers, besides `localhost`, `127.0.0.1` and
   * `[::1]`. Default: no others on a loopback address, and every name on other addresses.
   */
  readonly allowedHosts?: readonly string[] | undefined
  /** @deprecated The earlier name of `hostname`. */
  readonly host?: string | undefined
  /** Print what the server serves, and not only its address. Default: false. */
  readonly banner?: boolean | undefined
  /** Do not print the address. Default: false. */
  readonly silent?: boolean | undefined
  /** Milliseconds that active requests get on close, before they are disconnected. Default: 5000. */
  readonly closeTimeout?: number | undefined
}

const SERVE_OPTIONS: OptionTable<Omit<ServeOptions, keyof NodeOptions>> = {
  port: ['required', 'number'],
  hostname: 'string',
  host: 'string',
  allowedHosts: 'list',
  banner: 'boolean',
  silent: 'boolean',
  closeTimeout: 'number',
}

export interface Served {
  readonly port: number
  /** Such as `http://127.0.0.1:3000`. */
  readonly origin: string
  /** Stops accepting connections, closes the handler and its streams, then the server. Safe to call twice. */
  readonly close: () => Promise<void>
}

/** The server could not listen. `code` is `port_in_use`, `port_not_allowed` or `listen_failed`. */
export class ListenError extends AgentwireError {
  static override readonly brand = 'ListenError'
}

/**
 * Serves a handler over plain HTTP on Node and prints its address. Rejects with `ListenError`, and before it
 * listens with `AgentwireError` `unavailable` if the handler's database cannot be reached.
 *
 * ```ts
 * const { origin, close } = await serve(createAgentServer({ agents: { agent } }), { port: 3000 })
 * ```
 */
export async function serve(handler: WebHandler, options: ServeOptions): Promise<Served> {
  checkHandler('serve', handler)
  checkOptions('serve', options, NODE_OPTIONS, SERVE_OPTIONS)
  const { hostname: host = options.host ?? '127.0.0.1', closeTimeout = 5_000 } = options
  const { principal, basePath, trustProxy, onError } = options
  const own = { principal, basePath, trustProxy, onError }
  await handler.setup?.().catch((error: unknown) => {
    throw startError(error)
  })
  const hosts = options.allowedHosts ?? (isLoopback(host) ? [] : undefined)
  const named = hosts && !principal ? withHosts(handler, hosts) : handler
  const served = named.cors ? named : withCors(named, LOOPBACK)
  const server = createServer(toNode(served, own))
  const cutSockets = acceptSockets(server, served, own)
  // Longer than load balancers keep idle connections, so that they do not reuse one that is being closed.
  server.keepAliveTimeout = 65_000
  server.headersTimeout = 66_000

  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(listenError(error, options.port, host)))
    server.listen({ port: options.port, host }, resolve)
  })

  const connections = new Set<Socket>()
  server.on('connection', (socket) => {
    connections.add(socket)
    socket.once('close', () => connections.delete(socket))
  })

  let closed: Promise<void> | undefined
  async function close(): Promise<void> {
    const ended = new Promise<void>((resolve) => {
      server.close(() => resolve())
    })
    // Browsers open connections in advance. Until the first request, Node does not count them as idle.
    for (const socket of connections) if (socket.bytesRead === 0) socket.destroy()
    server.on('request', (_req, res) => res.setHeader('connection', 'close'))
    const sweep = setInterval(() => server.closeIdleConnections(), 50)
    const cut = setTimeout(() => {
      server.closeAllConnections()
      cutSockets()
    }, closeTimeout)
    try {
      await handler.close()
    } finally {
      await ended
      clearInterval(sweep)
      clearTimeout(cut)
    }
  }

  const { port } = server.address() as AddressInfo
  const origin = `http://${originHost(host)}:${port}`
  if (!options.silent) {
    const { banner } = handler as { readonly banner?: (url: string) => string }
    const told = options.banner ? banner?.(origin + normalizeBase(basePath ?? '')) : undefined
    console.log(told ?? `agentwire listens on ${origin}`)
    if (handler.isOpen && !principal) warnOpen()
  }
  return {
    port,
    origin,
    close: () => (closed ??= close()),
  }
}

function originHost(host: string): string {
  if (!host || host === '0.0.0.0' || host === '::') return 'localhost'
  return bracketed(host)
}

/** The error of a database that cannot be reached, in one sentence and without the stacks of its causes. */
function startError(error: unknown): unknown {
  if (!(error instanceof AgentwireError) || error.code !== 'unavailable') return error
  const message = `The server was not started. ${error.message} Start the database, or correct its address.`
  const told = new AgentwireError(error.code, message)
  told.stack = `${told.name}: ${message}`
  return told
}

function listenError(error: NodeJS.ErrnoException, port: number, host: string): ListenError {
  const options = { cause: error }
  if (error.code === 'EADDRINUSE') {
    const message = `Port ${port} is already in use. Stop the process that listens there, or choose another port (0 picks a free one).`
    return new ListenError('port_in_use', message, options)
  }
  if (error.code === 'EACCES') {
    const message = `This process is not allowed to listen on port ${port}. Choose a port above 1023.`
    return new ListenError('port_not_allowed', message, options)
  }
  return new ListenError('listen_failed', `Cannot listen on ${host}, port ${port}: ${error.message}`, options)
}
