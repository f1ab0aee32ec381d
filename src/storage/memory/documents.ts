import {
  comparePositions,
  decodeCursor,
  type Position,
  pageSize,
  positionOf,
  toPage,
} from '../store/cursor.ts'
import type { Doc, DocIndex, DocPage, ListQuery } from '../store/store.ts'

/** A document as it is kept in memory. Its value is JSON text: isolated by construction, and smaller than the object. */
interface Kept {
  readonly partition: string
  readonly id: string
  readonly text: string
  readonly version: number
  readonly index: DocIndex
  readonly expiresAt: number
}

export interface Documents {
  get(partition: string, collection: string, id: string, now: number): Doc | undefined
  version(partition: string, collection: string, id: string, now: number): number | undefined
  put(collection: string, doc: Omit<Kept, 'version'>, now: number): number
  remove(partition: string, collection: string, id: string): void
  clear(partition: string): void
  has(partition: string): boolean
  list(collection: string, query: ListQuery, now: number): DocPage
  /** Removes what has expired and gives the partitions it was in. */
  sweep(now: number): Set<string>
  readonly collections: ReadonlyMap<string, Collection>
}

/** By partition, then by id. */
type Collection = Map<string, Map<string, Kept>>

export function createDocuments(): Documents {
  const collections = new Map<string, Collection>()
  /** Documents with a time to live, each with its collection. */
  const expiring = new Map<Kept, string>()
  // One rising counter for all: a version never comes back, neither after a delete nor, seeded from the clock, after a restart.
  let lastVersion = 0

  function find(partition: string, collection: string, id: string, now: number): Kept | undefined {
    const kept = collections.get(collection)?.get(partition)?.get(id)
    return kept && kept.expiresAt > now ? kept : undefined
  }

  function remove(partition: string, collection: string, id: string): void {
    const partitions = collections.get(collection)
    const docs = partitions?.get(partition)
    const kept = docs?.get(id)
    if (!kept) return
    expiring.delete(kept)
    docs!.delete(id)
    if (docs!.size === 0) partitions!.delete(partition)
    if (partitions!.size === 0) collections.delete(collection)
  }

  return {
    collections,
    get(partition, collection, id, now) {
      const kept = find(partition, collection, id, now)
      return kept && toDoc(kept)
    },
    version: (partition, collection, id, now) => find(partition, collection, id, now)?.version,
    put(collection, doc, now) {
      lastVersion = Math.max(lastVersion + 1, Math.floor(now))
      const kept: Kept = { ...doc, version: lastVersion }
      const partitions = at(collections, collection)
      const docs = at(partitions, doc.partition)
      const before = docs.get(doc.id)
      if (before) expiring.delete(before)
      docs.set(doc.id, kept)
      if (kept.expiresAt !== Number.POSITIVE_INFINITY) expiring.set(kept, collection)
      return kept.version
    },
    remove,
    clear(partition) {
      for (const [collection, partitions] of collections) {
        for (const id of partitions.get(partition)?.keys() ?? []) remove(partition, collection, id)
      }
    },
    has(partition) {
      for (const partitions of collections.values()) if (partitions.has(partition)) return true
      return false
    },
    list(collection, query, now) {
      return listCollection(collections.get(collection) ?? new Map(), query, now)
    },
    sweep(now) {
      const touched = new Set<string>()
      for (const [{ partition, id, expiresAt }, collection] of expiring) {
        if (expiresAt > now) continue
        remove(partition, collection, id)
        touched.add(partition)
      }
      return touched
    },
  }
}

function at<V>(map: Map<string, Map<string, V>>, key: string): Map<string, V> {
  let inner = map.get(key)
  if (!inner) map.set(key, (inner = new Map()))
  return inner
}

function toDoc({ partition, id, text, version, index }: Kept): Doc {
  return { partition, id, value: JSON.parse(text), version, index }
}

function listCollection(partitions: Collection, query: ListQuery, now: number): DocPage {
  const { orderBy } = query
  const sign = query.descending ? -1 : 1
  const after = query.cursor === undefined ? undefined : decodeCursor(query.cursor)
  const where = Object.entries(query.where ?? {})
  const found: { kept: Kept; position: Position }[] = []
  for (const docs of query.partition === undefined
    ? partitions.values()
    : [partitions.get(query.partition)]) {
    for (const kept of docs?.values() ?? []) {
      if (kept.expiresAt <= now) continue
      if (orderBy !== undefined && !Object.hasOwn(kept.index, orderBy)) continue
      if (!where.every(([field, value]) => Object.hasOwn(kept.index, field) && kept.index[field] === value))
        continue
      const position = positionOf(kept, orderBy)
      if (after === undefined || sign * comparePositions(position, after) > 0) found.push({ kept, position })
    }
  }
  found.sort((a, b) => sign * comparePositions(a.position, b.position))
  return toPage(
    found.slice(0, pageSize(query) + 1).map(({ kept }) => toDoc(kept)),
    query,
  )
}
