process.env.AUTH_SECRET ??= 'a-secret-of-at-least-32-characters'

// #region auth-js
import { getToken } from '@auth/core/jwt'

const secret = process.env.AUTH_SECRET!
const secureCookie = process.env.AUTH_URL?.startsWith('https:') ?? false

export async function authenticate(req: Request) {
  const token = await getToken({ req, secret, secureCookie })
  return token?.sub ? { id: token.sub, email: token.email } : null
}
// #endregion
