import {
  compareKeys,
  comparePositions,
  decodeCursor,
  pageOffset,
  pageSize,
  positionOf,
  toPage,
} from '../store/cursor.ts'
import type { Doc, DocIndex, DocPage, ListQuery } from '../store/store.ts'
import { createSortedList, type SortedList } from './sorted-list.ts'

/** A document in memory. Its value is JSON text, which is isolated and smaller than the object. */
interface Kept {
  readonly partition: string
  readonly id: string
  text: string
  version: number
  index: DocIndex
  expiresAt: number
}

export type Documents = ReturnType<typeof createDocuments>

type Collection = Map<string, Map<string, Kept>>
/**
 * The documents with an index field, by its name. They are sorted when the field is first used in a list, and
 * kept sorted from then on, because most fields are never used in a list.
 */
type Fields = Map<string, Set<Kept> | SortedList<Entry>>

interface Entry {
  readonly key: string | number
  readonly kept: Kept
}

interface Contents {
  readonly collections: Map<string, Collection>
  readonly indexes: Map<string, Fields>
  /** Documents with a time to live, each with its collection. */
  readonly expiring: Map<Kept, string>
  /**
   * One increasing counter for all documents: a version is never reused, neither after a delete nor after a
   * restart, because the clock seeds it.
   */
  lastVersion: number
}

export function createDocuments() {
  const collections = new Map<string, Collection>()
  const indexes = new Map<string, Fields>()
  const contents: Contents = { collections, indexes, expiring: new Map(), lastVersion: 0 }

  function find(partition: string, collection: string, id: string, now: number): Kept | undefined {
    const kept = collections.get(collection)?.get(partition)?.get(id)
    return kept && kept.expiresAt > now ? kept : undefined
  }

  return {
    collections: collections as ReadonlyMap<string, Collection>,
    get(partition: string, collection: string, id: string, now: number): Doc | undefined {
      const kept = find(partition, collection, id, now)
      return kept && toDoc(kept)
    },
    version: (partition: string, collection: string, id: string, now: number): number | undefined =>
      find(partition, collection, id, now)?.version,
    put: (collection: string, doc: Omit<Kept, 'version'>, now: number) => put(contents, collection, doc, now),
    remove: (partition: string, collection: string, id: string) =>
      remove(contents, partition, collection, id),
    clear(partition: string): void {
      for (const [collection, partitions] of collections) {
        for (const id of partitions.get(partition)?.keys() ?? []) remove(contents, partition, collection, id)
      }
    },
    has(partition: string): boolean {
      for (const partitions of collections.values()) if (partitions.has(partition)) return true
      return false
    },
    list(collection: string, query: ListQuery, now: number): DocPage {
      const from =
        query.orderBy === undefined
          ? inOrder(collections.get(collection), query)
          : ordered(sortedBy(indexes.get(collection), query.orderBy), query)
      return pageOf(from, query, now)
    },
    count(collection: string, field: string): number {
      const docs = indexes.get(collection)?.get(field)
      return docs ? sizeOf(docs) : 0
    },
    /** Removes expired documents and returns their partitions. */
    sweep: (now: number) => sweep(contents, now),
  }
}

/** Returns the version. */
function put(contents: Contents, collection: string, doc: Omit<Kept, 'version'>, now: number): number {
  const { collections, indexes, expiring } = contents
  const version = Math.max(contents.lastVersion + 1, Math.floor(now))
  contents.lastVersion = version
  const docs = at(at(collections, collection), doc.partition)
  const before = docs.get(doc.id)
  const { partition, id, text, index, expiresAt } = doc
  const kept = before ?? { partition, id, text, version, index, expiresAt }
  changeIndex(at(indexes, collection), kept, before?.index ?? {}, index)
  if (before) {
    if (before.expiresAt !== Number.POSITIVE_INFINITY) expiring.delete(before)
    before.text = text
    before.version = version
    before.index = index
    before.expiresAt = expiresAt
  } else docs.set(id, kept)
  if (expiresAt !== Number.POSITIVE_INFINITY) expiring.set(kept, collection)
  return version
}

function remove(
  { collections, indexes, expiring }: Contents,
  partition: string,
  collection: string,
  id: string,
): void {
  const partitions = collections.get(collection)
  const docs = partitions?.get(partition)
  const kept = docs?.get(id)
  if (!kept) return
  expiring.delete(kept)
  changeIndex(indexes.get(collection)!, kept, kept.index, {})
  docs!.delete(id)
  if (docs!.size === 0) partitions!.delete(partition)
  if (partitions!.size > 0) return
  collections.delete(collection)
  indexes.delete(collection)
}

