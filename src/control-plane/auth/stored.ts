import { uuidOf } from '../../core/ids.ts'
import type { Guard, Store } from '../../storage/index.ts'
import { listAll } from '../../storage/store/pages.ts'
import { unchanged as docUnchanged, type Stored, stored } from '../records/docs.ts'

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

export { load, put, type Stored } from '../records/docs.ts'

/** All documents of a partition. */
export const loadAll = async <T>(
  store: Store,
  collection: string,
  query: { readonly partition: string },
): Promise<readonly Stored<T>[]> => (await listAll(store, collection, query)).map((doc) => stored<T>(doc))

export const unchanged = (collection: string, read: Stored<{ readonly id: string }>): Guard =>
  docUnchanged(collection, read.record.id, read)
