import type { Call } from '../../core/http/index.ts'
import { uuidOf } from '../../core/ids.ts'
import { ownerOf } from '../../core/principal.ts'
import { refusal } from '../errors.ts'
import type { SecretBox } from '../secrets/secret-box.ts'

/** A request's `Idempotency-Key`. */
export interface RequestKey {
  /** The id of the record: the same for the same caller, operation and key. */
  readonly id: string
  /** Distinguishes requests with the same key. It is keyed, because the body may contain secrets. */
  readonly fingerprint: string
}

const MAX_LENGTH = 255

/** Undefined without the header. Throws 400 for an invalid key. */
export async function requestKey(
  secrets: SecretBox,
  { params, body, call }: { readonly params: unknown; readonly body: unknown; readonly call: Call },
): Promise<RequestKey | undefined> {
  const key = call.request.headers.get('idempotency-key')
  if (key === null) return undefined
  if (key.length > MAX_LENGTH || !/^[\x21-\x7e]+$/.test(key))
    throw refusal(
      400,
      `Idempotency-Key: expected 1 to ${MAX_LENGTH} visible ASCII characters without spaces, such as a UUID.`,
    )
  const operation = [call.request.method, call.route, params]
  return {
    id: await uuidOf(['idempotency-key', ownerOf(call.principal), operation, key]),
    fingerprint: await secrets.sign(`request ${JSON.stringify([operation, body])}`),
  }
}
