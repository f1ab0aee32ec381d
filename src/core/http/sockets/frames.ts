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
