import { type Call, HttpError, type Principal } from '../http/index.ts'

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

export interface ThreadResource {
  /** Absent when listing. */
  readonly threadId?: string | undefined
  readonly assistantId?: string | undefined
  /** Of an item of the store, or the prefix that is searched. */
  readonly namespace?: readonly string[] | undefined
  /** Of an item of the store. */
  readonly key?: string | undefined
}

/**
 * May refuse what ownership allows, but cannot allow more: another owner's thread stays unknown. Called before anything is read
 * or changed; returning false or throwing refuses.
 */
export type Authorize = (
  principal: Principal | null,
  action: ThreadAction,
  resource: ThreadResource,
) => boolean | Promise<boolean>

export async function permit(
  authorize: Authorize | undefined,
  { principal }: Pick<Call, 'principal'>,
  action: ThreadAction,
  resource: ThreadResource,
): Promise<void> {
  if (!authorize || (await authorize(principal, action, resource))) return
  throw new HttpError(403, 'permission_denied', `Not permitted: ${action}.`)
}
