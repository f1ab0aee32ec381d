import { AgentwireError } from '../../../core/errors.ts'
import { type Authenticate, HttpError } from '../../../core/http/index.ts'
import { filterOf, NOTHING } from '../../../core/metadata-filter.ts'
import { OWNED_BY_ALL, type Principal, userOf, withAccess } from '../../../core/principal.ts'
import { type Fields, isRecord } from '../../../messages/record.ts'
import type { Authorize, ThreadAction, ThreadResource } from '../../kit/access.ts'

/** The part of an `Auth` from `@langchain/langgraph-sdk/auth` that a server uses. */
export interface LangGraphAuth {
  readonly '~handlerCache': {
    readonly authenticate?: ((request: Request) => unknown) | undefined
    readonly callbacks?: Readonly<Record<string, (event: never) => unknown>> | undefined
  }
}

/** The server options that `langgraphAuth` returns. */
export interface LangGraphAuthOptions {
  readonly authenticate: Authenticate
  readonly authorize: Authorize
}

/**
 * Turns an `Auth` from `@langchain/langgraph-sdk/auth` into server options:
 * `createAgentServer({ agents, ...langgraphAuth(auth) })`. As on LangGraph's platform, only its filters
 * restrict access: if no handler returns a filter, every authenticated user sees everything. Throws
 * `AgentwireError` if the value is not an `Auth`, or if it has no `authenticate`, because it would accept
 * everyone. See docs/users.md.
 */
export function langgraphAuth(auth: LangGraphAuth): LangGraphAuthOptions {
  const handlers = (Object(auth) as Partial<LangGraphAuth>)['~handlerCache']
  if (!handlers) throw unusable('is not an Auth from @langchain/langgraph-sdk/auth.')
  const { authenticate } = handlers
  if (!authenticate)
    throw unusable('has no authenticate handler and would let everyone in: call auth.authenticate().')
  return {
    authenticate: (request) => identify(authenticate, request),
    async authorize(principal, asked, resource, read) {
      const event = nameOf(asked)
      const [type, action] = event.split(':') as [string, string]
      const handler = [event, type, `*:${action}`, '*']
        .map((key) => handlers.callbacks?.[key])
        .find((found) => found !== undefined)
      if (!handler) return {}
      if (!principal) throw new TypeError(`${event} requires an authenticated user.`)
      const sent = await read()
      const user = userOfEvent(principal)
      const value = valueFor(event, sent, resource)
      const asks = { event, resource: type, action, value, user, permissions: user.permissions }
      const answer = await refusing(() => handler(asks as never))
      if (answer === false) return false
      const filter =
        answer == null || answer === true ? undefined : filterOf(answer, `The answer of ${event}`)
      return { filter, body: fieldsAfter(event, sent, value) }
    },
  }
}

const unusable = (why: string): AgentwireError => new AgentwireError('invalid_argument', why)

/** A user as handlers and graphs see it. */
interface AuthUser {
  readonly identity: string
  readonly display_name: string
  readonly is_authenticated: boolean
  readonly permissions: readonly unknown[]
  readonly [claim: string]: unknown
}

