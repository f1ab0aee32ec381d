const WHOLE = /^([\w+/]{4})*([\w+/]{2}==|[\w+/]{3}=)?$/

/**
 * Adds a piece to base64 that comes in pieces, some of them encoded for themselves. Gives what stands alone, and the end that
 * does not: less than a group of four, or a group with padding.
 */
export function joinBase64(tail: string, piece: string): readonly [base64: string, tail: string] {
  const apart = tail.endsWith('=') && WHOLE.test(tail) && WHOLE.test(piece)
  const text = apart ? btoa(atob(tail) + atob(piece)) : tail + piece
  const whole = text.length - (text.length % 4 || (text.endsWith('=') ? 4 : 0))
  return [text.slice(0, whole), text.slice(whole)]
}

/** Bytes as base64; what is no array of bytes stays as it is. */
export function toBase64(value: unknown): unknown {
  if (!(value instanceof Uint8Array)) return value
  let binary = ''
  for (let at = 0; at < value.length; at += 8192)
    binary += String.fromCharCode(...value.subarray(at, at + 8192))
  return btoa(binary)
}
