/** Concatenates chunks in order. A single chunk is returned as it is. */
export function concatBytes(chunks: readonly Uint8Array[]): Uint8Array {
  if (chunks.length === 1) return chunks[0]!
  let size = 0
  for (const { length } of chunks) size += length
  const whole = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.length
  }
  return whole
}

/** Lower-case hexadecimal digits, two for each byte. */
export function toHex(bytes: Uint8Array): string {
  let hex = ''
  for (const byte of bytes) hex += byte.toString(16).padStart(2, '0')
  return hex
}

/** Base64 with padding (RFC 4648 §4). */
export function toBase64(bytes: Uint8Array): string {
  let binary = ''
  for (const byte of bytes) binary += String.fromCharCode(byte)
  return btoa(binary)
}

/** The bytes of base64 in either alphabet, with or without padding. Undefined for other text. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^[\w+/-]*={0,2}$/.test(text)) return undefined
  try {
    const binary = atob(
      text
        .replaceAll('-', '+')
        .replaceAll('_', '/')
        .replace(/(?<!=)=+$/, ''),
    )
    return Uint8Array.from(binary, (unit) => unit.charCodeAt(0))
  } catch {
    return undefined
  }
}