/** The principal of a request, or the response that rejects it. */
async function identify(
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
const userOfEvent = (principal: Principal): AuthUser =>
  userFrom({ identity: principal.id, ...userOf(principal) })

/** The content of an `HTTPException`, from any copy of the SDK. */
interface Refusal {
  readonly status: number
  readonly message: string
  readonly headers: Headers
}

/** Undefined for any other error. */
function refusalOf(error: unknown): Refusal | undefined {
  const { status, message, headers } = Object(error) as Partial<Record<keyof Refusal, unknown>>
  if (typeof status !== 'number' || headers === undefined) return undefined
  // Any other status is a response, not a rejection.
  if (!Number.isInteger(status) || status < 400 || status > 599) return undefined
  return {
    status,
    message: typeof message === 'string' ? message : '',
    headers: new Headers((headers ?? {}) as HeadersInit),
  }
}

/**
 * Calls a handler. Throws `HttpError` if the handler throws an `HTTPException`, and rethrows other errors.
 */
async function refusing<T>(handler: () => T | Promise<T>): Promise<T> {
  try {
    return await handler()
  } catch (error) {
    const refusal = refusalOf(error)
    if (!refusal) throw error
    const { status, message, headers } = refusal
    throw new HttpError(status, CODES[status] ?? 'permission_denied', message || 'Not permitted.', {
      headers: Object.fromEntries(headers),
      cause: error,
    })
  }
}

const CODES: Readonly<Record<number, string>> = {
  401: 'unauthorized',
  404: 'not_found',
  409: 'conflict',
  429: 'too_many_requests',
}

/** Our actions that have another event name in an `Auth`. */
const NAMES: Readonly<Partial<Record<ThreadAction, string>>> = {
  'threads:list': 'threads:search',
  'threads:stream': 'threads:read',
  'runs:create': 'threads:create_run',
  'runs:read': 'threads:read',
  'runs:cancel': 'threads:update',
  'runs:delete': 'threads:delete',
}

/** Such as `threads:create_run`. */
const nameOf = (action: ThreadAction): string => NAMES[action] ?? action

/** Events whose handlers may set metadata, which is stored with what the request creates or changes. */
const WITH_METADATA = /^(threads:(create|create_run|update)|(assistants|crons):(create|update))$/

/** The body field that handlers see as `namespace`, if its name differs. */
const NAMESPACES: Fields = { 'store:search': 'namespace_prefix', 'store:list_namespaces': 'prefix' }
const namespaceField = (event: string): string => (NAMESPACES[event] as string | undefined) ?? 'namespace'

/** Fields of a run request that are not part of its `kwargs`. */
const OF_RUN = [
  'metadata',
  'multitask_strategy',
  'if_not_exists',
  'after_seconds',
  'thread_id',
  'assistant_id',
]

/** The value that handlers receive for a request. They may change it: it is a copy. */
function valueFor(event: string, sent: unknown, resource: ThreadResource): Record<string, unknown> {
  const { metadata, ...fields }: Fields = structuredClone(isRecord(sent) ? sent : {})
  const { threadId, assistantId, namespace, key } = resource
  return {
    ...(event === 'threads:create_run' ? runFields(fields) : fields),
    ...(namespace && { namespace: [...namespace] }),
    ...(key !== undefined && { key }),
    ...(threadId !== undefined && { thread_id: threadId }),
    ...(assistantId !== undefined && { assistant_id: assistantId }),
    ...((WITH_METADATA.test(event) || metadata != null) && { metadata: metadata ?? {} }),
  }
}

function runFields(fields: Fields): Fields {
  const entries = Object.entries(fields)
  return {
    status: 'pending',
    ...Object.fromEntries(entries.filter(([name]) => OF_RUN.includes(name))),
    kwargs: Object.fromEntries(entries.filter(([name]) => !OF_RUN.includes(name))),
  }
}

/**
 * The request's fields after a handler has changed them: its metadata, and the namespace of a store. Throws
 * `TypeError` for values of another type.
 */
function fieldsAfter(event: string, sent: unknown, value: Fields): Fields {
  const { metadata, namespace } = value
  if (event.startsWith('store:')) {
    if (namespace === undefined) return {}
    if (!Array.isArray(namespace))
      throw new TypeError(`A handler of ${event} set a namespace that is not an array.`)
    return { [namespaceField(event)]: namespace }
  }
  const given = isRecord(sent) ? sent.metadata : undefined
  // The endpoint rejects metadata of another type.
  if (!WITH_METADATA.test(event) || (given != null && !isRecord(given))) return {}
  if (!isRecord(metadata)) throw new TypeError(`A handler of ${event} set metadata that is not an object.`)
  return given == null && Object.keys(metadata).length === 0 ? {} : { metadata }
}
