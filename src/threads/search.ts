import type * as z from 'zod'
import type { StateSnapshot } from '../agents/agent.ts'
import { json, jsonList } from '../http/index.ts'
import { bodyOf } from '../requests/body.ts'
import { containing } from '../requests/contains.ts'
import { mapSome, page } from '../requests/lists.ts'
import type { FaceCall, FaceContext } from '../requests/routes.ts'
import type { ThreadRecord } from '../runs/index.ts'
import { reporterOf, type ThreadsContext } from './context.ts'
import { newestState } from './newest-state.ts'
import { metadataOf, presentThread } from './present.ts'
import { threadSearchSchema } from './wire.ts'

/** How many states one request reads at once. */
const READS_AT_ONCE = 8

/** How many states of one search are in memory at once, beside those that are being sent. Others are read again. */
const MAX_KEPT = 20

/** `POST /threads/search`. States are read only where the caller wants a field that comes from them, and while they are sent. */
export async function searchThreads(context: ThreadsContext, call: FaceCall): Promise<Response> {
  const { engine } = context
  const query = await bodyOf(threadSearchSchema, call)
  const { limit = 10, offset = 0, select } = query
  const { items, total } = await page(find(context, call, query), offset, limit)
  const selected = select && new Set(select)
  const isSelected = (field: string) => selected?.has(field) ?? true
  const readsState = isSelected('values') || isSelected('interrupts')
  const records = mapSome(items, READS_AT_ONCE, async ({ thread, state }) => {
    const known = state === undefined && readsState ? await newestState(engine, thread) : state
    const record = presentThread(thread, known ?? undefined)
    return select ? Object.fromEntries(Object.entries(record).filter(([field]) => isSelected(field))) : record
  })
  const headers = { 'x-pagination-total': String(total) }
  return jsonList(records, reporterOf(context, call), { headers })
}

/** `POST /threads/count`. */
export async function countThreads({ engine }: FaceContext, call: FaceCall): Promise<Response> {
  const query = await bodyOf(threadSearchSchema, call)
  return json((await page(find({ engine }, call, query), 0, 0)).total)
}

interface Found {
  readonly thread: ThreadRecord
  /** Its newest state, or null where there is none. Undefined where the search has not read it, or not kept it. */
  readonly state: StateSnapshot | null | undefined
}

async function* find(
  { engine }: Pick<FaceContext, 'engine'>,
  { principal }: FaceCall,
  { metadata = {}, values, ids, status, sort_by, sort_order }: z.output<typeof threadSearchSchema>,
): AsyncGenerator<Found> {
  const orderBy = sort_by && ORDER[sort_by]
  const wanted = ids && new Set(ids)
  const hasMetadata = containing(metadata)
  const hasValues = containing(values)
  let kept = 0
  for await (const thread of engine.listThreads({
    principal,
    status,
    orderBy,
    ascending: sort_order === 'asc',
  })) {
    if (wanted && !wanted.has(thread.threadId)) continue
    if (!hasMetadata(metadataOf(thread))) continue
    const state = values && ((await newestState(engine, thread)) ?? null)
    if (values && !hasValues(state?.values ?? {})) continue
    yield { thread, state: kept++ < MAX_KEPT ? state : undefined }
  }
}

const ORDER = {
  thread_id: 'threadId',
  status: 'status',
  created_at: 'createdAt',
  updated_at: 'updatedAt',
  state_updated_at: 'updatedAt',
} as const
