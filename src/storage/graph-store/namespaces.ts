import { ConflictError } from '../errors.ts'
import { pagesOf } from '../store/pages.ts'
import type { Store } from '../store/store.ts'
import {
  deleteNamespace,
  exactFieldOf,
  fieldOf,
  ITEMS,
  NAMESPACES,
  namespaceAt,
  type Owner,
  partitionOf,
} from './layout.ts'
import type { GraphStoreListNamespaces, GraphStoreMatch } from './types.ts'

interface Names {
  readonly store: Store
  readonly owner: Owner
}

/** How many namespaces are checked for items at the same time. */
const AT_ONCE = 20

export async function listNamespaces(
  names: Names,
  { matchConditions = [], maxDepth, limit = 100, offset = 0 }: GraphStoreListNamespaces,
): Promise<string[][]> {
  const { store, owner } = names
  const end = offset + limit
  const listed = new Map<string, string[]>()
  const orderBy = fieldOf(owner, commonPrefix(matchConditions))
  for await (const docs of pagesOf(store, NAMESPACES, { orderBy })) {
    const matching = docs.filter(({ value }) =>
      matchConditions.every((condition) => matches(value as readonly string[], condition)),
    )
    for (let at = 0; at < matching.length && listed.size < end; at += AT_ONCE) {
      const some = matching.slice(at, at + AT_ONCE)
      const cut = some.map(({ value }) => (value as readonly string[]).slice(0, maxDepth))
      const isNew = cut.map((namespace) => !listed.has(JSON.stringify(namespace)))
      const has = await Promise.all(
        some.map(async (doc, index) => {
          return isNew[index] && (await hasItems(names, doc.value as readonly string[], doc.version))
        }),
      )
      for (const [index, namespace] of cut.entries())
        if (has[index]) listed.set(JSON.stringify(namespace), namespace)
    }
    if (listed.size >= end) break
  }
  return [...listed.values()].slice(offset, end)
}

/** The prefix of all namespaces that can match: the longest prefix before a wildcard. */
function commonPrefix(conditions: readonly GraphStoreMatch[]): readonly string[] {
  const prefixes = conditions
    .filter(({ matchType }) => matchType === 'prefix')
    .map(({ path }) => (path.includes('*') ? path.slice(0, path.indexOf('*')) : path))
  return prefixes.reduce((longest, prefix) => (prefix.length > longest.length ? prefix : longest), [])
}

function matches(namespace: readonly string[], { matchType, path }: GraphStoreMatch): boolean {
  const from = matchType === 'prefix' ? 0 : namespace.length - path.length
  return (
    path.length <= namespace.length &&
    path.every((label, index) => label === '*' || label === namespace[from + index])
  )
}

/** Deletes a namespace whose last item was deleted. */
export async function dropIfEmpty(names: Names, namespace: readonly string[]): Promise<void> {
  const { store, owner } = names
  const { docs } = await store.list(NAMESPACES, { partition: partitionOf(owner, namespace), limit: 1 })
  if (docs[0]) await hasItems(names, namespace, docs[0].version)
}

/**
 * Whether a namespace has items. An empty namespace is deleted, unless it changed after its version was read.
 */
async function hasItems(
  { store, owner }: Names,
  namespace: readonly string[],
  version: number,
): Promise<boolean> {
  const { docs } = await store.list(ITEMS, { orderBy: exactFieldOf(owner, namespace), limit: 1 })
  if (docs.length > 0) return true
  try {
    await store.commit(partitionOf(owner, namespace), {
      guards: [namespaceAt(version)],
      ops: [deleteNamespace],
    })
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error
  }
  return false
}
