import { createRemoteJWKSet, errors, type JWTPayload, type JWTVerifyOptions, jwtVerify } from 'jose'
import { AgentwireError } from '../../../core/errors.ts'
import { checkOptions, type OptionTable } from '../../../core/options.ts'
import type { Caller, VerifyToken } from './authentication.ts'

export type { Caller, VerifyKey, VerifyToken, WebKey }

export interface VerifyJwtOptions {
  /** The URL of a JSON Web Key Set. The keys are fetched on first use and cached. */
  readonly jwksUrl?: string | undefined
  /** The key. Use it instead of `jwksUrl`. */
  readonly key?: VerifyKey | undefined
  /** The required `iss` claim. */
  readonly issuer: string | readonly string[]
  /** The required `aud` claim. */
  readonly audience: string | readonly string[]
  /** The claim with the tenant, or with a list of tenants. Default: each subject has its own workspace. */
  readonly tenantClaim?: string | undefined
  /** Such as `['RS256']`. Default: the algorithms that the key supports. */
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
  // The token names its algorithm. A wrong one would otherwise be reported as a key error.
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

/** Whether the token is invalid, as opposed to an error while fetching the keys. */
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
  // A token that lacks its tenant claim must not open a workspace of its own.
  return isList ? { ...caller, tenants: named as string[] } : null
}

/** A key that verifies signatures: a `CryptoKey`, a JSON Web Key, or the bytes of a shared secret. */
type VerifyKey = CryptoKey | Uint8Array | WebKey

/** RFC 7517. */
interface WebKey {
  readonly kty: string
  readonly [member: string]: unknown
}

const HMAC = ['HS256', 'HS384', 'HS512']
const RSA = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512']
const EDWARDS = ['EdDSA', 'Ed25519']
const CURVES: Readonly<Record<string, readonly string[]>> = {
  'P-256': ['ES256'],
  'P-384': ['ES384'],
  'P-521': ['ES512'],
}
/** The prefixes of the algorithms of a `CryptoKey` with a hash. */
const HASHED: Readonly<Record<string, string>> = { 'RSASSA-PKCS1-v1_5': 'RS', 'RSA-PSS': 'PS', HMAC: 'HS' }

/** The algorithms of JSON Web Signatures (RFC 7518 §3, RFC 8037 §3.1, RFC 9864) that a key supports. */
function algorithmsOf(key: VerifyKey): readonly string[] {
  if (key instanceof Uint8Array) return HMAC
  return 'kty' in key ? ofWebKey(key as WebKey) : ofCryptoKey(key as CryptoKey)
}

function ofWebKey({ kty, crv, alg }: WebKey): readonly string[] {
  if (typeof alg === 'string') return [alg]
  if (kty === 'oct') return HMAC
  if (kty === 'RSA') return RSA
  if (kty === 'OKP') return EDWARDS
  return CURVES[String(crv)] ?? []
}

function ofCryptoKey({ algorithm }: CryptoKey): readonly string[] {
  const { name, hash, namedCurve } = algorithm as KeyAlgorithm & {
    readonly hash?: KeyAlgorithm
    readonly namedCurve?: string
  }
  if (name === 'Ed25519') return EDWARDS
  if (namedCurve !== undefined) return CURVES[namedCurve] ?? []
  // The hash is named "SHA-256".
  const prefix = HASHED[name]
  return [prefix && hash ? prefix + hash.name.slice(4) : name]
}
