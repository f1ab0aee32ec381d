import { type IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { WebSocket, WebSocketServer } from 'ws'
import { AgentwireError } from '../../src/core/errors.ts'
import type { SocketSession } from '../../src/core/http/sockets/socket.ts'
import { createTicker, type Ticker } from '../../src/core/http/stream.ts'
import type { HandlerContext, WebHandler } from '../../src/core/http/types.ts'
import { checkOptions } from '../../src/core/options.ts'
import { identifying } from '../principal.ts'
import { answer, NODE_OPTIONS, type NodeOptions } from './listener.ts'
import { forwardedHeaders } from './target.ts'

/** The part of a `node:http` or `node:https` server that the adapter uses. */
export interface UpgradeServer {
  on(event: 'upgrade', listener: (...handshake: unknown[]) => void): unknown
  listenerCount(event: 'upgrade'): number
  emit(event: 'connection', socket: unknown): unknown
}

/** How long a client may take to answer a ping, in milliseconds. */
const PING_MS = 15_000

export const PINGS: Ticker = /* @__PURE__ */ createTicker(PING_MS)

interface Mount {
  readonly handler: WebHandler
  readonly callerOf: (request: IncomingMessage) => HandlerContext['authenticate']
  readonly options: NodeOptions
  readonly pings: Ticker
  readonly open: Set<WebSocket>
}

interface Handshake {
  readonly req: IncomingMessage
  readonly socket: Socket
  readonly head: Buffer
}

/** The handlers of each server. They share one listener; the last one answers requests without a route. */
const mounted = new WeakMap<UpgradeServer, Mount[]>()

/**
 * Accepts web sockets on a `node:http` server, for a handler that serves requests through `toNode`, Express
 * or Hono. Needs the package `ws`. A handshake without a route is left to the server's other `upgrade`
 * listeners. Returns a function that disconnects all open sockets, for shutting down the server.
 */
export function acceptSockets(
  server: UpgradeServer,
  handler: WebHandler,
  options: NodeOptions = {},
): () => void {
  checkOptions('acceptSockets', options, NODE_OPTIONS)
  return mountSockets(server, { handler, options, pings: PINGS })
}

/**
 * Like `acceptSockets`. A socket is pinged with `pings`, and disconnected if it was silent since the last
 * ping.
 */
export function mountSockets(server: UpgradeServer, given: Omit<Mount, 'open' | 'callerOf'>): () => void {
  const callerOf = identifying(given.handler, given.options.principal)
  const mount: Mount = { ...given, callerOf, open: new Set() }
  const mounts = mounted.get(server)
  if (mounts) mounts.push(mount)
  else listen(server, [mount])
  return () => {
    for (const socket of mount.open) socket.terminate()
  }
}

function listen(server: UpgradeServer, mounts: Mount[]): void {
  mounted.set(server, mounts)
  server.on('upgrade', (...given) => {
    const [req, socket, head] = given as [IncomingMessage, Socket, Buffer]
    const handshake = { req, socket, head }
    // A handshake is a GET. On any other request, the header has no effect (RFC 6455, §4.1).
    if (req.method === 'GET' && req.headers.upgrade?.toLowerCase() === 'websocket')
      shake(server, mounts, handshake)
    // With this listener, Node leaves every upgrade to it, such as those of clients that offer HTTP/2.
    else if (server.listenerCount('upgrade') === 1) goOnWithout(server, handshake)
  })
}

function shake(server: UpgradeServer, mounts: readonly Mount[], handshake: Handshake): void {
  const { req, socket } = handshake
  const ignore = () => {}
  socket.on('error', ignore)
  const res = new ServerResponse(req)
  res.shouldKeepAlive = false
  res.assignSocket(socket)
  // A client that does not close its side would keep the connection open forever.
  res.on('finish', () => socket.destroySoon())
  const attempt = (at: number): void => {
    const { handler, callerOf, options, pings, open } = mounts[at]!
    const { basePath, trustProxy = false, onError } = options
    const isLast = at === mounts.length - 1
    const isOurs = isLast && server.listenerCount('upgrade') === 1
    answer(req, res, {
      handle: isOurs ? handler.fetch : handler.handle,
      authenticate: callerOf(req),
      basePath,
      forwarded: trustProxy ? forwardedHeaders(req) : undefined,
      onError,
      next() {
        if (!isLast) return attempt(at + 1)
        res.detachSocket(socket)
        socket.off('error', ignore)
      },
      async upgrade(session) {
        const sockets = await load()
        res.detachSocket(socket)
        sockets(session).handleUpgrade(req, socket, handshake.head, (webSocket) => {
          open.add(webSocket)
          webSocket.on('close', () => open.delete(webSocket))
          bindSocket(webSocket, socket, session, pings)
        })
      },
    })
  }
  attempt(0)
}

let loading: Promise<(session: SocketSession) => WebSocketServer> | undefined

/** Loads `ws` for the first socket. It handles handshakes and reads client frames. */
const load = () =>
  (loading ??= import('ws').then(
    ({ WebSocketServer }) =>
      ({ protocol, maxMessageBytes }) =>
        new WebSocketServer({
          noServer: true,
          clientTracking: false,
          perMessageDeflate: false,
          autoPong: false,
          maxPayload: maxMessageBytes,
          handleProtocols: () => protocol ?? false,
        }),
    (cause) => {
      loading = undefined
      throw new AgentwireError('missing_package', 'Web sockets require the package ws: npm install ws', {
        cause,
      })
    },
  ))

/** Returns a request to its server as one without an upgrade. */
function goOnWithout(server: UpgradeServer, { req, socket, head }: Handshake): void {
  const lines = [`${req.method} ${req.url} HTTP/1.1`]
  for (let at = 0; at < req.rawHeaders.length; at += 2) {
    const name = req.rawHeaders[at]!
    if (!/^(?:connection|upgrade|http2-settings)$/i.test(name))
      lines.push(`${name}: ${req.rawHeaders[at + 1]}`)
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]))
  server.emit('connection', socket)
}

