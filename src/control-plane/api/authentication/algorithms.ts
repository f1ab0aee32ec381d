/** A key that verifies signatures: a `CryptoKey`, a JSON Web Key, or the bytes of a shared secret. */
export type VerifyKey = CryptoKey | Uint8Array | WebKey

/** RFC 7517. */
export interface WebKey {
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
export function algorithmsOf(key: VerifyKey): readonly string[] {
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
