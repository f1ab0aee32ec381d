import type { Authenticate } from '../../../http/index.ts'
import { type Caller, principalOf } from './caller.ts'

/** Whose a token is; null for one that is not valid. What it throws is answered with 500. */
export type VerifyToken = (token: string) => Caller | null | Promise<Caller | null>

/** Lets in who sends `Authorization: Bearer` with a token that `verify` knows, such as `verifyJwt` of `agentwire/control-plane/jwt`. */
export function bearer(verify: VerifyToken): Authenticate {
  const authenticate = async (request: Request) => {
    const [, token] = /^Bearer +(\S+) *$/i.exec(request.headers.get('authorization') ?? '') ?? []
    const caller = token === undefined ? null : await verify(token)
    return caller && principalOf(request, caller)
  }
  return Object.assign(authenticate, {
    schemes: { BearerAuth: { type: 'http', scheme: 'bearer' } } as const,
  })
}
