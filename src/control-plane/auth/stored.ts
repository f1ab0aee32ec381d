import { uuidOf } from '../../ids.ts'
import type { Doc, Guard, Json, ListQuery, Op, Store } from '../../storage/index.ts'
import { listAll } from '../../storage/store/pages.ts'

/** Where the records are kept. All of one user of a tenant is one partition, all that the tenant's users share another. */
export const PROVIDERS = 'oauth-providers'
export const WORKSPACE_TOKENS = 'oauth-workspace-tokens'
export const TOKENS = 'oauth-tokens'
/** By the provider's key: the id of the token that is the default. One document, so that there cannot be two defaults. */
export const DEFAULTS = 'oauth-defaults'
export const FLOWS = 'oauth-flows'
export const CONNECTIONS = 'oauth-connections'
export const EVENTS = 'oauth-events'

/** A user in the names of partitions and in the ids of flows. It tells neither the tenant nor the user. */
export const userKeyOf = (owner: string | null, user: string | null): Promise<string> =>
  uuidOf(['oauth-user', owner, user])

export const userPartition = (userKey: string): string => `oauth-user:${userKey}`

export const tenantPartition = async (owner: string | null): Promise<string> =>
  `oauth-tenant:${await uuidOf(['oauth-tenant', owner])}`

/** A record as it was read, with the version that a change of it is guarded by. */
export interface Stored<T> {
  readonly record: T
  readonly version: number
}

export async function load<T>(
  store: Store,
  partition: string,
  collection: string,
  id: string,
): Promise<Stored<T> | undefined> {
  const doc = await store.get(partition, collection, id)
  return doc && stored<T>(doc)
}

/** All documents of a list. */
export const loadAll = async <T>(
  store: Store,
  collection: string,
  query: Pick<ListQuery, 'partition'>,
): Promise<Stored<T>[]> => (await listAll(store, collection, query)).map((doc) => stored<T>(doc))

const stored = <T>(doc: Doc): Stored<T> => ({ record: doc.value as unknown as T, version: doc.version })

export const put = (
  collection: string,
  id: string,
  record: object,
  options: Pick<Op & { op: 'put' }, 'index' | 'ttlMs'> = {},
): Op => ({ op: 'put', collection, id, value: record as unknown as Json, ...options })

export const unchanged = (
  collection: string,
  { record: { id }, version }: Stored<{ readonly id: string }>,
): Guard => ({
  guard: 'version',
  collection,
  id,
  version,
})
