import { uuid7, uuidOf } from '../../core/ids.ts'
import type { Guard, Op, Store } from '../../storage/index.ts'
import { listAll } from '../../storage/store/pages.ts'
import { unchanged as docUnchanged, load, put, type Stored, stored } from '../records/docs.ts'
import type { TokenEventRecord, TokenEventType, TokenRecord } from './records.ts'

/** A partition has everything of one user of a tenant, or everything that all users of the tenant share. */
export const PROVIDERS = 'oauth-providers'
export const WORKSPACE_TOKENS = 'oauth-workspace-tokens'
export const TOKENS = 'oauth-tokens'
/** The default token's id by provider key: one document, so there is only one default. */
export const DEFAULTS = 'oauth-defaults'
export const FLOWS = 'oauth-flows'
export const CONNECTIONS = 'oauth-connections'
export const EVENTS = 'oauth-events'

/** A user's key in partition names and flow ids. It reveals neither the tenant nor the user. */
export const userKeyOf = (owner: string | null, user: string | null): Promise<string> =>
  uuidOf(['oauth-user', owner, user])

export const userPartition = (userKey: string): string => `oauth-user:${userKey}`

export const tenantPartition = async (owner: string | null): Promise<string> =>
  `oauth-tenant:${await uuidOf(['oauth-tenant', owner])}`

export { load, put, type Stored }

/** All documents of a partition. */
export const loadAll = async <T>(
  store: Store,
  collection: string,
  query: { readonly partition: string },
): Promise<readonly Stored<T>[]> => (await listAll(store, collection, query)).map((doc) => stored<T>(doc))

export const unchanged = (collection: string, read: Stored<{ readonly id: string }>): Guard =>
  docUnchanged(collection, read.record.id, read)

/** How long events are kept, in milliseconds: 90 days. */
const KEPT_MS = 90 * 86_400_000

/** Details of an event. */
export interface EventDetails {
  readonly agentId?: string | null | undefined
  readonly reason?: string | undefined
  readonly detail?: string | undefined
}

/** The op that writes an event, for the commit of the change. */
export function eventOp(
  about: Pick<TokenRecord, 'providerId' | 'scopes'> & Partial<Pick<TokenRecord, 'accountLabel'>>,
  type: TokenEventType,
  at: number,
  { agentId = null, reason, detail }: EventDetails = {},
): Op {
  const record: TokenEventRecord = {
    id: uuid7(at),
    type,
    providerId: about.providerId,
    agentId,
    accountLabel: about.accountLabel ?? null,
    scopes: about.scopes,
    reason: reason ?? null,
    detail: detail ?? null,
    createdAt: at,
  }
  return put(EVENTS, record.id, record, { index: { at, provider: record.providerId }, ttlMs: KEPT_MS })
}
