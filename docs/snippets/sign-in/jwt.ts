process.env.JWT_ISSUER ??= 'http://127.0.0.1:9/'

// #region jwt
import { createRemoteJWKSet, errors, jwtVerify } from 'jose'

const issuer = process.env.JWT_ISSUER! // such as https://example.eu.auth0.com/
const audience = process.env.JWT_AUDIENCE // the API that the token is for
const keys = createRemoteJWKSet(new URL('.well-known/jwks.json', issuer))
const OUTAGES = ['ERR_JOSE_GENERIC', 'ERR_JWKS_TIMEOUT', 'ERR_JWKS_INVALID']

export async function authenticate(request: Request) {
  const token = request.headers.get('authorization')?.replace(/^Bearer /i, '')
  if (!token) return null
  try {
    const { payload } = await jwtVerify(token, keys, { issuer, audience, requiredClaims: ['sub', 'exp'] })
    return { id: payload.sub! }
  } catch (error) {
    if (error instanceof errors.JOSEError && !OUTAGES.includes(error.code)) return null
    throw error // the keys cannot be loaded: 500, not 401
  }
}
// #endregion
