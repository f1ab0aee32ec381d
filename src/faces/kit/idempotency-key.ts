import { sha256, toHex } from '../../core/bytes.ts'
import { type Call, HttpError } from '../../core/http/index.ts'
import type { CommandKey } from '../../engine/index.ts'

const MAX_KEY = 255

/**
 * The key that makes a request idempotent: the header `Idempotency-Key`, otherwise `metadata.command_id` of
 * its params. Undefined if the client sent none. Throws `HttpError` 400 for an invalid key.
 */
export async function commandKey(
  { request }: Pick<Call, 'request'>,
  method: string,
  params: unknown,
): Promise<CommandKey | undefined> {
  const header = request.headers.get('idempotency-key')
  const key = header ?? field(field(params, 'metadata'), 'command_id')
  if (key === undefined || key === null) return undefined
  if (typeof key !== 'string' || key.length > MAX_KEY || !/^[\x21-\x7e]+$/.test(key)) {
    const name = header === null ? 'metadata.command_id' : 'Idempotency-Key'
    throw new HttpError(
      400,
      'invalid_argument',
      `${name}: expected 1 to ${MAX_KEY} visible ASCII characters without spaces, such as a UUID.`,
    )
  }
  return { key, fingerprint: toHex(await sha256(canonical([method, params ?? null]))) }
}

function field(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key)
    ? (value as Record<string, unknown>)[key]
    : undefined
}

/** JSON with sorted keys, so that equal values have equal text. */
function canonical(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  const fields = Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`)
  return `{${fields.join(',')}}`
}
