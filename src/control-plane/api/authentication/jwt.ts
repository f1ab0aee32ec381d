import { createRemoteJWKSet, errors, type JWTPayload, type JWTVerifyOptions, jwtVerify } from 'jose'
import { AgentwireError } from '../../../errors.ts'
import { checkOptions, type OptionTable } from '../../../options.ts'
import { algorithmsOf, type VerifyKey, type WebKey } from './algorithms.ts'
import type { Caller, VerifyToken } from './authentication.ts'

export type { Caller, VerifyKey, VerifyToken, WebKey }

export interface VerifyJwtOptions {
  /** Where the keys are, as a JSON Web Key Set. They are fetched when they are needed, and kept. */
  readonly jwksUrl?: string | undefined
  /** The key instead. */
  readonly key?: VerifyKey | undefined
  /** The `iss` that a token must have. */
  readonly issuer: string | readonly string[]
  /** The `aud` that a token must have. */
  readonly audience: string | readonly string[]
  /** The claim with the tenant, or the list of tenants. Default: each subject has a workspace of its own. */
  readonly tenantClaim?: string | undefined
  /** Such as `['RS256']`. Default: what fits the key. */
  readonly algorithms?: readonly string[] | undefined
}

const JWT_OPTIONS: OptionTable<VerifyJwtOptions> = {
  jwksUrl: 'string',
  key: 'object',
  issuer: ['required', 'string', 'list'],
  audience: ['required', 'string', 'list'],
  tenantClaim: 'string',
  algorithms: 'list',
}

/**
 * Verifies JSON Web Tokens (RFC 7519) for `bearer`. The caller's id is the claim `sub`, which is required.
 * Throws `AgentwireError` `invalid_argument` unless exactly one of `jwksUrl` and `key` is given.
 */
export function verifyJwt(options: VerifyJwtOptions): VerifyToken {
  checkOptions('verifyJwt', options, JWT_OPTIONS)
  const { jwksUrl, key, issuer, audience, tenantClaim } = options
  if ((jwksUrl === undefined) === (key === undefined)) {
    throw new AgentwireError('invalid_argument', 'verifyJwt: pass either jwksUrl or key.')
  }
  // A token names its algorithm itself. A wrong one would otherwise be reported as an error of the key.
  const algorithms = options.algorithms ?? (key && algorithmsOf(key))
  const known: JWTVerifyOptions = {
    issuer: [issuer].flat(),
    audience: [audience].flat(),
    requiredClaims: ['sub', 'exp'],
    ...(algorithms && { algorithms: [...algorithms] }),
  }
  const keySet = jwksUrl === undefined ? undefined : createRemoteJWKSet(new URL(jwksUrl))
  return async (token) => {
    try {
      const { payload } = keySet ? await jwtVerify(token, keySet, known) : await jwtVerify(token, key!, known)
      return callerOf(payload, tenantClaim)
    } catch (error) {
      if (isRefusal(error)) return null
      throw error
    }
  }
}

/** Whether the token is at fault, and not the way to the keys. */
const isRefusal = (error: unknown): boolean =>
  error instanceof errors.JOSEError &&
  !(error instanceof errors.JWKSTimeout) &&
  error.code !== 'ERR_JOSE_GENERIC'

function callerOf(claims: JWTPayload, tenantClaim: string | undefined): Caller | null {
  const { sub: id, tenant: _, tenants: __, ...others } = claims
  if (typeof id !== 'string' || id === '') return null
  const caller = { ...others, id }
  if (tenantClaim === undefined) return caller
  const named = claims[tenantClaim]
  if (typeof named === 'string' && named !== '') return { ...caller, tenant: named }
  const isList = Array.isArray(named) && named.every((one) => typeof one === 'string' && one !== '')
  // A token that should name a tenant, and does not, must not open a workspace of its own.
  return isList ? { ...caller, tenants: named as string[] } : null
}