function sweep(contents: Contents, now: number): Set<string> {
  const touched = new Set<string>()
  for (const [{ partition, id, expiresAt }, collection] of contents.expiring) {
    if (expiresAt > now) continue
    remove(contents, partition, collection, id)
    touched.add(partition)
  }
  return touched
}

function at<V>(map: Map<string, Map<string, V>>, key: string): Map<string, V> {
  let inner = map.get(key)
  if (!inner) map.set(key, (inner = new Map()))
  return inner
}

function toDoc({ partition, id, text, version, index }: Kept): Doc {
  return { partition, id, value: JSON.parse(text), version, index }
}

const byKey = (a: Entry, b: Entry) => compareKeys(a.key, b.key) || byPlace(a.kept, b.kept)

const byPlace = (a: Kept, b: Kept) => compareKeys(a.partition, b.partition) || compareKeys(a.id, b.id)

const sizeOf = (docs: Set<Kept> | SortedList<Entry>): number =>
  docs instanceof Set ? docs.size : docs.size()

/** Must be called before the document has the index `after`. */
function changeIndex(fields: Fields, kept: Kept, before: DocIndex, after: DocIndex): void {
  for (const field of Object.keys(before)) {
    const key = before[field]!
    const isKept = Object.hasOwn(after, field)
    if (isKept && after[field] === key) continue
    const docs = fields.get(field)!
    if (!(docs instanceof Set)) docs.remove({ key, kept })
    else if (!isKept) docs.delete(kept)
    if (sizeOf(docs) === 0) fields.delete(field)
  }
  for (const field of Object.keys(after)) {
    const key = after[field]!
    if (Object.hasOwn(before, field) && before[field] === key) continue
    const docs = fields.get(field)
    if (!docs) fields.set(field, new Set([kept]))
    else if (docs instanceof Set) docs.add(kept)
    else docs.add({ key, kept })
  }
}

function sortedBy(fields: Fields | undefined, field: string): SortedList<Entry> | undefined {
  const docs = fields?.get(field)
  if (!(docs instanceof Set)) return docs
  const entries = Array.from(docs, (kept) => ({ key: kept.index[field]!, kept }))
  const sorted = createSortedList(byKey, entries.sort(byKey))
  fields!.set(field, sorted)
  return sorted
}

/** The documents with a field, from the start of the page. */
function ordered(order: SortedList<Entry> | undefined, query: ListQuery): Iterable<Entry> {
  const { cursor, descending = false } = query
  const offset = pageOffset(query)
  const after = cursor === undefined ? undefined : decodeCursor(cursor)
  if (!order) return []
  if (!after) return order.from(descending ? order.size() - 1 - offset : offset, descending)
  const compare = ({ key, kept: { partition, id } }: Entry) => comparePositions({ key, partition, id }, after)
  return descending
    ? order.from(order.rank((entry) => compare(entry) < 0) - 1, true)
    : order.from(
        order.rank((entry) => compare(entry) <= 0),
        false,
      )
}

/** A collection's documents by partition and id, from the start of the page. */
function inOrder(collection: Collection | undefined, query: ListQuery): Iterable<Pick<Entry, 'kept'>> {
  const { partition, cursor, descending } = query
  pageOffset(query)
  const after = cursor === undefined ? undefined : decodeCursor(cursor)
  const sign = descending ? -1 : 1
  const partitions =
    partition === undefined ? [...(collection?.values() ?? [])] : [collection?.get(partition)]
  return partitions
    .flatMap((docs) => [...(docs?.values() ?? [])])
    .filter((kept) => !after || sign * comparePositions(positionOf(kept, undefined), after) > 0)
    .sort((a, b) => sign * byPlace(a, b))
    .map((kept) => ({ kept }))
}

function pageOf(from: Iterable<Pick<Entry, 'kept'>>, query: ListQuery, now: number): DocPage {
  const { partition } = query
  const where = Object.entries(query.where ?? {})
  const most = pageSize(query) + 1
  const found: Doc[] = []
  for (const { kept } of from) {
    if (found.length === most) break
    if (kept.expiresAt <= now || (partition !== undefined && kept.partition !== partition)) continue
    if (where.every(([field, value]) => Object.hasOwn(kept.index, field) && kept.index[field] === value))
      found.push(toDoc(kept))
  }
  return toPage(found, query)
}
