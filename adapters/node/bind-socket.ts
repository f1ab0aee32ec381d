import type { Socket } from 'node:net'
import type { WebSocket } from 'ws'
import type { SocketSession } from '../../src/http/sockets/socket.ts'
import type { Ticker } from '../../src/http/ticker.ts'

/** How long a client may take to end a socket that the server closes, in milliseconds. */
const CLOSE_MS = 2_000

/** Binds a session to a web socket and the connection below it. A peer that shows no life from one beat of `pings` to the next is cut. */
export function bindSocket(
  webSocket: WebSocket,
  socket: Socket,
  session: SocketSession,
  pings: Ticker,
): void {
  let isAlive = true
  const alive = () => {
    isAlive = true
  }
  const stopPings = pings.add(() => {
    if (!isAlive) return webSocket.terminate()
    isAlive = false
    webSocket.ping()
  })
  /** The newest ping that waits for its pong. It stands for those before it (RFC 6455, §5.5.3), which a flood would fill memory with. */
  let pinged: Buffer | undefined
  const pong = () => {
    if (!pinged || socket.writableNeedDrain) return
    webSocket.pong(pinged)
    pinged = undefined
  }
  const drain = () => {
    // The pong of a slow reader waits behind all that it has not read yet, and what it takes meanwhile shows as well that it lives.
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
  // The socket closes itself after an overlong message or an invalid frame.
  webSocket.on('error', () => {})
  webSocket.on('close', () => {
    stopPings()
    socket.off('drain', drain)
    session.close()
  })
  session.open({
    // The frames are the same for all sockets, and go into this one between those that `ws` writes. None may follow its last one.
    send: (frames) => webSocket.readyState === webSocket.OPEN && socket.write(frames),
    close(code, reason) {
      webSocket.close(code, reason)
      setTimeout(() => webSocket.terminate(), CLOSE_MS).unref()
    },
  })
}
