import type { Socket } from 'node:net'
import type { WebSocket } from 'ws'
import type { SocketSession } from '../../src/core/http/sockets/socket.ts'
import type { Ticker } from '../../src/core/http/ticker.ts'

/** How long a client may take to close a socket that the server closes, in milliseconds. */
const CLOSE_MS = 2_000

/**
 * Binds a session to a web socket and its connection. Closes the connection if it is silent between two
 * pings.
 */
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
