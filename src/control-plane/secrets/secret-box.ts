import { concatBytes, fromBase64, toBase64 } from '../../core/bytes.ts'
import { AgentwireError } from '../../core/errors.ts'
import type { SealedSecret } from '../records/records.ts'

/**
 * Encrypts secrets at rest. `context`, such as their partition, binds them to it, so that they cannot be
 * moved to another deployment.
 */
export type SecretBox = ReturnType<typeof createSecretBox>

export interface Secret {
  readonly name: string
  readonly value: string
}

interface SecretBoxOptions {
  /**
   * 32 random bytes in base64 or base64url, the same on every instance. With several keys, the first one
   * seals and signs, and all open and verify: add a new key in front, and remove the old one when nothing is
   * sealed with it.
   */
  readonly key: string | readonly string[]
}

/** The format: `1.<id of the key>.<base64url of 12 bytes of nonce, then ciphertext and tag>`. */
const VERSION = '1'
const NONCE_BYTES = 12

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * A box that uses WebCrypto's AES-256-GCM and HMAC-SHA-256. Throws `AgentwireError` `invalid_key` for a key
 * of another length.
 */
export function createSecretBox({ key }: SecretBoxOptions) {
  const given = readKeys(key)
  let derived: Promise<readonly Keys[]> | undefined
  // Not earlier: Workers allow no random or asynchronous work while a module is loaded.
  const keys = async (): Promise<readonly [Keys, ...Keys[]]> =>
    (await (derived ??= Promise.all(given.map(deriveKeys)))) as unknown as [Keys, ...Keys[]]

  const sealOne = async (context: string, { name, value }: Secret): Promise<SealedSecret> => {
    const [{ id, sealing }] = await keys()
    const nonce = crypto.getRandomValues(new Uint8Array(NONCE_BYTES))
    const sealed = await crypto.subtle.encrypt(
      { name: 'AES-GCM', iv: nonce, additionalData: boundTo(id, context, name) },
      sealing,
      toBytes(value),
    )
    return { name, sealed: `${VERSION}.${id}.${toBase64Url(concatBytes([nonce, new Uint8Array(sealed)]))}` }
  }

  const openOne = async (context: string, { name, sealed }: SealedSecret): Promise<Secret> => {
    const { id, bytes } = parse(name, sealed)
    const known = (await keys()).find((one) => one.id === id)
    if (!known) throw unreadable(name, 'the key that encrypted it is not in `secrets.key`')
    try {
      const opened = await crypto.subtle.decrypt(
        {
          name: 'AES-GCM',
          iv: bytes.subarray(0, NONCE_BYTES),
          additionalData: boundTo(id, context, name),
        },
        known.sealing,
        bytes.subarray(NONCE_BYTES),
      )
      return { name, value: fromBytes(new Uint8Array(opened)) }
    } catch (cause) {
      throw unreadable(name, 'it was changed, or encrypted for another record or name', cause)
    }
  }

  return {
    seal: (context: string, secrets: readonly Secret[]): Promise<readonly SealedSecret[]> =>
      Promise.all(secrets.map((secret) => sealOne(context, secret))),
    /**
     * Throws `AgentwireError` `secret_unreadable` for an unknown key, and for values that were changed, renamed
     * or moved.
     */
    open: (context: string, sealed: readonly SealedSecret[]): Promise<readonly Secret[]> =>
      Promise.all(sealed.map((secret) => openOne(context, secret))),
    /**
     * A signature over the text, in base64url, for upload URLs and the state of OAuth flows. The text starts
     * with its purpose, so that a signature for one use is invalid for another.
     */
    async sign(text: string): Promise<string> {
      const [{ signing }] = await keys()
      return toBase64Url(new Uint8Array(await crypto.subtle.sign('HMAC', signing, encoder.encode(text))))
    },
    /** Whether one of the keys created the signature. The comparison takes constant time. */
    async verify(text: string, signature: string): Promise<boolean> {
      const bytes = fromBase64(signature)
      // Other spellings of the same bytes are rejected.
      if (!bytes || toBase64Url(bytes) !== signature) return false
      const signed = encoder.encode(text)
      const verified = await Promise.all(
        (await keys()).map(({ signing }) => crypto.subtle.verify('HMAC', signing, bytes, signed)),
      )
      return verified.includes(true)
    },
  }
}

/** What a sealed value is bound to in addition to its key, as unambiguous JSON. */
const boundTo = (id: string, context: string, name: string): Uint8Array<ArrayBuffer> =>
  encoder.encode(JSON.stringify([VERSION, id, context, name]))

/** UTF-8, or JSON after a NUL for text with lone surrogates or a NUL at its start. */
function toBytes(value: string): Uint8Array<ArrayBuffer> {
  const bytes = encoder.encode(value)
  const isKept = !value.startsWith('\0') && decoder.decode(bytes) === value
  return isKept ? bytes : encoder.encode(`\0${JSON.stringify(value)}`)
}

function fromBytes(bytes: Uint8Array): string {
  const text = decoder.decode(bytes)
  return text.startsWith('\0') ? JSON.parse(text.slice(1)) : text
}

function parse(
  name: string,
  sealed: string,
): { readonly id: string; readonly bytes: Uint8Array<ArrayBuffer> } {
  const [version, id, text, ...more] = sealed.split('.')
  const bytes = fromBase64(text ?? '')
  if (version !== VERSION || !id || !bytes || more.length > 0)
    throw unreadable(name, 'this release does not know its format')
  return { id, bytes }
}

const unreadable = (name: string, why: string, cause?: unknown): AgentwireError =>
  new AgentwireError('secret_unreadable', `The secret ${name} cannot be decrypted: ${why}.`, {
    ...(cause !== undefined && { cause }),
  })

/** The keys derived from one key of the embedder, so that no two uses share a key. */
interface Keys {
  /** Identifies the key in sealed values, and reveals nothing about it. */
  readonly id: string
  /** AES-256-GCM. */
  readonly sealing: CryptoKey
  /** HMAC-SHA-256. */
  readonly signing: CryptoKey
}

const KEY_BYTES = 32

/**
 * Validates the embedder's keys. Throws for one that is not base64 of 32 bytes, without revealing any part of
 * it.
 */
function readKeys(key: string | readonly string[]): readonly Uint8Array<ArrayBuffer>[] {
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
async function deriveKeys(bytes: Uint8Array<ArrayBuffer>): Promise<Keys> {
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

/** Base64 without padding, in the alphabet that URLs allow (RFC 4648 §5). */
function toBase64Url(bytes: Uint8Array): string {
  return toBase64(bytes)
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/(?<!=)=+$/, '')
}
