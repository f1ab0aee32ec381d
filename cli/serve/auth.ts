import { type Authenticate, HttpError, type Principal } from '../../src/http/index.ts'
import type { ThreadAction, ThreadResource } from '../../src/requests/access.ts'
import { ConfigError } from './config-reader.ts'
import { beyondOwner, type MetadataFilter } from './metadata-filter.ts'

/** An `Auth` of `@langchain/langgraph-sdk/auth`, as this server asks it. */
export interface ProjectAuth {
  readonly authenticate: Authenticate | undefined
  /** What its `on` handlers say. Throws `HttpError` where they refuse. */
  readonly ask: (principal: Principal, action: ThreadAction, resource: ThreadResource) => Promise<Permission>
}

export interface Permission {
  /** What the metadata of a thread must be, beside that it is the caller's. */
  readonly filter: MetadataFilter | undefined
  /** What the handler has put into the metadata of the thread. */
  readonly metadata: Readonly<Record<string, unknown>>
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
  readonly user: object
  readonly permissions: unknown
}

/** What the SDK calls our actions, where it has another word. */
const ACTIONS: Readonly<Partial<Record<ThreadAction, string>>> = {
  'threads:list': 'search',
  'threads:stream': 'read',
  'runs:create': 'create_run',
  'runs:cancel': 'update',
}

/** Throws `ConfigError` for anything but an `Auth`. */
export function authOf(value: unknown, where: string): ProjectAuth {
  const handlers = (Object(value) as Partial<AuthLike>)['~handlerCache']
  if (!handlers) throw new ConfigError(`${where} is no Auth of @langchain/langgraph-sdk/auth.`)
  const { authenticate, callbacks = {} } = handlers
  return {
    authenticate: authenticate && ((request) => identify(authenticate, request)),
    async ask(principal, action, resource) {
      const name = ACTIONS[action] ?? action.slice(action.indexOf(':') + 1)
      const handler = [`threads:${name}`, 'threads', `*:${name}`, '*']
        .map((key) => callbacks[key])
        .find((found) => found !== undefined)
      const metadata = {}
      const result =
        handler && (await call(handler, eventOf(name, { principal, action, resource, metadata })))
      if (result === false) throw refused()
      if (result == null || result === true) return { filter: undefined, metadata }
      if (typeof result === 'object') return { filter: beyondOwner({ ...result }, principal.id), metadata }
      throw new TypeError(`${where}: a handler of threads:${name} gave a ${typeof result}.`)
    },
  }
}

interface Asked {
  readonly principal: Principal
  readonly action: ThreadAction
  readonly resource: ThreadResource
  /** Handlers write into it. */
  readonly metadata: object
}

function eventOf(name: string, { principal, action, resource, metadata }: Asked): AuthEvent {
  const { threadId, assistantId } = resource
  const { id, tenant, ...user } = principal
  return {
    event: `threads:${name}`,
    resource: 'threads',
    action: name,
    value: {
      ...(threadId !== undefined && { thread_id: threadId }),
      ...(assistantId !== undefined && { assistant_id: assistantId }),
      ...(action === 'runs:cancel' && { action: 'interrupt' }),
      metadata,
    },
    user,
    permissions: user.permissions,
  }
}

async function call(handler: (event: AuthEvent) => unknown, event: AuthEvent): Promise<unknown> {
  try {
    return await handler(event)
  } catch (error) {
    const refusal = refusalOf(error)
    throw refusal ? refused(refusal) : error
  }
}

const refused = ({ status, message }: Refusal = { status: 403, message: '' }): HttpError =>
  new HttpError(status, 'permission_denied', message || 'Not permitted.')

async function identify(
  authenticate: (request: Request) => unknown,
  request: Request,
): Promise<Principal | Response> {
  try {
    const found = await authenticate(request)
    const user = typeof found === 'string' ? { identity: found } : (found as { identity?: unknown } | null)
    if (typeof user?.identity !== 'string')
      throw new TypeError('authenticate of auth has to give a string, or an object with an identity.')
    return principalOf({ ...user, identity: user.identity })
  } catch (error) {
    const refusal = refusalOf(error)
    if (!refusal) throw error
    return new Response(refusal.message || 'Unauthorized', refusal)
  }
}

/** Threads belong to the identity. A `tenant` among the claims would give them to all users who have the same one. */
function principalOf(user: { readonly identity: string; readonly permissions?: unknown }): Principal {
  const permissions = Array.isArray(user.permissions) ? user.permissions : []
  const defaults = { display_name: user.identity, is_authenticated: true }
  return { ...defaults, ...user, permissions, id: user.identity, tenant: undefined }
}

interface Refusal {
  readonly status: number
  readonly message: string
  readonly headers?: HeadersInit
}

/** An `HTTPException` of the SDK, which may be of another copy of it. */
function refusalOf(error: unknown): Refusal | undefined {
  const isRefusal = error instanceof Error && 'headers' in error && 'status' in error
  return isRefusal && typeof error.status === 'number' ? (error as Error & Refusal) : undefined
}
