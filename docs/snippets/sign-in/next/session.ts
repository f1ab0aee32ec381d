// #region session
import { jwtVerify, SignJWT } from 'jose'

const key = new TextEncoder().encode(process.env.SESSION_SECRET)

/** The value of the cookie, for the route that signs a user in. */
export const sessionOf = (id: string) =>
  new SignJWT().setProtectedHeader({ alg: 'HS256' }).setSubject(id).setExpirationTime('7d').sign(key)

export async function userOf(session: string | undefined) {
  if (!session) return undefined
  try {
    const { payload } = await jwtVerify<{ sub: string; exp: number }>(session, key)
    return { id: payload.sub, expiresAt: payload.exp * 1000 }
  } catch {
    return undefined // forged, or expired
  }
}
// #endregion
