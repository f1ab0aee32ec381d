import type { HandlerContext, WebHandler } from '../types.ts'
import { type SocketPeer, type SocketSession, socketOf } from './socket.ts'

/** The part of Deno's and Workers' web sockets that is used here. */
interface WebSocketLike {
  binaryType?: string
  /** Workers do not have it. */
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

/** How much may be buffered in a socket before its session pauses, in bytes. */
const BUFFERED = 65_536
/** How often a full socket is polled: the interval at first, and its maximum after backing off. */
const POLL_MS = 1
const MAX_POLL_MS = 50
/**
 * How much is sent to a socket in total if the host does not report the buffered amount, in bytes: a stalled
 * socket may buffer all of it.
 */
const MAX_UNKNOWN = 64 * 1024 * 1024
/** A socket ends if its peer does not answer pings for this long, in seconds. */
const IDLE_S = 30

/**
 * A handler whose `fetch` and `handle` switch to web sockets on Deno and Workers, and on Bun if its `Server`
 * is the context.
 */
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
    // Bun ignores the response to a request that it upgraded.
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
    // On Workers the program must answer a client's close, and the client waits for that.
    closeBy(socket, 1000, '')
  })
  socket.addEventListener('error', end)
  session.open({
    send(frames) {
      for (const text of textsOf(frames)) socket.send(text)
      sent += frames.length
      if (socket.bufferedAmount === undefined && sent > MAX_UNKNOWN) {
        end()
        // Clients treat this code as final. After others, most would reconnect and read the same events from
        // the start.
        socket.close(4413, 'A socket on this host cannot carry more. Read this thread as a stream.')
      }
      if (!isFull()) return true
      poll(POLL_MS)
      return false
    },
    close: (code, reason) => closeBy(socket, code, reason),
  })
}

/** Codes that Web web sockets may send, in place of those reserved for servers: 4000 plus an HTTP status. */
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

/** The part of Bun's socket that is used here. */
export interface BunSocket {
  readonly data: unknown
  send(text: string): number
  close(code: number, reason: string): void
}

const sessionOf = ({ data }: BunSocket): SocketSession => data as SocketSession

/** The `websocket` option of `Bun.serve`, to use with a handler's `fetch`. */
export const bunSockets = {
  maxPayloadLength: 16 * 1024 * 1024,
  // Bun drops texts above this limit. A session sends at most one batch to a full socket.
  backpressureLimit: 1_073_741_824,
  idleTimeout: IDLE_S,
  sendPings: true,
  open(socket: BunSocket): void {
    const peer: SocketPeer = {
      send(frames) {
        let taken = true
        // -1 means that the text is buffered.
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

const encoder = /* @__PURE__ */ new TextEncoder()
const decoder = /* @__PURE__ */ new TextDecoder()

/** The first byte of a frame that contains a complete text message. */
const TEXT = 0x81
const LENGTH_16 = 126
const LENGTH_64 = 127

/**
 * Writes the header of a text frame from a server (RFC 6455, §5.2): unmasked, so that all sockets can share
 * it. Returns the offset where the text begins.
 */
export function writeHead(target: Uint8Array, at: number, length: number): number {
  target[at++] = TEXT
  if (length < LENGTH_16) {
    target[at++] = length
    return at
  }
  const bytes = length < 65_536 ? 2 : 8
  target[at++] = bytes === 2 ? LENGTH_16 : LENGTH_64
  if (bytes === 8) {
    // No text reaches four gigabytes.
    target.fill(0, at, at + 4)
    at += 4
    target[at++] = length >>> 24
    target[at++] = length >>> 16
  }
  target[at++] = length >>> 8
  target[at++] = length
  return at
}

/** The maximum size of a frame header, in bytes. */
const MAX_HEAD = 10

/** One UTF-8 text as a frame. */
export function frameOf(text: Uint8Array): Uint8Array {
  const frame = new Uint8Array(MAX_HEAD + text.length)
  const at = writeHead(frame, 0, text.length)
  frame.set(text, at)
  return frame.subarray(0, at + text.length)
}

/** One text as a frame. */
export const textFrame = (text: string): Uint8Array => frameOf(encoder.encode(text))

/** The texts of such frames, for hosts whose sockets do the framing. */
export function textsOf(frames: Uint8Array): string[] {
  const texts: string[] = []
  for (let at = 0; at < frames.length; ) {
    let length = frames[at + 1]!
    at += 2
    if (length >= LENGTH_16) {
      const end = at + (length === LENGTH_16 ? 2 : 8)
      for (length = 0; at < end; at++) length = length * 256 + frames[at]!
    }
    texts.push(decoder.decode(frames.subarray(at, at + length)))
    at += length
  }
  return texts
}
