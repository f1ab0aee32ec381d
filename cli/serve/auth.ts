import { type Authenticate, HttpError, type Principal } from '../../src/http/index.ts'
import type { Authorize, ThreadAction } from '../../src/requests/access.ts'
import { ConfigError } from './config.ts'

/** What an `Auth` of `@langchain/langgraph-sdk/auth` becomes here. */
export interface ProjectAuth {
  readonly authenticate: Authenticate | undefined
  readonly authorize: Authorize
}

interface AuthLike {
  readonly '~handlerCache': {
    readonly authenticate?: (request: Request) => unknown
    readonly callbacks?: Readonly<Record<string, (event: AuthEvent) => unknown>>
  }
}

interface AuthEvent {
  readonly event: string
  readonly resource: string
  readonly action: string
  readonly value: Readonly<Record<string, unknown>>
  readonly user: unknown
  readonly permissions: readonly string[]
}

/** What the SDK calls our actions. */
const ACTIONS: Readonly<Record<ThreadAction, string>> = {
  'threads:list': 'search',
  'threads:create': 'create',
  'threads:read': 'read',
  'threads:stream': 'read',
  'threads:update': 'update',
  'threads:delete': 'delete',
  'runs:create': 'create_run',
  'runs:cancel': 'update',
}

/** Throws `ConfigError` for anything but an `Auth`. */
export function authOf(value: unknown, where: string): ProjectAuth {
  const handlers = (Object(value) as Partial<AuthLike>)['~handlerCache']
  if (!handlers) throw new ConfigError(`${where} is no Auth of @langchain/langgraph-sdk/auth.`)
  const { authenticate, callbacks = {} } = handlers
  return {
    authenticate: authenticate && (async (request) => identify(authenticate, request)),
    async authorize(principal, action, { threadId, assistantId }) {
      const name = ACTIONS[action]
      const handler = [`threads:${name}`, 'threads', `*:${name}`, '*']
        .map((key) => callbacks[key])
        .find((found) => found !== undefined)
      if (!handler || !principal) return true
      const value = {
        ...(threadId !== undefined && { thread_id: threadId }),
        ...(assistantId !== undefined && { assistant_id: assistantId }),
        ...(action === 'runs:cancel' && { action: 'interrupt' }),
        metadata: {},
      }
      const user = userOf(principal)
      const event = { event: `threads:${name}`, resource: 'threads', action: name, value, user }
      try {
        return (await handler({ ...event, permissions: user.permissions })) !== false
      } catch (error) {
        const refusal = refusalOf(error)
        throw refusal ? new HttpError(refusal.status, 'permission_denied', refusal.message) : error
      }
    },
  }
}

async function identify(
  authenticate: (request: Request) => unknown,
  request: Request,
): Promise<Principal | Response> {
  try {
    const found = await authenticate(request)
    const user = typeof found === 'string' ? { identity: found } : (found as { identity?: unknown } | null)
    if (typeof user?.identity !== 'string')
      throw new TypeError('authenticate of auth has to give a string, or an object with an identity.')
    // Threads belong to the identity. A `tenant` among the claims would give them to all users who have the same one.
    return withDefaults({ ...user, id: user.identity, tenant: undefined })
  } catch (error) {
    const refusal = refusalOf(error)
    if (!refusal) throw error
    return new Response(refusal.message || 'Unauthorized', refusal)
  }
}

const withDefaults = (user: Principal): Principal => ({
  display_name: user.identity,
  is_authenticated: true,
  ...user,
  permissions: Array.isArray(user.permissions) ? user.permissions : [],
})

function userOf({ id, tenant, ...user }: Principal) {
  return { ...user, permissions: user.permissions as readonly string[] }
}

interface Refusal {
  readonly status: number
  readonly message: string
  readonly headers?: HeadersInit
}

/** An `HTTPException` of the SDK, which may be of another copy of it. */
function refusalOf(error: unknown): Refusal | undefined {
  const found = Object(error) as Partial<Refusal>
  const isRefusal = error instanceof Error && typeof found.status === 'number' && 'headers' in found
  return isRefusal ? (found as Refusal) : undefined
}
