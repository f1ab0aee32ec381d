import { NOTHING } from '../../../core/metadata-filter.ts'
import { OWNED_BY_ALL, type Principal, userOf, withAccess } from '../../../core/principal.ts'
import { refusalOf } from './refusals.ts'

/** A user as handlers and graphs see it. */
export interface AuthUser {
  readonly identity: string
  readonly display_name: string
  readonly is_authenticated: boolean
  readonly permissions: readonly unknown[]
  readonly [claim: string]: unknown
}

/** The principal of a request, or the response that rejects it. */
export async function identify(
  authenticate: (request: Request) => unknown,
  request: Request,
): Promise<Principal | Response> {
  try {
    return principalOf(userFrom(await authenticate(request)))
  } catch (error) {
    const refusal = refusalOf(error)
    if (!refusal) throw error
    return new Response(refusal.message || 'Unauthorized', refusal)
  }
}

function userFrom(found: unknown): AuthUser {
  const user: Partial<AuthUser> = typeof found === 'string' ? { identity: found } : Object(found)
  const { identity, display_name, is_authenticated, permissions } = user
  if (typeof identity !== 'string' || identity === '')
    throw new TypeError('The auth.authenticate handler must return a string, or an object with an identity.')
  return {
    ...user,
    identity,
    display_name: display_name ?? identity,
    is_authenticated: is_authenticated ?? true,
    permissions: Array.isArray(permissions) ? permissions : [],
  }
}

/** All data has one owner, and a principal has no access until a handler has permitted it. */
const principalOf = (user: AuthUser): Principal =>
  withAccess({ ...user, id: user.identity }, { owner: OWNED_BY_ALL, metadataFilter: NOTHING, user })

/** The user of a principal. The host may have authenticated the principal itself. */
export const userOfEvent = (principal: Principal): AuthUser =>
  userFrom({ identity: principal.id, ...userOf(principal) })
