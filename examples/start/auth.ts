/** Who calls. Replace this with your sessions or tokens: return the user, or `null` for 401. */
import type { Principal } from 'agentwire'

/** The users by what browsers send for their name and password. `AGENT_USERS` is a list such as `ada:secret,bob:other`. */
const users = new Map(
  (process.env.AGENT_USERS ?? '')
    .split(',')
    .filter((user) => user.includes(':'))
    .map((user) => [`Basic ${btoa(user)}`, { id: user.slice(0, user.indexOf(':')) }]),
)

/** Each user has their own threads. The header makes browsers ask for the name and the password. */
export function authenticate(request: Request): Principal | Response {
  const headers = { 'www-authenticate': 'Basic realm="agents"' }
  return (
    users.get(request.headers.get('authorization') ?? '') ??
    new Response('Sign in.', { status: 401, headers })
  )
}
