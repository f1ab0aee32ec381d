process.env.BETTER_AUTH_SECRET ??= 'a-secret-of-at-least-32-characters'

// #region better-auth
import { betterAuth } from 'better-auth'
import { memoryAdapter } from 'better-auth/adapters/memory'

export const auth = betterAuth({
  baseURL: 'http://localhost:3000',
  secret: process.env.BETTER_AUTH_SECRET,
  database: memoryAdapter({ user: [], session: [], account: [], verification: [] }), // your database
  emailAndPassword: { enabled: true },
})

export async function authenticate({ headers }: Request) {
  const session = await auth.api.getSession({ headers })
  return session && { id: session.user.id, email: session.user.email }
}
// #endregion
