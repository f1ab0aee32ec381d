import { AgentwireError } from '../../core/errors.ts'
import { fromBase64, toBase64Url } from './base64.ts'

/** The keys derived from one key of the embedder, so that no two uses share a key. */
export interface Keys {
  /** Identifies the key in sealed values, and reveals nothing about it. */
  readonly id: string
  /** AES-256-GCM. */
  readonly sealing: CryptoKey
  /** HMAC-SHA-256. */
  readonly signing: CryptoKey
}

const KEY_BYTES = 32
const encoder = new TextEncoder()

/**
 * Validates the embedder's keys. Throws for one that is not base64 of 32 bytes, without revealing any part of
 * it.
 */
export function readKeys(key: string | readonly string[]): readonly Uint8Array<ArrayBuffer>[] {
  // Undefined if an environment variable is not set.
  const texts: readonly unknown[] = Array.isArray(key) ? key : [key]
  const keys = texts.map((text) => fromBase64(String(text).trim()))
  if (keys.length === 0 || keys.some((bytes) => bytes?.length !== KEY_BYTES))
    throw new AgentwireError(
      'invalid_key',
      `secrets.key: each key must be ${KEY_BYTES} bytes in base64. Generate one with \`openssl rand -base64 ${KEY_BYTES}\`, keep it out of the code, and use the same key in every instance.`,
    )
  return keys as readonly Uint8Array<ArrayBuffer>[]
}

/** HKDF-SHA-256 (RFC 5869), with a name for each use. */
export async function deriveKeys(bytes: Uint8Array<ArrayBuffer>): Promise<Keys> {
  const root = await crypto.subtle.importKey('raw', bytes, 'HKDF', false, ['deriveBits', 'deriveKey'])
  const derivation = (use: string) => ({
    name: 'HKDF',
    hash: 'SHA-256',
    salt: new Uint8Array(0),
    info: encoder.encode(`agentwire secrets ${use}`),
  })
  const [id, sealing, signing] = await Promise.all([
    crypto.subtle.deriveBits(derivation('id'), root, 48),
    crypto.subtle.deriveKey(derivation('sealing'), root, { name: 'AES-GCM', length: 256 }, false, [
      'encrypt',
      'decrypt',
    ]),
    crypto.subtle.deriveKey(
      derivation('signing'),
      root,
      { name: 'HMAC', hash: 'SHA-256', length: 256 },
      false,
      ['sign', 'verify'],
    ),
  ])
  return { id: toBase64Url(new Uint8Array(id)), sealing, signing }
}
