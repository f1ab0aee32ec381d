const encoder = /* @__PURE__ */ new TextEncoder()
const decoder = /* @__PURE__ */ new TextDecoder()

/** The first byte of a frame that is a whole text message. */
const TEXT = 0x81
const LENGTH_16 = 126
const LENGTH_64 = 127

/**
 * Writes what comes before the text of a frame as servers send it (RFC 6455, §5.2): without a mask, so that all sockets can share it.
 * Gives the offset where its text begins.
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
    // No text has four gigabytes.
    target.fill(0, at, at + 4)
    at += 4
    target[at++] = length >>> 24
    target[at++] = length >>> 16
  }
  target[at++] = length >>> 8
  target[at++] = length
  return at
}

/** The most bytes that a frame has before its text. */
const MAX_HEAD = 10

/** One text, in UTF-8, as a frame. */
export function frameOf(text: Uint8Array): Uint8Array {
  const frame = new Uint8Array(MAX_HEAD + text.length)
  const at = writeHead(frame, 0, text.length)
  frame.set(text, at)
  return frame.subarray(0, at + text.length)
}

/** One text as a frame. */
export const textFrame = (text: string): Uint8Array => frameOf(encoder.encode(text))

/** The texts of such frames, for hosts whose sockets frame by themselves. */
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
