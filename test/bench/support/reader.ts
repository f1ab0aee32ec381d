import { connect } from 'node:net'

/**
 * A subscriber over a socket of its own. It looks for ids and does not parse frames as the tests' client does, because
 * the measuring process would then take the CPU time that the servers need.
 */
export interface Reader {
  /** Events received. Throws when one was lost, doubled or out of order. */
  count(): number
  /** When the last event came, by `performance.now()`. */
  lastAt(): number
  /** Settles when that many events were received. Rejects when the connection ends before, or nothing comes for a minute. */
  received(events: number): Promise<void>
  /** When the bytes of `lookFor` came. */
  readonly found: Promise<number>
  /** Stops reading, as the client on a sleeping laptop does. */
  pause(): void
  close(): void
}

export interface ReaderOptions {
  readonly port: number
  readonly path: string
  readonly body?: unknown
  /** Expects seqs without a gap, for readers that filter nothing. */
  readonly gapless?: boolean
  /** Bytes whose arrival settles `found`. */
  readonly lookFor?: string
  /** Reads over a web socket, where the body is its one subscription. */
  readonly webSocket?: boolean
  /** Called for each event when it arrives, with the number of events before it. */
  readonly onEvent?: (index: number) => void
}

/** No measurement takes that long on any machine. */
const PATIENCE_MS = 60_000
/** What an id follows, and the byte that ends it: a line of server-sent events, or a key of JSON. */
const SSE_ID = { id: Buffer.from('\nid: '), end: 0x0a }
const JSON_ID = { id: Buffer.from('"event_id":"'), end: 0x22 }

/** Resolves when the response has begun. */
export function openReader(options: ReaderOptions): Promise<Reader> {
  const { port, path, body, gapless, lookFor, onEvent, webSocket } = options
  const { id: ID, end: END } = webSocket ? JSON_ID : SSE_ID
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  socket.write(webSocket ? handshake(path) : request(path, JSON.stringify(body ?? {})))
  let rest: Buffer = Buffer.alloc(0)
  let count = 0
  let lastSeq = 0
  let lastAt = 0
  let failure: Error | undefined
  let goal = Number.POSITIVE_INFINITY
  let settle: { resolve(): void; reject(error: Error): void } | undefined
  let find: (at: number) => void = () => {}
  const found = new Promise<number>((resolve) => {
    find = resolve
  })

  function fail(message: string): void {
    failure ??= new Error(`${path}: ${message} after ${count} events`)
    settle?.reject(failure)
  }

  function take(chunk: Buffer): void {
    lastAt = performance.now()
    const bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk
    if (lookFor !== undefined && bytes.includes(lookFor)) find(lastAt)
    let from = 0
    for (;;) {
      const at = bytes.indexOf(ID, from)
      const end = at < 0 ? -1 : bytes.indexOf(END, at + ID.length)
      if (end < 0) {
        rest = bytes.subarray(at < 0 ? Math.max(from, bytes.length - ID.length + 1) : at)
        break
      }
      const id = bytes.toString('latin1', at + ID.length, end)
      const seq = Number(id.slice(id.lastIndexOf('-') + 1))
      if (gapless && lastSeq > 0 ? seq !== lastSeq + 1 : seq <= lastSeq)
        fail(`event ${seq} came after ${lastSeq}`)
      lastSeq = seq
      onEvent?.(count)
      count++
      from = end
    }
    if (count >= goal) settle?.resolve()
  }

  return new Promise((resolve, reject) => {
    socket.once('error', reject)
    socket.once('data', (head: Buffer) => {
      socket.off('error', reject)
      const status = webSocket ? ' 101 ' : ' 200 '
      if (!head.subarray(0, 15).toString().includes(status)) return reject(new Error(`${path}: ${head}`))
      socket.on('error', (error) => fail(String(error)))
      socket.on('close', () => fail('the connection ended'))
      socket.on('data', take)
      take(head)
      if (webSocket) socket.write(message(JSON.stringify(body ?? {})))
      resolve({
        found,
        count() {
          if (failure) throw failure
          return count
        },
        lastAt: () => lastAt,
        received: (events) =>
          new Promise((done, lost) => {
            if (failure) return lost(failure)
            if (count >= events) return done()
            const timer = setTimeout(() => fail(`waited too long for event ${events}`), PATIENCE_MS)
            goal = events
            settle = {
              resolve() {
                clearTimeout(timer)
                done()
              },
              reject(error) {
                clearTimeout(timer)
                lost(error)
              },
            }
          }),
        pause: () => socket.pause(),
        close() {
          socket.removeAllListeners('close')
          socket.destroy()
        },
      })
    })
  })
}

const request = (path: string, text: string): string =>
  `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\naccept: text/event-stream\r\n` +
  `content-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`

const handshake = (path: string): string =>
  `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nupgrade: websocket\r\nconnection: upgrade\r\n` +
  'sec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n'

/** A short text frame, masked with zeros. */
function message(text: string): Buffer {
  const bytes = Buffer.from(text)
  const head =
    bytes.length < 126 ? [0x81, 0x80 | bytes.length] : [0x81, 0xfe, bytes.length >> 8, bytes.length & 0xff]
  return Buffer.concat([Buffer.from([...head, 0, 0, 0, 0]), bytes])
}
