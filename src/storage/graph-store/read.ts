import { isRecord } from '../../core/record.ts'
import { ConflictError } from '../errors.ts'
import { pagesOf } from '../store/pages.ts'
import type { Doc, Store } from '../store/store.ts'
import { fieldOf, ITEMS, itemAt, type Owner, partitionOf, putItem, storedItem, toItem } from './layout.ts'
import type {
  GraphStoreGet,
  GraphStoreItem,
  GraphStoreOptions,
  GraphStoreSearch,
  GraphStoreSearchItem,
} from './types.ts'
import { scoreOf, type Vectors } from './vectors.ts'

/** One owner's items, for all functions of this folder. */
export interface NamespaceItems {
  readonly store: Store
  readonly owner: Owner
  readonly options: GraphStoreOptions
}

export async function getItem(shelf: NamespaceItems, get: GraphStoreGet): Promise<GraphStoreItem | null> {
  const { store, owner } = shelf
  const doc = await store.get(partitionOf(owner, get.namespace), ITEMS, get.key)
  if (!doc) return null
  await refresh(shelf, [doc], get.refreshTtl)
  return toItem(storedItem(doc))
}

interface Found {
  readonly doc: Doc
  readonly score?: number
}

export async function searchItems(
  shelf: NamespaceItems,
  search: GraphStoreSearch,
  vectors: Vectors,
): Promise<GraphStoreSearchItem[]> {
  const { query, limit = 10, offset = 0, refreshTtl } = search
  const end = offset + limit
  const nearTo = query ? vectors.get(query) : undefined
  const found = nearTo ? await nearest(shelf, search, nearTo, end) : await newest(shelf, search, end)
  const page = found.slice(offset)
  await refresh(
    shelf,
    page.map(({ doc }) => doc),
    refreshTtl,
  )
  return page.map(({ doc, score }) => ({
    ...toItem(storedItem(doc)),
    ...(score !== undefined && { score }),
  }))
}

async function newest(
  shelf: NamespaceItems,
  search: GraphStoreSearch,
  end: number,
): Promise<readonly Found[]> {
  const found: Found[] = []
  if (end === 0) return found
  for await (const docs of matching(shelf, search, end)) {
    for (const doc of docs) if (found.push({ doc }) === end) return found
  }
  return found
}

/** Compares every item with the query. Keeps the best `end` items, and as many without vectors. */
async function nearest(
  shelf: NamespaceItems,
  search: GraphStoreSearch,
  query: Float32Array,
  end: number,
): Promise<readonly Found[]> {
  let best: Found[] = []
  const rest: Found[] = []
  for await (const docs of matching(shelf, search)) {
    for (const doc of docs) {
      const score = scoreOf(storedItem(doc).vectors, query)
      if (score !== undefined) best.push({ doc, score })
      else if (rest.length < end) rest.push({ doc })
    }
    if (best.length > end) best = best.sort(byScore).slice(0, end)
  }
  return [...best.sort(byScore), ...rest].slice(0, end)
}

const byScore = (a: Found, b: Found): number => b.score! - a.score!

/**
 * The documents under the prefix that match the filter, last changed first. Without a filter, at most
 * `wanted`.
 */
async function* matching(
  { store, owner }: NamespaceItems,
  { namespacePrefix, filter }: GraphStoreSearch,
  wanted?: number,
): AsyncGenerator<readonly Doc[], void, undefined> {
  const hasFilter = filter !== undefined && Object.keys(filter).length > 0
  const query = { orderBy: fieldOf(owner, namespacePrefix), descending: true }
  for await (const docs of pagesOf(store, ITEMS, query, hasFilter ? undefined : wanted))
    yield hasFilter ? docs.filter((doc) => matchesFilter(storedItem(doc).value, filter)) : docs
}

/**
 * Restarts the time to live of items. Skips an item that changed in the meantime, because its time has
 * restarted already.
 */
async function refresh(
  { store, owner, options }: NamespaceItems,
  docs: readonly Doc[],
  asked = options.ttl?.refreshOnRead ?? true,
): Promise<void> {
  if (!asked) return
  const mortal = docs.filter((doc) => storedItem(doc).ttl !== undefined)
  await Promise.all(
    mortal.map(async (doc) => {
      const guards = [itemAt(doc.id, doc)]
      try {
        await store.commit(doc.partition, { guards, ops: [putItem(owner, storedItem(doc))] })
      } catch (error) {
        if (!(error instanceof ConflictError)) throw error
      }
    }),
  )
}

/**
 * Whether a value matches a filter, with the rules of LangGraph's `InMemoryStore`. Objects are compared by
 * content.
 */
function matchesFilter(
  value: Readonly<Record<string, unknown>>,
  filter: Readonly<Record<string, unknown>>,
): boolean {
  return Object.entries(filter).every(([field, wanted]) => {
    const found = Object.hasOwn(value, field) ? value[field] : undefined
    if (!isConditions(wanted)) return isEqual(found, wanted)
    return Object.entries(wanted).every(([name, operand]) => CONDITIONS.get(name)!(found, operand))
  })
}

type Condition = (found: unknown, operand: unknown) => boolean

const CONDITIONS: ReadonlyMap<string, Condition> = /* @__PURE__ */ new Map<string, Condition>([
  ['$eq', isEqual],
  ['$ne', (found, operand) => !isEqual(found, operand)],
  ['$gt', (found, operand) => Number(found) > Number(operand)],
  ['$gte', (found, operand) => Number(found) >= Number(operand)],
  ['$lt', (found, operand) => Number(found) < Number(operand)],
  ['$lte', (found, operand) => Number(found) <= Number(operand)],
  ['$in', (found, operand) => isOneOf(found, operand)],
  ['$nin', (found, operand) => !isOneOf(found, operand)],
])

const isConditions = (wanted: unknown): wanted is Readonly<Record<string, unknown>> =>
  isRecord(wanted) && Object.keys(wanted).every((name) => CONDITIONS.has(name))

const isOneOf = (found: unknown, operand: unknown): boolean =>
  Array.isArray(operand) && operand.some((one) => isEqual(found, one))

function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, index) => isEqual(item, b[index]))
  if (!isRecord(a) || !isRecord(b)) return false
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && isEqual(a[key], b[key]))
  )
}
