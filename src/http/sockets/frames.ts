const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** The first byte of a frame that is a whole text message. */
const TEXT = 0x81
const LENGTH_16 = 126
const LENGTH_64 = 127

/** The most bytes that a frame has before its text. */
export const MAX_HEAD = 10

/** Writes a text frame as servers send it (RFC 6455, §5.2): without a mask, so that all sockets can share it. Gives the offset of its end. */
export function writeFrame(target: Uint8Array, at: number, text: Uint8Array): number {
  const { length } = text
  target[at++] = TEXT
  if (length < LENGTH_16) target[at++] = length
  else {
    const bytes = length < 65_536 ? 2 : 8
    target[at++] = bytes === 2 ? LENGTH_16 : LENGTH_64
    for (let shift = bytes - 1; shift >= 0; shift--) target[at++] = Math.floor(length / 256 ** shift) % 256
  }
  target.set(text, at)
  return at + length
}

/** One text as a frame. */
export function textFrame(text: string): Uint8Array {
  const bytes = encoder.encode(text)
  const frame = new Uint8Array(bytes.length + MAX_HEAD)
  return frame.subarray(0, writeFrame(frame, 0, bytes))
}

/** The texts of frames that `writeFrame` has written, for hosts whose sockets frame by themselves. */
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
