import { toHex } from '../../../bytes.ts'
import { AgentwireError } from '../../../errors.ts'
import type { Authenticate } from '../../../http/index.ts'
import { checkOptions } from '../../../options.ts'
import { CALLER, type Caller, principalOf } from './caller.ts'

const encoder = new TextEncoder()

/**
 * Lets in who sends one of the keys in `X-Api-Key`. They are looked up by their SHA-256, so that the time of an answer tells nothing of
 * them. Throws `AgentwireError` `invalid_argument` for an empty key.
 */
export function apiKeys(keys: Readonly<Record<string, Caller>>): Authenticate {
  checkOptions('apiKeys', keys, { '*': CALLER })
  if (Object.keys(keys).some((key) => key.trim() === '')) {
    throw new AgentwireError('invalid_argument', 'apiKeys: a key must not be empty.')
  }
  let digests: Promise<ReadonlyMap<string, Caller>> | undefined
  const authenticate = async (request: Request) => {
    const key = request.headers.get('x-api-key')
    if (!key) return null
    // Not earlier: Workers allow no asynchronous work while a module is loaded.
    const known = await (digests ??= digestsOf(keys))
    const caller = known.get(await digestOf(key))
    return caller ? principalOf(request, caller) : null
  }
  return Object.assign(authenticate, {
    schemes: { ApiKey: { type: 'apiKey', in: 'header', name: 'X-Api-Key' } } as const,
  })
}

const digestsOf = async (keys: Readonly<Record<string, Caller>>): Promise<ReadonlyMap<string, Caller>> =>
  new Map(
    await Promise.all(
      Object.entries(keys).map(async ([key, caller]) => [await digestOf(key), caller] as const),
    ),
  )

const digestOf = async (key: string): Promise<string> =>
  toHex(new Uint8Array(await crypto.subtle.digest('SHA-256', encoder.encode(key.trim()))))
