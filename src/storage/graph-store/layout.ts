import type { Doc, DocIndex, Json, Op } from '../store/store.ts'
import type { GraphStoreItem } from './types.ts'
import type { StoredVector } from './vectors.ts'

export const ITEMS = 'graph-items'
/** One document for each namespace that has items. Deleted when a read finds the namespace empty. */
export const NAMESPACES = 'graph-namespaces'
const NAMESPACE_ID = 'namespace'

export type Owner = string | null
type Put = Op & { readonly op: 'put' }

/** An item as it is stored: in the partition of its namespace, under its key. */
export interface StoredItem {
  readonly namespace: readonly string[]
  readonly key: string
  readonly value: Readonly<Record<string, Json>>
  /** Milliseconds since 1970. */
  readonly createdAt: number
  readonly updatedAt: number
  /** In minutes. Absent if the item does not expire. */
  readonly ttl?: number
  readonly vectors?: readonly StoredVector[]
}

/** Namespaces are written independently. The writes of one namespace are atomic. */
export const partitionOf = (owner: Owner, namespace: readonly string[]): string =>
  `graph-store:${JSON.stringify([owner, ...namespace])}`

/** The index field of an owner's items under a prefix. The longest prefix is the whole namespace. */
export const fieldOf = (owner: Owner, prefix: readonly string[]): string => JSON.stringify([owner, ...prefix])

/** The index field of the items of exactly this namespace. */
export const exactFieldOf = (owner: Owner, namespace: readonly string[]): string =>
  `=${fieldOf(owner, namespace)}`

function prefixesOf(owner: Owner, namespace: readonly string[], value: string | number): DocIndex {
  const lengths = Array.from({ length: namespace.length + 1 }, (_, length) => length)
  return Object.fromEntries(lengths.map((length) => [fieldOf(owner, namespace.slice(0, length)), value]))
}

const MINUTE_MS = 60_000

export function putItem(owner: Owner, item: StoredItem): Put {
  const { namespace, key, updatedAt, ttl } = item
  const exact = { [exactFieldOf(owner, namespace)]: updatedAt }
  return {
    op: 'put',
    collection: ITEMS,
    id: key,
    value: item as unknown as Json,
    index: { ...prefixesOf(owner, namespace, updatedAt), ...exact },
    ...(ttl !== undefined && { ttlMs: ttl * MINUTE_MS }),
  }
}

export const deleteItem = (key: string): Op => ({ op: 'delete', collection: ITEMS, id: key })

export const putNamespace = (owner: Owner, namespace: readonly string[]): Put => ({
  op: 'put',
  collection: NAMESPACES,
  id: NAMESPACE_ID,
  value: namespace,
  index: prefixesOf(owner, namespace, namespace.join('.')),
})

export const deleteNamespace: Op = { op: 'delete', collection: NAMESPACES, id: NAMESPACE_ID }

export const namespaceAt = (version: number) =>
  ({ guard: 'version', collection: NAMESPACES, id: NAMESPACE_ID, version }) as const

export const itemAt = (key: string, found: Doc | undefined) =>
  found
    ? ({ guard: 'version', collection: ITEMS, id: key, version: found.version } as const)
    : ({ guard: 'absent', collection: ITEMS, id: key } as const)

export const storedItem = ({ value }: Doc): StoredItem => value as unknown as StoredItem

export const toItem = ({ namespace, key, value, createdAt, updatedAt }: StoredItem): GraphStoreItem => ({
  value: { ...value },
  key,
  namespace: [...namespace],
  createdAt: new Date(createdAt),
  updatedAt: new Date(updatedAt),
})
