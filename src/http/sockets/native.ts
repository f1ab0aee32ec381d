import type { HandlerContext, WebHandler } from '../types.ts'
import { textsOf } from './frames.ts'
import { type SocketPeer, type SocketSession, socketOf } from './socket.ts'

/** What we use of the web sockets of Deno and Workers. */
interface WebSocketLike {
  binaryType?: string
  /** Workers do not tell it. */
  readonly bufferedAmount?: number
  send(text: string): void
  close(code: number, reason: string): void
  addEventListener(
    type: 'open' | 'message' | 'close' | 'error',
    listener: (event: { readonly data?: unknown }) => void,
  ): void
}

interface Runtime {
  readonly Deno?: {
    upgradeWebSocket?(
      request: Request,
      options: { protocol?: string | undefined; idleTimeout: number },
    ): { readonly socket: WebSocketLike; readonly response: Response }
  }
  readonly WebSocketPair?: new () => {
    readonly 0: WebSocketLike
    readonly 1: WebSocketLike & { accept(): void }
  }
}

/** How much may wait in a socket before its session pauses, in bytes. */
const BUFFERED = 65_536
/** How often a socket is asked whether it has room, at first and for one that has had none for long. */
const POLL_MS = 1
const MAX_POLL_MS = 50
/** How much a socket is sent in all where the host does not tell what waits, in bytes: a stalled one may hold all of it. */
const UNTOLD = 64 * 1024 * 1024
/** A socket whose peer does not answer pings for so long ends, in seconds. */
const IDLE_S = 30

/** A handler whose `fetch` and `handle` switch to web sockets on Deno and Workers, and on Bun where its `Server` is the context. */
export function upgrading(handler: WebHandler): WebHandler {
  const through =
    <Answer extends Response | undefined>(
      answer: (request: Request, context?: HandlerContext) => Promise<Answer>,
    ) =>
    async (request: Request, context?: HandlerContext) => {
      const response = await answer(request, context)
      const session = response && socketOf(response)
      return ((session && upgrade(request, context, session)) ?? response) as Answer
    }
  return { ...handler, handle: through(handler.handle), fetch: through(handler.fetch) }
}

function upgrade(
  request: Request,
  context: HandlerContext | undefined,
  session: SocketSession,
): Response | undefined {
  const { Deno, WebSocketPair } = globalThis as Runtime
  const { protocol } = session
  if (context?.upgrade) {
    const headers: Record<string, string> =
      protocol === undefined ? {} : { 'sec-websocket-protocol': protocol }
    // Bun takes no notice of a response to a request that it has upgraded.
    return context.upgrade(request, { data: session, headers }) ? new Response(null) : undefined
  }
  if (Deno?.upgradeWebSocket) {
    try {
      const { socket, response } = Deno.upgradeWebSocket(request, { protocol, idleTimeout: IDLE_S })
      socket.addEventListener('open', () => bind(socket, session))
      return response
    } catch {
      return undefined // The request does not come from `Deno.serve`: an adapter may be able to upgrade it.
    }
  }
  if (WebSocketPair) {
    const { 0: webSocket, 1: socket } = new WebSocketPair()
    socket.accept()
    bind(socket, session)
    const headers = new Headers(protocol === undefined ? {} : { 'sec-websocket-protocol': protocol })
    return new Response(null, { status: 101, webSocket, headers } as ResponseInit)
  }
  return undefined
}

function bind(socket: WebSocketLike, session: SocketSession): void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let sent = 0
  const isFull = () => (socket.bufferedAmount ?? 0) > BUFFERED
  const poll = (afterMs: number) => {
    clearTimeout(timer)
    timer = setTimeout(() => {
      if (isFull()) poll(Math.min(2 * afterMs, MAX_POLL_MS))
      else session.drain()
    }, afterMs)
  }
  const end = () => {
    clearTimeout(timer)
    session.close()
  }
  socket.binaryType = 'arraybuffer'
  socket.addEventListener('message', ({ data }) =>
    session.message(typeof data === 'string' ? data : new Uint8Array(data as ArrayBuffer)),
  )
  socket.addEventListener('close', () => {
    end()
    // Workers leave it to the program to answer the close of a client, which waits for that.
    closeBy(socket, 1000, '')
  })
  socket.addEventListener('error', end)
  session.open({
    send(frames) {
      for (const text of textsOf(frames)) socket.send(text)
      sent += frames.length
      if (socket.bufferedAmount === undefined && sent > UNTOLD) {
        end()
        // A code that clients take as final: most would come back for the same events from the first on.
        socket.close(4413, 'A socket on this host cannot carry more. Read this thread as a stream.')
      }
      if (!isFull()) return true
      poll(POLL_MS)
      return false
    },
    close: (code, reason) => closeBy(socket, code, reason),
  })
}

/** The codes that a web socket of the Web may be closed with, for those that only servers may send: 4000 and a status of HTTP. */
const WEB_CODES: Readonly<Record<number, number>> = {
  1001: 4503,
  1008: 4429,
  1009: 4413,
  1011: 4500,
  1012: 4503,
  1013: 4503,
}

function closeBy(socket: WebSocketLike, code: number, reason: string): void {
  try {
    socket.close(code, reason)
  } catch {
    socket.close(WEB_CODES[code] ?? 4500, reason)
  }
}

/** What we use of a socket of Bun. */
export interface BunSocket {
  readonly data: unknown
  send(text: string): number
  close(code: number, reason: string): void
}

const sessionOf = ({ data }: BunSocket): SocketSession => data as SocketSession

/** The `websocket` option of `Bun.serve`, to use with the `fetch` of a handler. */
export const bunSockets = {
  maxPayloadLength: 16 * 1024 * 1024,
  // Beyond its limit Bun drops texts. A session sends no more than one batch to a socket that is full.
  backpressureLimit: 1_073_741_824,
  idleTimeout: IDLE_S,
  sendPings: true,
  open(socket: BunSocket): void {
    const peer: SocketPeer = {
      send(frames) {
        let taken = true
        // -1 means that the text waits for the network.
        for (const text of textsOf(frames)) taken = socket.send(text) !== -1 && taken
        return taken
      },
      close: (code, reason) => socket.close(code, reason),
    }
    sessionOf(socket).open(peer)
  },
  message: (socket: BunSocket, data: string | Uint8Array): void => sessionOf(socket).message(data),
  drain: (socket: BunSocket): void => sessionOf(socket).drain(),
  close: (socket: BunSocket): void => sessionOf(socket).close(),
}
