import { type Call, HttpError, type Principal } from '../../core/http/index.ts'
import { filterOf, type MetadataFilter } from '../../core/metadata-filter.ts'
import { withAccess } from '../../core/principal.ts'

export type { FilterValue, KeyOperators, MetadataFilter } from '../../core/metadata-filter.ts'

/** The actions that `authorize` decides about. */
export type ThreadAction =
  | 'threads:list'
  | 'threads:create'
  | 'threads:read'
  | 'threads:update'
  | 'threads:delete'
  | 'threads:stream'
  | 'runs:create'
  | 'runs:read'
  | 'runs:cancel'
  | 'runs:delete'
  | 'assistants:create'
  | 'assistants:read'
  | 'assistants:update'
  | 'assistants:delete'
  | 'assistants:search'
  | 'crons:create'
  | 'crons:read'
  | 'crons:update'
  | 'crons:delete'
  | 'crons:search'
  | 'store:put'
  | 'store:get'
  | 'store:search'
  | 'store:delete'
  | 'store:list_namespaces'

/** Reads what the client sent, unvalidated: the body of a request, or the params of a command. */
export type ReadSent = () => Promise<unknown>

/** The resource of an action. Fields that do not apply are absent. */
export interface ThreadResource {
  /** Absent when listing. */
  readonly threadId?: string | undefined
  readonly assistantId?: string | undefined
  /** Of a store item, or the prefix that is searched. */
  readonly namespace?: readonly string[] | undefined
  /** Of a store item. */
  readonly key?: string | undefined
}

/** Permission with limits. */
export interface Permission {
  /** Limits the principal to resources whose metadata match: in lists, counts, searches and lookups by id. */
  readonly filter?: MetadataFilter | undefined
  /** Fields that replace those of the body, such as `metadata` with additional keys. */
  readonly body?: Readonly<Record<string, unknown>> | undefined
}

/**
 * Restricts access within what ownership allows. It can refuse an action or limit it, but it cannot grant
 * access to another owner's resources. Called before anything is read or changed. Returning false answers
 * 403. A thrown `HttpError` is answered with its status, any other error with 500.
 */
export type Authorize = (
  principal: Principal | null,
  action: ThreadAction,
  resource: ThreadResource,
  sent: ReadSent,
) => boolean | Permission | Promise<boolean | Permission>

/** What a permission check that passed adds to its call. */
export interface Permitted {
  /** The principal to act as. It carries the filter to the engine. */
  readonly principal: Principal | null
  /** The fields that replace those of the request. */
  readonly fields: Permission['body']
  /** The request with these fields. */
  readonly json: ReadSent
}

/**
 * Returns the call to use from then on, with the limits of the permission. Throws `HttpError` 403 if the principal is not permitted, and `TypeError` if `authorize` returns an invalid
 * value.
 */
export async function permit<Asked extends Pick<Call, 'principal'>>(
  authorize: Authorize | undefined,
  call: Asked,
  action: ThreadAction,
  resource: ThreadResource,
  sent: ReadSent = async () => undefined,
): Promise<Omit<Asked, keyof Permitted> & Permitted> {
  const { principal } = call
  const answer = authorize ? await authorize(principal, action, resource, sent) : true
  if (!answer) throw new HttpError(403, 'permission_denied', `Not permitted: ${action}.`)
  if (answer === true) return { ...call, principal, fields: undefined, json: sent }
  const { filter, body } = answer
  const metadataFilter = filter && filterOf(filter)
  return {
    ...call,
    principal: principal && withAccess(principal, { metadataFilter }),
    fields: body,
    json: async () => bodyAs(await sent(), body),
  }
}

/**
 * The body with the fields that the permission replaces. In a list of bodies, each body gets them, and its
 * metadata are merged.
 */
export function bodyAs(body: unknown, permitted: Permission['body']): unknown {
  if (!permitted || Object.keys(permitted).length === 0 || typeof body === 'string') return body
  if (!Array.isArray(body)) return { ...(body as object | null | undefined), ...permitted }
  const metadata = permitted.metadata as object | undefined
  return body.map((one) => ({
    ...one,
    ...permitted,
    ...(metadata && { metadata: { ...one?.metadata, ...metadata } }),
  }))
}
