import { connect, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** A client of web sockets that does only what a test says: it answers no ping, and ends nothing. */
export interface RawSocket {
  readonly socket: Socket
  /** What the server has sent, its answer to the handshake first. */
  received(): Buffer
  /** Settles when the server has ended the connection. */
  readonly closed: Promise<void>
  /** Sends bytes as they are. */
  write(bytes: string | Uint8Array): void
}

/** Opens a connection, and sends the handshake of a web socket there, with more headers. */
export function openRaw(url: string, headers: Readonly<Record<string, string>> = {}): RawSocket {
  const { hostname, port, pathname } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port) })
  onTestFinished(() => void socket.destroy())
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => chunks.push(chunk))
  // The server may cut it at any moment.
  socket.on('error', () => {})
  const all = {
    host: `${hostname}:${port}`,
    upgrade: 'websocket',
    connection: 'upgrade',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
    ...headers,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`GET ${pathname} HTTP/1.1\r\n${lines.join('')}\r\n`)
  return {
    socket,
    received: () => Buffer.concat(chunks),
    closed: new Promise((resolve) => socket.once('close', () => resolve())),
    write: (bytes) => void socket.write(bytes),
  }
}

/** The opcodes of RFC 6455, §5.2. */
export const CONTINUATION = 0
export const TEXT = 1
export const BINARY = 2
export const CLOSE = 8
export const PING = 9
export const PONG = 10

/** A frame of a client, masked with zeros. `rsv1` marks it as compressed. */
export function clientFrame(
  opcode: number,
  payload: string | Uint8Array = '',
  { fin = true, rsv1 = false } = {},
): Buffer {
  const bytes = Buffer.from(payload)
  const first = (fin ? 0x80 : 0) | (rsv1 ? 0x40 : 0) | opcode
  const length =
    bytes.length < 126
      ? [0x80 | bytes.length]
      : bytes.length < 65_536
        ? [0xfe, bytes.length >> 8, bytes.length & 0xff]
        : [0xff, 0, 0, 0, 0, ...[24, 16, 8, 0].map((shift) => (bytes.length >>> shift) & 0xff)]
  return Buffer.concat([Buffer.from([first, ...length, 0, 0, 0, 0]), bytes])
}

/** The frames that a server has sent after its answer to the handshake: their opcodes and payloads. */
export function serverFrames(received: Buffer): { readonly opcode: number; readonly payload: Buffer }[] {
  const frames = []
  let at = received.indexOf('\r\n\r\n') + 4
  while (at >= 4 && at + 2 <= received.length) {
    const opcode = received[at]! & 0x0f
    let length = received[at + 1]! & 0x7f
    at += 2
    const more = length === 126 ? 2 : length === 127 ? 8 : 0
    if (at + more > received.length) break
    if (more > 0) length = received.readUIntBE(at + more - Math.min(more, 6), Math.min(more, 6))
    at += more
    if (at + length > received.length) break
    frames.push({ opcode, payload: received.subarray(at, at + length) })
    at += length
  }
  return frames
}

/** The code of the close frame that a server has sent, if it has sent one. */
export const closeCode = (received: Buffer): number | undefined =>
  serverFrames(received)
    .find(({ opcode }) => opcode === CLOSE)
    ?.payload.readUInt16BE(0)
