import { type Call, HttpError, type Principal } from '../http/index.ts'

export type ThreadAction =
  | 'threads:list'
  | 'threads:create'
  | 'threads:read'
  | 'threads:update'
  | 'threads:delete'
  | 'threads:stream'
  | 'runs:create'
  | 'runs:cancel'

export interface ThreadResource {
  /** Absent when listing. */
  readonly threadId?: string | undefined
  readonly assistantId?: string | undefined
}

/**
 * May refuse what ownership allows. It never allows more: another owner's thread stays unknown. Asked before anything is
 * read or changed; false or a throw refuses.
 */
export type Authorize = (
  principal: Principal | null,
  action: ThreadAction,
  resource: ThreadResource,
) => boolean | Promise<boolean>

/** Whose threads a principal sees: its tenant's, else its own. Without authentication there is one owner, null. */
export const ownerOf = (principal: Principal | null): string | null =>
  principal ? (principal.tenant ?? principal.id) : null

export async function permit(
  authorize: Authorize | undefined,
  { principal }: Call,
  action: ThreadAction,
  resource: ThreadResource,
): Promise<void> {
  if (!authorize || (await authorize(principal, action, resource))) return
  throw new HttpError(403, 'permission_denied', `Not permitted: ${action}.`)
}

const MAX_THREAD_ID = 512
/** Names that savers built on plain objects cannot keep. */
const RESERVED = new Set(['__proto__', 'constructor', 'prototype'])

/** Any text may be a thread id, within what every storage can keep. Throws 400. */
export function threadIdOf(id: string | undefined): string {
  if (id === undefined || id === '' || id.length > MAX_THREAD_ID || RESERVED.has(id) || !isText(id)) {
    throw new HttpError(
      400,
      'invalid_argument',
      `A thread id is 1 to ${MAX_THREAD_ID} characters of well-formed text without control characters, and no reserved name. A UUID will do.`,
    )
  }
  return id
}

/** Has no control characters and no half of a surrogate pair. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it looks for
const isText = (id: string): boolean => !/[\u0000-\u001f\u007f\p{Surrogate}]/u.test(id)
