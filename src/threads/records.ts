import { type Call, empty, HttpError, json } from '../http/index.ts'
import { uuid7, uuidOf } from '../ids.ts'
import { ownerOf, permit, threadIdOf } from '../requests/access.ts'
import { bodyOf, numberParam } from '../requests/body.ts'
import { commandKey } from '../requests/idempotency-key.ts'
import { type RunEngine, RunError, type ThreadRecord } from '../runs/index.ts'
import { contains } from './contains.ts'
import type { ThreadsContext } from './context.ts'
import { presentThread } from './present.ts'
import { threadCreateSchema, threadPatchSchema, threadSearchSchema } from './wire.ts'

/** `GET /threads`: for a sidebar, newest first: `[{ id, title, updatedAt }]`. */
export async function getThreads({ engine, authorize }: ThreadsContext, call: Call): Promise<Response> {
  await permit(authorize, call, 'threads:list', {})
  const limit = numberParam(call, 'limit', 1_000, 1_000)
  const offset = numberParam(call, 'offset', 0, Number.MAX_SAFE_INTEGER)
  const threads = await page(engine.listThreads({ owner: ownerOf(call.principal) }), offset, limit)
  return json(
    threads.items.map(({ threadId, title, updatedAt, status }) => ({
      id: threadId,
      title,
      updatedAt: new Date(updatedAt).toISOString(),
      status,
    })),
  )
}

/** `POST /threads`. */
export async function postThread({ engine, authorize }: ThreadsContext, call: Call): Promise<Response> {
  const { thread_id, metadata, if_exists } = await bodyOf(threadCreateSchema, call)
  const owner = ownerOf(call.principal)
  const command = await commandKey(call, 'POST threads', await call.json())
  const newId = () => (command ? uuidOf([owner, command.key]) : uuid7())
  const threadId = thread_id === undefined ? await newId() : threadIdOf(thread_id)
  await permit(authorize, call, 'threads:create', { threadId })
  const created = await engine.createThread({ threadId, owner, metadata, command })
  const thread =
    created ?? (if_exists === 'do_nothing' ? await engine.findThread(threadId, owner) : undefined)
  if (!thread)
    throw new HttpError(
      409,
      'conflict',
      `Thread ${JSON.stringify(threadId)} cannot be created: choose another id.`,
    )
  return json(presentThread(thread))
}

/** `GET /threads/{thread_id}`. */
export async function getThread({ engine, authorize }: ThreadsContext, call: Call): Promise<Response> {
  const threadId = threadIdOf(call.params.thread_id)
  await permit(authorize, call, 'threads:read', { threadId })
  const thread = await engine.findThread(threadId, ownerOf(call.principal))
  if (!thread) throw notFound(threadId)
  return json(presentThread(thread))
}

/** `PATCH /threads/{thread_id}`: merges metadata. */
export async function patchThread({ engine, authorize }: ThreadsContext, call: Call): Promise<Response> {
  const threadId = threadIdOf(call.params.thread_id)
  const { metadata = {} } = await bodyOf(threadPatchSchema, call)
  await permit(authorize, call, 'threads:update', { threadId })
  return json(presentThread(await engine.patchThread(threadId, ownerOf(call.principal), metadata)))
}

/** `DELETE /threads/{thread_id}`: run, log, records and checkpoints. */
export async function deleteThread({ engine, authorize }: ThreadsContext, call: Call): Promise<Response> {
  const threadId = threadIdOf(call.params.thread_id)
  await permit(authorize, call, 'threads:delete', { threadId })
  if (!(await engine.deleteThread(threadId, ownerOf(call.principal)))) throw notFound(threadId)
  return empty(204)
}

/** `POST /threads/search` and, for the number alone, `POST /threads/count`. */
export async function searchThreads(context: ThreadsContext, call: Call): Promise<Response> {
  const { limit = 10, offset = 0, ...query } = await search(context, call)
  const { items, total } = await page(query.threads, offset, limit)
  return json(items.map(presentThread), { headers: { 'x-pagination-total': String(total) } })
}

export async function countThreads(context: ThreadsContext, call: Call): Promise<Response> {
  const { threads } = await search(context, call)
  return json((await page(threads, 0, 0)).total)
}

async function search({ engine, authorize }: ThreadsContext, call: Call) {
  const {
    metadata = {},
    values,
    ids,
    status,
    limit,
    offset,
    sort_by,
    sort_order,
  } = await bodyOf(threadSearchSchema, call)
  await permit(authorize, call, 'threads:list', {})
  const all = engine.listThreads({
    owner: ownerOf(call.principal),
    status,
    orderBy: sort_by && ORDER[sort_by],
    ascending: sort_order === 'asc',
  })
  const wanted = async (thread: ThreadRecord) =>
    (!ids || ids.includes(thread.threadId)) &&
    contains(metadataOf(thread), metadata) &&
    (!values || contains(await valuesOf(engine, thread), values))
  return { limit, offset, threads: filter(all, wanted) }
}

/** What a search matches: the SDK finds an assistant's threads by these keys. */
const metadataOf = ({ metadata, assistantId }: ThreadRecord): Readonly<Record<string, unknown>> =>
  assistantId === null ? metadata : { ...metadata, assistant_id: assistantId, graph_id: assistantId }

/** Undefined also for a state that cannot be read: one broken thread must not hide all others. */
const valuesOf = (engine: RunEngine, thread: ThreadRecord): Promise<unknown> =>
  engine.readState(thread).then(
    (state) => state?.values ?? {},
    () => undefined,
  )

const ORDER = {
  thread_id: 'threadId',
  status: 'status',
  created_at: 'createdAt',
  updated_at: 'updatedAt',
  state_updated_at: 'updatedAt',
} as const

async function* filter<T>(items: AsyncIterable<T>, wanted: (item: T) => Promise<boolean>): AsyncGenerator<T> {
  for await (const item of items) if (await wanted(item)) yield item
}

async function page<T>(
  items: AsyncIterable<T>,
  offset: number,
  limit: number,
): Promise<{ items: T[]; total: number }> {
  const taken: T[] = []
  let total = 0
  for await (const item of items) {
    if (total >= offset && taken.length < limit) taken.push(item)
    total++
  }
  return { items: taken, total }
}

/** `POST …/runs/{run_id}/cancel?wait&action`: 202 once the run was told; with `wait=1` 204 once it has ended. */
export async function cancelRun({ engine, authorize }: ThreadsContext, call: Call): Promise<Response> {
  const threadId = threadIdOf(call.params.thread_id)
  const runId = call.params.run_id!
  const { searchParams } = call.url
  await permit(authorize, call, 'runs:cancel', { threadId })
  const thread = await engine.findThread(threadId, ownerOf(call.principal))
  if (!thread) throw new RunError('no_such_run', `Run ${JSON.stringify(runId)} not found on this thread.`)
  await engine.cancel(threadId, runId, searchParams.get('action') === 'rollback' ? 'rollback' : 'interrupt')
  if (!['1', 'true'].includes(searchParams.get('wait') ?? '')) return empty(202)
  await engine.ended(threadId, runId)
  return empty(204)
}

const notFound = (threadId: string): HttpError =>
  new HttpError(404, 'not_found', `Thread ${JSON.stringify(threadId)} not found.`)
