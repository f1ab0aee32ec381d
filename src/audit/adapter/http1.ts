import { AuditError, within } from '../check.ts'
import type { RawSocket } from './target.ts'

export type Part = string | Uint8Array

/** A raw HTTP/1.1 connection (RFC 9112). */
export interface Http1 {
  send(...parts: readonly Part[]): Promise<void>
  /** The head of the next response. Its body stays unread. */
  head(): Promise<Head>
  /** The body of a response, by its Content-Length or its chunks. */
  body(head: Head): Promise<string>
  /** Resolves when the server has closed the connection. Discards what it still sends. */
  closed(): Promise<void>
  cut(): Promise<void>
}

export interface Head {
  readonly status: number
  readonly headers: Headers
}

const encoder = new TextEncoder()

export function openHttp1(socket: RawSocket): Http1 {
  const bytes = bytesOf(socket.readable)
  const writer = socket.writable.getWriter()
  return {
    async send(...parts) {
      for (const part of parts) await writer.write(typeof part === 'string' ? encoder.encode(part) : part)
    },
    async head() {
      const [line = '', ...fields] = (await bytes.through('\r\n\r\n')).split('\r\n')
      const headers = new Headers()
      for (const field of fields) {
        const colon = field.indexOf(':')
        headers.append(field.slice(0, colon), field.slice(colon + 1).trim())
      }
      return { status: Number(line.split(' ')[1]), headers }
    },
    async body({ headers }) {
      const decoder = new TextDecoder()
      const length = headers.get('content-length')
      if (length !== null) return decoder.decode(await bytes.exactly(Number(length)))
      let text = ''
      if (headers.get('transfer-encoding') !== 'chunked') return text
      for (;;) {
        const size = Number.parseInt(await bytes.through('\r\n'), 16)
        text += decoder.decode(await bytes.exactly(size), { stream: true })
        await bytes.through('\r\n')
        if (size === 0) return text
      }
    },
    // A reset also ends the connection.
    closed: () => bytes.drain().catch(ended),
    async cut() {
      await socket.close()
    },
  }
}

/** What a connection receives, as it is asked for. */
function bytesOf(readable: RawSocket['readable']) {
  const reader = readable.getReader()
  let buffered = new Uint8Array()

  async function fill(): Promise<boolean> {
    const { done, value } = await within('the next bytes of the response', reader.read())
    if (done) return false
    const joined = new Uint8Array(buffered.byteLength + value.byteLength)
    joined.set(buffered)
    joined.set(value, buffered.byteLength)
    buffered = joined
    return true
  }
  function take(length: number): Uint8Array {
    const taken = buffered.subarray(0, length)
    buffered = buffered.subarray(length)
    return taken
  }
  return {
    /** The text before `end`, which is taken too. */
    async through(end: string): Promise<string> {
      for (;;) {
        // Latin-1: one character for each byte.
        const at = new TextDecoder('latin1').decode(buffered).indexOf(end)
        if (at >= 0) return new TextDecoder('latin1').decode(take(at + end.length)).slice(0, -end.length)
        if (!(await fill())) throw new AuditError('a response', 'more bytes', 'the end of the connection')
      }
    },
    async exactly(length: number): Promise<Uint8Array> {
      while (buffered.byteLength < length) {
        if (!(await fill())) throw new AuditError('a response body', `${length} bytes`, buffered.byteLength)
      }
      return take(length)
    },
    /** Discards everything until the end. */
    async drain(): Promise<void> {
      while (await fill()) buffered = new Uint8Array()
    },
  }
}

function ended(error: unknown): void {
  if (error instanceof AuditError) throw error
}
