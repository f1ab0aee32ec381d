import type { StateSnapshot } from '../../agents/agent.ts'
import { filteredPage, MAX_LOOKED_AT } from '../../core/filtered-page.ts'
import { json, jsonList } from '../../core/http/index.ts'
import { eventLoopTurns } from '../../core/time.ts'
import {
  findThreads,
  hasList,
  listThreadPage,
  type MetadataValue,
  metadataOf,
  type ThreadRecord,
} from '../../engine/index.ts'
import { reporterOf } from '../kit/errors.ts'
import { containing, mapSome, pageHeaders, withFields } from '../kit/lists.ts'
import type { Read } from '../kit/parse.ts'
import type { FaceCall, FaceContext } from '../kit/routes.ts'
import type { ThreadsContext } from './context.ts'
import { valueAt } from './extract.ts'
import { newestState, presentThread } from './present.ts'
import type { threadSearchSchema } from './wire.ts'

type Query = Read<typeof threadSearchSchema>

/** The number of threads and states that one request reads at the same time. */
const READS_AT_ONCE = 8
/** The maximum of threads that a search by values looks at. It reads the state of each. */
const MAX_STATES = 1_000

/**
 * The maximum of states that one search keeps in memory, in addition to those being sent. Others are read
 * again.
 */
const MAX_KEPT = 20

/**
 * `POST /threads/search`. States are only read if a requested field comes from them, and while they are sent.
 */
export async function searchThreads(context: ThreadsContext, call: FaceCall<Query>): Promise<Response> {
  const { engine } = context
  const query = call.body
  const { limit = 10, offset = 0, select, extract } = query
  const { items, total } = await find(context, call, query, offset, limit)
  const selected = select && new Set(select)
  const isSelected = (field: string) => selected?.has(field) ?? true
  const isExtracted = (field: string) => extract?.some(([, [root]]) => root === field) ?? false
  const readsState = ['values', 'interrupts'].some((field) => isSelected(field) || isExtracted(field))
  const records = mapSome(items, READS_AT_ONCE, async ({ thread, state }) => {
    const known = state === undefined && readsState ? await newestState(engine, thread) : state
    const record = presentThread(thread, known ?? undefined)
    return {
      ...withFields(record, select),
      ...(extract && {
        extracted: Object.fromEntries(extract.map(([alias, path]) => [alias, valueAt(record, path)])),
      }),
    }
  })
  const headers = pageHeaders(total, items.length > 0 ? offset + items.length : total)
  return jsonList(records, reporterOf(context, call), { headers })
}

/** `POST /threads/count`. */
export async function countThreads({ engine }: FaceContext, call: FaceCall<Query>): Promise<Response> {
  return json((await find({ engine }, call, call.body, Number.POSITIVE_INFINITY, 0)).total)
}

interface Found {
  readonly thread: ThreadRecord
  /** The newest state, or null if there is none. Undefined if the search did not read or keep it. */
  readonly state?: StateSnapshot | null | undefined
}

interface Page {
  readonly items: readonly Found[]
  readonly total: number
}

/**
 * The store pages and counts whole lists. Narrower searches check thread by thread, up to one after the page.
 */
async function find(
  { engine }: Pick<FaceContext, 'engine'>,
  call: FaceCall,
  query: Query,
  offset: number,
  limit: number,
): Promise<Page> {
  const { principal } = call
  const { ids, status, metadata = {}, values, sort_by, sort_order } = query
  const where = listedPart(metadata)
  const list = {
    principal,
    status,
    where,
    orderBy: sort_by && ORDER[sort_by],
    ascending: sort_order === 'asc',
    lookAt: values ? MAX_STATES : MAX_LOOKED_AT,
  }
  const isWhole = !ids && !values && Object.keys(metadata).length === Object.keys(where).length
  if (isWhole && limit <= 0) return { items: [], total: await engine.countThreads(list) }
  if (isWhole) {
    const { threads, total } = await listThreadPage(engine, { ...list, offset, limit })
    return { items: threads.map((thread) => ({ thread })), total }
  }
  const threads = ids
    ? await namedThreads({ engine }, call, query)
    : engine.listThreads({ ...list, limit: list.lookAt })
  const hasMetadata = containing(metadata)
  const hasValues = containing(values)
  const kept = new Map<string, StateSnapshot | null>()
  let before = 0
  const turn = eventLoopTurns()
  const matches = async (thread: ThreadRecord): Promise<boolean> => {
    await turn()
    if (!hasMetadata(metadataOf(thread))) return false
    if (!values) return true
    const state = await newestState(engine, thread)
    if (!hasValues(state?.values ?? {})) return false
    if (before++ >= offset && kept.size < Math.min(limit, MAX_KEPT)) kept.set(thread.threadId, state ?? null)
    return true
  }
  const { items, total } = await filteredPage(threads, matches, {
    offset,
    limit,
    lookAt: Number.POSITIVE_INFINITY,
    ...(ids && { countTo: Number.POSITIVE_INFINITY }),
  })
  return { items: items.map((thread) => ({ thread, state: kept.get(thread.threadId) })), total }
}

/** The keys of a metadata search for which the store has lists. */
const listedPart = (metadata: Readonly<Record<string, unknown>>): Readonly<Record<string, MetadataValue>> =>
  Object.fromEntries(
    Object.entries(metadata).filter((pair): pair is [string, MetadataValue] => hasList(...pair)),
  )

/** The caller's threads among the ids, in the order of the search. */
async function namedThreads(
  { engine }: Pick<FaceContext, 'engine'>,
  { principal }: FaceCall,
  { ids = [], status, sort_by, sort_order }: Query,
): Promise<readonly ThreadRecord[]> {
  const key = ORDER[sort_by ?? 'updated_at']
  const asked = [...new Set(ids)].map((threadId) => ({ threadId, principal }))
  const found = (await findThreads(engine, asked)).flatMap((thread) =>
    thread && !thread.deleting && (status ?? thread.status) === thread.status ? [thread] : [],
  )
  const sign = sort_order === 'asc' ? 1 : -1
  const compare = (a: string | number, b: string | number) => (a === b ? 0 : a < b ? -1 : 1)
  const keyOf = (thread: ThreadRecord) => thread[key] ?? thread.updatedAt
  return found.sort((a, b) => sign * (compare(keyOf(a), keyOf(b)) || compare(a.threadId, b.threadId)))
}

const ORDER = {
  thread_id: 'threadId',
  status: 'status',
  created_at: 'createdAt',
  updated_at: 'updatedAt',
  state_updated_at: 'stateUpdatedAt',
} as const
