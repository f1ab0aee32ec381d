/** Base64 without padding, in the alphabet that URLs allow (RFC 4648 §5). */
export function toBase64Url(bytes: Uint8Array): string {
  return toBase64(bytes)
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/(?<!=)=+$/, '')
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
