import { AgentwireError } from '../../../core/errors.ts'
import { fromBase64, toBase64 } from '../../secrets/base64.ts'

const PREFIX = 'whsec_'
/** The length of a secret that Standard Webhooks requires, in bytes. */
const [MIN_BYTES, MAX_BYTES] = [24, 64]

const encoder = new TextEncoder()

/** Reads a webhook's secrets. Throws for invalid ones, without revealing any part of them. */
export function readSecrets(
  name: string,
  secret: string | readonly string[],
): readonly Uint8Array<ArrayBuffer>[] {
  // Undefined if an environment variable is not set.
  const texts: readonly unknown[] = Array.isArray(secret) ? secret : [secret]
  const secrets = texts.map((text) => fromBase64(String(text).replace(PREFIX, '')))
  const isGood = (bytes: Uint8Array | undefined) =>
    bytes !== undefined && bytes.length >= MIN_BYTES && bytes.length <= MAX_BYTES
  if (secrets.length === 0 || !secrets.every(isGood))
    throw new AgentwireError(
      'invalid_webhook',
      `${name}: a secret must be 'whsec_' and ${MIN_BYTES} to ${MAX_BYTES} bytes in base64. Generate one with \`echo whsec_$(openssl rand -base64 32)\`, and share it with the receiver.`,
    )
  return secrets as readonly Uint8Array<ArrayBuffer>[]
}

/**
 * The Standard Webhooks headers that receivers verify messages by. Each secret creates a signature, so a
 * receiver may know any of them.
 */
export async function signedHeaders(
  secrets: readonly Uint8Array<ArrayBuffer>[],
  { id, body, now }: { readonly id: string; readonly body: string; readonly now: number },
): Promise<Record<string, string>> {
  const timestamp = String(Math.floor(now / 1_000))
  const signed = encoder.encode(`${id}.${timestamp}.${body}`)
  const signatures = secrets.map(async (secret) => {
    const key = await crypto.subtle.importKey('raw', secret, { name: 'HMAC', hash: 'SHA-256' }, false, [
      'sign',
    ])
    return `v1,${toBase64(new Uint8Array(await crypto.subtle.sign('HMAC', key, signed)))}`
  })
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': (await Promise.all(signatures)).join(' '),
  }
}
