process.env.CLERK_JWT_KEY ??= 'none'

// #region clerk
import { verifyToken } from '@clerk/backend'
import { TokenVerificationError } from '@clerk/backend/errors'

const jwtKey = process.env.CLERK_JWT_KEY! // "JWKS Public Key" of the dashboard, a PEM
const authorizedParties = ['https://app.example.com'] // the origins of your pages

export async function authenticate(request: Request) {
  const token = request.headers.get('authorization')?.replace(/^Bearer /i, '')
  if (!token) return null
  try {
    const { sub } = await verifyToken(token, { jwtKey, authorizedParties })
    return { id: sub }
  } catch (error) {
    if (error instanceof TokenVerificationError && error.reason.startsWith('token-')) return null
    throw error // there is no key: 500, not 401
  }
}
// #endregion
