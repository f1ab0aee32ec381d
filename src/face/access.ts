import { type Call, HttpError, type Principal } from '../http/index.ts'
import { filterOf, type MetadataFilter } from '../metadata-filter.ts'
import { withAccess } from '../principal.ts'

export type { FilterValue, KeyOperators, MetadataFilter } from '../metadata-filter.ts'

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

/** Reads what a client has sent: the body of a request, or the params of a command. It is not checked yet. */
export type ReadSent = () => Promise<unknown>

export interface ThreadResource {
  /** Absent when listing. */
  readonly threadId?: string | undefined
  readonly assistantId?: string | undefined
  /** Of an item of the store, or the prefix that is searched. */
  readonly namespace?: readonly string[] | undefined
  /** Of an item of the store. */
  readonly key?: string | undefined
}

/** A request that may be answered, within bounds. */
export interface Permission {
  /** Only what has such metadata is there for the principal: in lists, counts and searches, and wherever an id is named. */
  readonly filter?: MetadataFilter | undefined
  /** Fields that take the place of those of the body, such as `metadata` with more keys. */
  readonly body?: Readonly<Record<string, unknown>> | undefined
}

/**
 * Can refuse what ownership allows, or allow it within bounds, but cannot allow more: another owner's thread stays unknown. Called
 * before anything is read or changed. Returning false answers 403; an error that it throws is answered with the status of an
 * `HttpError`, otherwise with 500.
 */
export type Authorize = (
  principal: Principal | null,
  action: ThreadAction,
  resource: ThreadResource,
  sent: ReadSent,
) => boolean | Permission | Promise<boolean | Permission>

/** Who may do it, and how. */
export interface Permitted {
  /** The principal to do it as: through it the engine knows the filter. */
  readonly principal: Principal | null
  readonly body: Permission['body']
}

/** Throws `HttpError` 403 where the principal may not, and `TypeError` for an answer that is none. */
export async function permit(
  authorize: Authorize | undefined,
  { principal }: Pick<Call, 'principal'>,
  action: ThreadAction,
  resource: ThreadResource,
  sent: ReadSent = async () => undefined,
): Promise<Permitted> {
  const answer = authorize ? await authorize(principal, action, resource, sent) : true
  if (!answer) throw new HttpError(403, 'permission_denied', `Not permitted: ${action}.`)
  if (answer === true) return { principal, body: undefined }
  const { filter, body } = answer
  const metadataFilter = filter && filterOf(filter)
  return { principal: principal && withAccess(principal, { metadataFilter }), body }
}

/** The body with the fields that a permission has put in their place. In a list of bodies each gets them, beside metadata of its own. */
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
