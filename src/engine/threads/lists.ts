import { filteredPage } from '../../core/filtered-page.ts'
import { equalitiesOf, passes } from '../../core/metadata-filter.ts'
import type { Access } from '../../core/principal.ts'
import { compareKeys } from '../../storage/store/cursor.ts'
import { recordsOf } from '../../storage/store/pages.ts'
import type { Store } from '../../storage/store/store.ts'
import type { RunContext } from '../context.ts'
import { readThread, type ThreadRecord } from '../records/records.ts'
import {
  crowdedField,
  hasList,
  listField,
  type MetadataOrder,
  type MetadataValue,
  metadataField,
  metadataOf,
  type ThreadOrder,
} from '../records/thread.ts'

/** Which threads to list. */
export interface ThreadListQuery extends Access {
  readonly status?: ThreadRecord['status'] | undefined
  /**
   * Only threads whose metadata have all these values. The cost of a page does not depend on the number of
   * other threads.
   */
  readonly where?: Readonly<Record<string, MetadataValue>> | undefined
  /** Default: `updatedAt`. Ties are ordered by thread id. */
  readonly orderBy?: ThreadOrder | undefined
  readonly ascending?: boolean | undefined
  /** How many threads to skip. Default: 0. */
  readonly offset?: number | undefined
  /** The maximum number of threads. Default: all. */
  readonly limit?: number | undefined
  /** The maximum number of threads to read if no list contains exactly the requested ones. Default: all. */
  readonly lookAt?: number | undefined
}

/**
 * Up to this number of threads are sorted in memory instead of searched in a longer list with the right
 * order.
 */
const MAX_SORTED = 1_000

/**
 * How many lists by metadata are counted to find the shortest one. Each costs a call of the store, and clients
 * choose how many keys they ask for. Those of the owner's filter come first.
 */
const MAX_COUNTED = 8

/** The threads that a caller can access. Default: newest first. */
export async function* listThreads(
  { store }: RunContext,
  query: ThreadListQuery,
): AsyncGenerator<ThreadRecord> {
  const { offset = 0, limit = Number.POSITIVE_INFINITY, lookAt = Number.POSITIVE_INFINITY } = query
  const { isExact, threads } = await plan(store, query)
  if (isExact) {
    yield* threads(offset, limit)
    return
  }
  let place = 0
  let looked = 0
  if (limit <= 0) return
  for await (const thread of threads(0, lookAt)) {
    if (isAsked(query, thread)) {
      if (place++ >= offset) yield thread
      if (place >= offset + limit) return
    }
    if (++looked >= lookAt) return
  }
}

/** The number of threads that a caller can access. */
export async function countThreads(
  { store }: RunContext,
  query: Pick<ThreadListQuery, keyof Access | 'status' | 'where' | 'lookAt'>,
): Promise<number> {
  const { isExact, size, threads } = await plan(store, query)
  if (isExact) return size()
  const { lookAt = Number.POSITIVE_INFINITY } = query
  const range = { offset: Number.POSITIVE_INFINITY, limit: 0, lookAt }
  return (await filteredPage(threads(0, lookAt), (thread) => isAsked(query, thread), range)).total
}

/** Threads of a list, and the total count. */
export interface ThreadPage {
  readonly threads: readonly ThreadRecord[]
  readonly total: number
}

/** The results of `listThreads` and `countThreads`, found together. */
export async function pageOfThreads(
  { store }: RunContext,
  query: ThreadListQuery & { readonly limit: number },
): Promise<ThreadPage> {
  const { offset = 0, limit, lookAt = Number.POSITIVE_INFINITY } = query
  const { isExact, size, threads: listed } = await plan(store, query)
  if (isExact) {
    const threads: ThreadRecord[] = []
    for await (const thread of listed(offset, limit)) threads.push(thread)
    // A page that is not full shows where the list ends.
    const isLast = threads.length < limit && (threads.length > 0 || offset === 0)
    return { threads, total: isLast ? offset + threads.length : await size() }
  }
  const range = { offset, limit, lookAt, countTo: Number.POSITIVE_INFINITY }
  const page = await filteredPage(listed(0, lookAt), (thread) => isAsked(query, thread), range)
  return { threads: page.items, total: page.total }
}

/** The lists to search for threads. */
interface Plan {
  /** Whether the list contains exactly the requested threads. */
  readonly isExact: boolean
  size(): Promise<number>
  threads(offset: number, limit: number): AsyncIterable<ThreadRecord>
}

type Listed = Pick<ThreadListQuery, keyof Access | 'status' | 'where' | 'orderBy' | 'ascending'>

/** The metadata values that all requested threads have. */
const valuesOf = ({ where, metadataFilter }: Listed) => ({
  ...(metadataFilter && equalitiesOf(metadataFilter)),
  ...where,
})

