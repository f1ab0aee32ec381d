/**
 * Authenticates the caller. Replace this with your sessions or tokens: return the user, or `null` for 401.
 */
import type { Principal } from 'agentwire'

/** Users by the credentials that browsers send. `AGENT_USERS` is a list such as `ada:secret,bob:other`. */
const users = new Map(
  (process.env.AGENT_USERS ?? '')
    .split(',')
    .filter((user) => user.includes(':'))
    .map((user) => [`Basic ${btoa(user)}`, { id: user.slice(0, user.indexOf(':')) }]),
)

/** Each user has their own threads. The header makes browsers ask for a name and a password. */
export function authenticate(request: Request): Principal | Response {
  const headers = { 'www-authenticate': 'Basic realm="agents"' }
  return (
    users.get(request.headers.get('authorization') ?? '') ??
    new Response('Sign in.', { status: 401, headers })
  )
}
