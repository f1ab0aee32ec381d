/** One frame of the event stream, as the log keeps it. */
export interface Frame {
  /** What follows `data: `, the event as JSON. */
  readonly data: string
  /** Of the whole frame: what it takes in the log, and on the wire. */
  readonly bytes: number
}

const NEWLINE = 10
const COLON = 58
const decoder = new TextDecoder()

/** Cuts a stream of bytes into frames (docs/protocol.md §4.3), without the comments. */
export function createFrameReader(): (chunk: Uint8Array) => readonly Frame[] {
  let rest = new Uint8Array()
  return (chunk) => {
    const bytes = rest.length === 0 ? chunk : joined(rest, chunk)
    const frames: Frame[] = []
    let start = afterComments(bytes, 0)
    for (let end = endOf(bytes, start); end > 0; end = endOf(bytes, start)) {
      const frame = frameOf(bytes.subarray(start, end))
      if (frame) frames.push(frame)
      start = afterComments(bytes, end)
    }
    // A copy, so that a large chunk is not kept for its last bytes.
    rest = bytes.slice(start)
    return frames
  }
}

/** The offset after the next empty line, or 0. */
function endOf(bytes: Uint8Array, from: number): number {
  for (let at = bytes.indexOf(NEWLINE, from); at >= 0; at = bytes.indexOf(NEWLINE, at + 1))
    if (bytes[at + 1] === NEWLINE) return at + 2
  return 0
}

/** The offset after the complete comments before a frame. Heartbeats have no blank line of their own. */
function afterComments(bytes: Uint8Array, from: number): number {
  let at = from
  while (bytes[at] === COLON) {
    const end = bytes.indexOf(NEWLINE, at)
    if (end < 0) break
    at = end + 1
  }
  return at
}

function frameOf(bytes: Uint8Array): Frame | undefined {
  const text = decoder.decode(bytes)
  const at = text.startsWith('data: ') ? 0 : text.indexOf('\ndata: ') + 1
  return at === 0 && !text.startsWith('data: ')
    ? undefined
    : { data: text.slice(at + 6).trimEnd(), bytes: bytes.length }
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(a.length + b.length)
  both.set(a)
  both.set(b, a.length)
  return both
}