/** Whether the filter requires only these values. */
const isCovered = ({ metadataFilter = {} }: Listed, values: Readonly<Record<string, unknown>>): boolean =>
  Object.entries(metadataFilter).every(
    ([key, wanted]) => Object.hasOwn(values, key) && values[key] === wanted,
  )

/** Chooses the shortest list that contains all requested threads. */
async function plan(store: Store, query: Listed): Promise<Plan> {
  const { owner, status, orderBy = 'updatedAt' } = query
  const values = valuesOf(query)
  // Threads with one status are ordered by id if ordered by status.
  const order = status !== undefined && orderBy === 'status' ? 'threadId' : orderBy
  const sizeOf = (field: string) => store.count('threads', field)
  const whole: Plan = {
    isExact: Object.keys(values).length === 0 && isCovered(query, values),
    size: () => sizeOf(listField(owner, 'threadId', status)),
    threads: (offset, limit) => readList(store, query, listField(owner, order, status), offset, limit),
  }
  if (whole.isExact) return whole
  const narrow = await narrowest(sizeOf, query)
  if (!narrow) return whole
  const isOne = Object.keys(values).length === 1 && isCovered(query, values)
  const isExact = narrow.crowded === 0 && isOne && status === undefined
  const { size } = narrow
  if (!isExact && size >= (await whole.size())) return whole
  const fieldsBy = (by: MetadataOrder) => [
    metadataField(owner, by, ...narrow.pair),
    ...(narrow.crowded > 0 ? [crowdedField(owner, by)] : []),
  ]
  const found = { isExact, size: async () => size }
  if (order === 'createdAt' || order === 'updatedAt') {
    const threads: Plan['threads'] = (offset, limit) =>
      isExact
        ? readList(store, query, fieldsBy(order)[0]!, offset, limit)
        : merged(
            fieldsBy(order).map((field) => readList(store, query, field, 0, limit)),
            comparing(order, query),
          )
    return { ...found, threads }
  }
  if (size > MAX_SORTED) return whole
  return {
    isExact: false,
    size: found.size,
    async *threads() {
      const threads = new Map<string, ThreadRecord>()
      for (const field of fieldsBy('updatedAt'))
        for await (const thread of readList(store, query, field, 0, Number.POSITIVE_INFINITY))
          threads.set(thread.threadId, thread)
      yield* [...threads.values()].sort(comparing(order, query))
    },
  }
}

/** The shortest list by metadata, with its length including the crowded threads. */
async function narrowest(
  sizeOf: (field: string) => Promise<number>,
  query: Listed,
): Promise<{ pair: readonly [string, MetadataValue]; size: number; crowded: number } | undefined> {
  const { owner } = query
  const pairs = Object.entries(valuesOf(query))
    .filter((pair): pair is [string, MetadataValue] => hasList(...pair))
    .slice(0, MAX_COUNTED)
  if (pairs.length === 0) return undefined
  const [crowded, ...sizes] = await Promise.all([
    sizeOf(crowdedField(owner, 'updatedAt')),
    ...pairs.map((pair) => sizeOf(metadataField(owner, 'updatedAt', ...pair))),
  ])
  const size = Math.min(...sizes)
  return { pair: pairs[sizes.indexOf(size)]!, size: size + crowded!, crowded: crowded! }
}

const readList = (
  store: Store,
  { ascending }: Listed,
  field: string,
  offset: number,
  limit: number,
): AsyncGenerator<ThreadRecord> =>
  recordsOf(readThread, store, 'threads', { orderBy: field, descending: !ascending, offset }, limit)

type Compare = (a: ThreadRecord, b: ThreadRecord) => number

function comparing(order: ThreadOrder, { ascending }: Listed): Compare {
  const sign = ascending ? 1 : -1
  return (a, b) => sign * (compareKeys(a[order], b[order]) || compareKeys(a.threadId, b.threadId))
}

/** Merges lists with the same order. A thread in several lists is returned once. */
async function* merged(
  lists: readonly AsyncGenerator<ThreadRecord>[],
  compare: Compare,
): AsyncGenerator<ThreadRecord> {
  const heads = await Promise.all(lists.map((list) => list.next()))
  for (;;) {
    const open = heads.flatMap(({ value, done }) => (done ? [] : [value as ThreadRecord]))
    if (open.length === 0) return
    const first = open.reduce((a, b) => (compare(b, a) < 0 ? b : a))
    yield first
    for (const [at, { value, done }] of heads.entries())
      if (!done && (value as ThreadRecord).threadId === first.threadId) heads[at] = await lists[at]!.next()
  }
}

/** Whether a thread of a longer list was requested. */
function isAsked({ status, where = {}, metadataFilter }: Listed, thread: ThreadRecord): boolean {
  const metadata = metadataOf(thread)
  return (
    (status ?? thread.status) === thread.status &&
    passes(metadataFilter, thread.metadata) &&
    Object.entries(where).every(([key, value]) => Object.hasOwn(metadata, key) && metadata[key] === value)
  )
}
