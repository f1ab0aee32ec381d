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
