import { filteredPage, MAX_LOOKED_AT } from '../../../core/filtered-page.ts'
import { json } from '../../../core/http/index.ts'
import { passes } from '../../../core/metadata-filter.ts'
import { accessOf } from '../../../core/principal.ts'
import { internalsOf } from '../../../engine/index.ts'
import { containing, pageHeaders, withFields } from '../../kit/lists.ts'
import type { Read } from '../../kit/parse.ts'
import type { FaceCall } from '../../kit/routes.ts'
import type { PlatformContext } from '../context.ts'
import { assistantOf } from './fire.ts'
import {
  type CronFilter,
  type CronOrder,
  type CronRecord,
  clockOf,
  countCrons,
  dateOf,
  listCrons,
  presentCron,
} from './records.ts'
import type { cronSearchSchema } from './wire.ts'

type Query = Read<typeof cronSearchSchema>

const ORDER = {
  cron_id: 'cronId',
  assistant_id: 'assistantId',
  thread_id: 'threadId',
  created_at: 'createdAt',
  updated_at: 'updatedAt',
  next_run_date: 'nextRun',
} as const satisfies Record<string, CronOrder>

/** `POST /runs/crons/search`: newest first. */
export async function searchCrons(context: PlatformContext, call: FaceCall<Query>): Promise<Response> {
  const query = call.body
  const { limit = 10, offset = 0, select } = query
  const { crons, total } = await find(context, call, query, offset, limit)
  const now = select?.includes('now') ? dateOf(await clockOf(internalsOf(context.engine).store)) : undefined
  const shown = crons.map((cron) =>
    withFields({ ...presentCron(cron), ...(now !== undefined && { now }) }, select),
  )
  return json(shown, { headers: pageHeaders(total, offset + limit) })
}

/** `POST /runs/crons/count`. */
export async function getCronCount(context: PlatformContext, call: FaceCall<Query>): Promise<Response> {
  return json((await find(context, call, call.body, 0, 0)).total)
}

interface Page {
  readonly crons: readonly CronRecord[]
  readonly total: number
}

/** The store pages and counts. A metadata filter is applied to each cron. */
async function find(
  context: PlatformContext,
  call: FaceCall,
  query: Query,
  offset: number,
  limit: number,
): Promise<Page> {
  const { store } = internalsOf(context.engine)
  const { assistant_id, thread_id: threadId, enabled, metadata = {}, sort_by = 'created_at' } = query
  const { owner, metadataFilter } = accessOf(call.principal)
  const filter: CronFilter = {
    owner,
    assistantId:
      assistant_id === undefined
        ? undefined
        : (await assistantOf(context, call.principal, assistant_id)).assistantId,
    threadId,
    enabled,
  }
  const order = { orderBy: ORDER[sort_by], ascending: query.sort_order === 'asc' }
  const isAll = Object.keys(metadata).length === 0
  const hasMetadata = containing(metadata)
  if (isAll && !metadataFilter) {
    const crons: CronRecord[] = []
    for await (const cron of listCrons(store, { ...filter, ...order, offset, limit })) crons.push(cron)
    return { crons, total: await countCrons(store, filter) }
  }
  const lookAt = isAll ? Number.POSITIVE_INFINITY : MAX_LOOKED_AT
  const { items, total } = await filteredPage(
    listCrons(store, { ...filter, ...order, offset: 0, limit: lookAt }),
    ({ metadata }) => passes(metadataFilter, metadata) && hasMetadata(metadata),
    { offset, limit, lookAt, countTo: Number.POSITIVE_INFINITY },
  )
  return { crons: items, total }
}
