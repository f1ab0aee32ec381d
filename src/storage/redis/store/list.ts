import {
  comparePositions,
  decodeCursor,
  type Position,
  pageOffset,
  pageSize,
  positionOf,
  toPage,
} from '../../store/cursor.ts'
import type { Doc, DocPage, ListQuery } from '../../store/store.ts'
import { toText } from '../../text.ts'
import type { Database } from '../database.ts'
import { type Directory, GRACE_MS, WALK } from './directory.ts'
import {
  fieldOf,
  inGroups,
  isExpired,
  keyOf,
  loadFields,
  readDocument,
  readMember,
  timeOf,
  toUtf8,
} from './entries.ts'

/** Members that one call reads. The server does nothing else meanwhile. */
const LOOK_AT = 5_000

/** What a walk found in a part of a collection. Some of it may be removed by now. */
interface WalkedRange {
  readonly now: number
  /** The set of the members. */
  readonly set: string
  readonly members: readonly string[]
  /** The member that ends the range. Undefined: it extends to the end of the collection. */
  readonly end: string | undefined
}

/** Finds candidates in the directory, then reads the documents themselves in their current state. */
export async function listDocuments(
  database: Database,
  directory: Directory,
  collection: string,
  query: ListQuery,
): Promise<DocPage> {
  const { orderBy, descending = false, cursor } = query
  const limit = pageSize(query)
  let offset = pageOffset(query)
  const after = cursor === undefined ? undefined : decodeCursor(cursor)
  const sign = descending ? -1 : 1
  const found = new Map<string, Doc>()
  let from = after && `(${memberAt(orderBy, after)}\0${descending ? '' : '\x7f'}`
  for (;;) {
    const range = await walk(database, collection, query, from, limit + 1 - found.size, offset)
    // A document that has changed meanwhile, and now belongs before the offset, is not part of this page.
    const isIn = within(orderBy, sign, after, offset > 0 ? range.members[0] : undefined, range.end)
    offset = 0
    for (const doc of await loadDocuments(database, directory, collection, range)) {
      if (matches(doc, query) && isIn(positionOf(doc, orderBy))) {
        found.set(fieldOf(doc.partition, doc.id), doc)
      }
    }
    if (range.end === undefined || found.size > limit) break
    from = `(${range.end}`
  }
  const sorted = [...found.values()].sort(
    (a, b) => sign * comparePositions(positionOf(a, orderBy), positionOf(b, orderBy)),
  )
  return toPage(sorted, query)
}

function matches({ partition, index }: Doc, { partition: wanted, where = {}, orderBy }: ListQuery): boolean {
  if (wanted !== undefined && partition !== wanted) return false
  if (orderBy !== undefined && !Object.hasOwn(index, orderBy)) return false
  return Object.entries(where).every(
    ([field, value]) => Object.hasOwn(index, field) && index[field] === value,
  )
}

/** Whether a position is after the cursor and in the range. A later walk finds positions beyond its end. */
function within(
  orderBy: string | undefined,
  sign: number,
  after: Position | undefined,
  start: string | undefined,
  end: string | undefined,
): (position: Position) => boolean {
  const bytesOf = (member: string | undefined) =>
    member === undefined ? undefined : Buffer.from(member.slice(0, member.lastIndexOf('\0')))
  const [first, last] = [bytesOf(start), bytesOf(end)]
  return (position) => {
    if (after && sign * comparePositions(position, after) <= 0) return false
    if (!first && !last) return true
    const member = Buffer.from(memberAt(orderBy, position))
    if (first && sign * Buffer.compare(member, first) < 0) return false
    return !last || sign * Buffer.compare(member, last) <= 0
  }
}

/** A position's member, without its stamp. */
function memberAt(orderBy: string | undefined, { key, partition, id }: Position): string {
  const rest = `${toText(partition)}\0${toText(id)}`
  return orderBy === undefined ? rest : `${keyOf(key ?? '')}\0${rest}`
}

async function walk(
  { run, keys }: Database,
  collection: string,
  { partition, where = {}, orderBy, descending = false }: ListQuery,
  from: string | undefined,
  wanted: number,
  offset: number,
): Promise<WalkedRange> {
  const base = keys.collection(collection)
  const inPartition = partition === undefined ? '' : `${toText(partition)}\0`
  const others = Object.entries(where).map(([field, value]) => {
    const key = `${keyOf(value)}\0`
    return { set: keys.collection(collection, field), key, prefix: key + inPartition }
  })
  let driver = { set: base, key: '', prefix: inPartition }
  if (orderBy !== undefined) {
    driver = { set: keys.collection(collection, orderBy), key: '', prefix: '' }
    if (partition !== undefined) others.push({ set: base, key: '', prefix: inPartition })
  } else if (others.length > 0) {
    // Members with the same key are ordered by partition and id.
    driver = others.shift()!
  }
  const isKeyed = driver.set !== base
  const lowest = driver.prefix === '' ? '-' : `[${driver.prefix}`
  const highest = driver.prefix === '' ? '+' : `(${driver.prefix.slice(0, -1)}\x01`
  // A cursor has no key if the order has none, but the set may have one.
  const start = from === undefined || orderBy !== undefined ? from : from.replace('(', `(${driver.key}`)
  const answer = await run({
    script: WALK,
    keys: [driver.set, ...others.map(({ set }) => set)],
    args: [
      start ?? (descending ? highest : lowest),
      descending ? lowest : highest,
      descending ? 'd' : '',
      String(wanted),
      String(LOOK_AT),
      isKeyed ? '1' : '',
      inPartition,
      orderBy === undefined ? '' : '1',
      String(offset),
      ...others.flatMap(({ key, prefix }) => [key, prefix]),
    ],
  })
  const [now, ended, last, members] = answer as [number, number, Uint8Array, Uint8Array[]]
  const end = toUtf8(last)
  return {
    now,
    set: ended > 1 ? others[ended - 2]!.set : driver.set,
    members: members.map(toUtf8),
    end: ended > 0 ? undefined : orderBy === undefined ? end.slice(driver.key.length) : end,
  }
}

/** The documents of a range's members, each at least once. */
async function loadDocuments(
  database: Database,
  directory: Directory,
  collection: string,
  { now, set, members }: WalkedRange,
): Promise<Doc[]> {
  const places = members.map((member) => ({ member, ...readMember(member) }))
  const loaded = await inGroups(
    places,
    ({ partition }) => partition,
    async (partition, group) => {
      const fields = group.map(({ id }) => fieldOf(collection, id))
      const answer = await loadFields(database, database.keys.partition(partition).docs, fields)
      return group.map(({ id, stamp, member }, i): Doc | undefined => {
        const bytes = answer.found[i]
        const kept = bytes ? readDocument(partition, id, bytes) : undefined
        if (kept?.stamp !== stamp && timeOf(stamp) < now - GRACE_MS) directory.leave([{ set, member }])
        return kept && !isExpired(kept, answer.now) ? kept.doc : undefined
      })
    },
  )
  return loaded.filter((doc) => doc !== undefined)
}