/** How long a client may take to close a socket that the server closes, in milliseconds. */
const CLOSE_MS = 2_000

/**
 * Binds a session to a web socket and its connection. Closes the connection if it is silent between two
 * pings.
 */
function bindSocket(webSocket: WebSocket, socket: Socket, session: SocketSession, pings: Ticker): void {
  let isAlive = true
  const alive = () => {
    isAlive = true
  }
  const stopPings = pings.add(() => {
    if (!isAlive) return webSocket.terminate()
    isAlive = false
    webSocket.ping()
  })
  /** The newest unanswered ping. One pong answers all earlier pings (RFC 6455, §5.5.3). */
  let pinged: Buffer | undefined
  const pong = () => {
    if (!pinged || socket.writableNeedDrain) return
    webSocket.pong(pinged)
    pinged = undefined
  }
  const drain = () => {
    // A slow reader's pong waits behind unread frames. Reading those frames also shows that it is alive.
    alive()
    pong()
    session.drain()
  }
  socket.on('drain', drain)
  webSocket.on('pong', alive)
  webSocket.on('ping', (data: Buffer) => {
    alive()
    pinged = data
    pong()
  })
  webSocket.on('message', (data: Buffer, isBinary: boolean) => {
    alive()
    session.message(isBinary ? data : data.toString())
  })
  // The socket closes itself after an oversized message or an invalid frame.
  webSocket.on('error', () => {})
  webSocket.on('close', () => {
    stopPings()
    socket.off('drain', drain)
    session.close()
  })
  session.open({
    // All sockets share the frames, which are written between those of `ws`. None may follow the close frame.
    send: (frames) => webSocket.readyState === webSocket.OPEN && socket.write(frames),
    close(code, reason) {
      webSocket.close(code, reason)
      setTimeout(() => webSocket.terminate(), CLOSE_MS).unref()
    },
  })
}
