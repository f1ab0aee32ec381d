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

/**
 * SHA-256 (FIPS 180-4). The platform's digest runs on another thread, which takes ten times as long as
 * hashing a short text here, so only long texts use it.
 */
export async function sha256(text: string): Promise<Uint8Array> {
  const bytes = new TextEncoder().encode(text)
  return bytes.length > MAX_SHORT ? new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)) : hash(bytes)
}

/** In bytes. For longer texts the platform's digest is faster. */
const MAX_SHORT = 1_024

const BLOCK = 64

function hash(bytes: Uint8Array): Uint8Array {
  const { length } = bytes
  // The last block is padded with a one bit, zeros, and the length in bits as a 64-bit number (§5.1.1).
  const padded = new DataView(new ArrayBuffer(Math.ceil((length + 9) / BLOCK) * BLOCK))
  new Uint8Array(padded.buffer).set(bytes)
  padded.setUint8(length, 0x80)
  padded.setUint32(padded.byteLength - 4, length * 8)
  const state = INITIAL.slice()
  for (let at = 0; at < padded.byteLength; at += BLOCK) addBlock(state, padded, at)
  const digest = new DataView(new ArrayBuffer(32))
  for (const [at, word] of state.entries()) digest.setInt32(4 * at, word)
  return new Uint8Array(digest.buffer)
}

/** The message schedule, reused for each block because there are many. */
const words = /* @__PURE__ */ new Int32Array(64)

/** §6.2.2, with its variable names. */
function addBlock(state: Int32Array, message: DataView, start: number): void {
  for (let t = 0; t < 16; t++) words[t] = message.getInt32(start + 4 * t)
  for (let t = 16; t < 64; t++) {
    const [w2, w15] = [words[t - 2]!, words[t - 15]!]
    const s0 = rotated(w15, 7) ^ rotated(w15, 18) ^ (w15 >>> 3)
    const s1 = rotated(w2, 17) ^ rotated(w2, 19) ^ (w2 >>> 10)
    words[t] = s1 + words[t - 7]! + s0 + words[t - 16]!
  }
  let [a, b, c, d, e, f, g, h] = state as unknown as Word8
  for (let t = 0; t < 64; t++) {
    const s1 = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + CONSTANTS[t]! + words[t]!) | 0
    const s0 = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)
    const t2 = s0 + ((a & b) ^ (a & c) ^ (b & c))
    h = g
    g = f
    f = e
    e = (d + t1) | 0
    d = c
    c = b
    b = a
    a = (t1 + t2) | 0
  }
  const after = [a, b, c, d, e, f, g, h]
  for (let at = 0; at < 8; at++) state[at]! += after[at]!
}

type Word8 = readonly [number, number, number, number, number, number, number, number]

const rotated = (word: number, by: number): number => (word >>> by) | (word << (32 - by))

/** The first 32 bits of the fractional parts of the roots of the first primes (§4.2.2, §5.3.3). */
const fractions = (count: number, root: (prime: number) => number): Int32Array =>
  Int32Array.from(primes(count), (prime) => (root(prime) % 1) * 2 ** 32)

function primes(count: number): readonly number[] {
  const found: number[] = []
  for (let n = 2; found.length < count; n++) if (found.every((prime) => n % prime !== 0)) found.push(n)
  return found
}

const INITIAL = /* @__PURE__ */ fractions(8, Math.sqrt)
const CONSTANTS = /* @__PURE__ */ fractions(64, Math.cbrt)
