import { isRecord } from '../../../messages/record.ts'

const isWhole = (text: string): boolean => text.length % 4 === 0 && /^[\w+/]*={0,2}$/.test(text)

/**
 * Appends a piece to streamed base64, whose pieces may each be encoded alone. Returns what can be decoded
 * now, and the tail that the next piece may change: an incomplete group of four, or one with padding.
 */
export function joinBase64(tail: string, piece: string): readonly [base64: string, tail: string] {
  const encodedAlone = tail.endsWith('=') && isWhole(tail) && isWhole(piece)
  const text = encodedAlone ? btoa(atob(tail) + atob(piece)) : tail + piece
  const whole = text.length - (text.length % 4 || (text.endsWith('=') ? 4 : 0))
  return [text.slice(0, whole), text.slice(whole)]
}

/** Copies a value for JSON: bytes at any depth become base64. */
export function toBase64(value: unknown): unknown {
  if (ArrayBuffer.isView(value)) return encodeBase64(bytesOf(value))
  if (Array.isArray(value)) return value.map(toBase64)
  if (!isRecord(value)) return value
  const plain: Record<string, unknown> = {}
  for (const key in value) if (key !== '__proto__') plain[key] = toBase64(value[key])
  return plain
}

export const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength)

export function encodeBase64(bytes: Uint8Array): string {
  let binary = ''
  for (let at = 0; at < bytes.length; at += 8192)
    binary += String.fromCharCode(...bytes.subarray(at, at + 8192))
  return btoa(binary)
}

/** Throws if the text is not base64. */
export const decodeBase64 = (base64: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))
