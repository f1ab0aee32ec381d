import { empty, HttpError, json } from '../http/index.ts'
import { uuid7, uuidOf } from '../ids.ts'
import { ownerOf } from '../principal.ts'
import { bodyOf } from '../requests/body.ts'
import { contains } from '../requests/contains.ts'
import { commandKey } from '../requests/idempotency-key.ts'
import { threadIdOf } from '../requests/ids.ts'
import { filter, numberParam, page } from '../requests/lists.ts'
import type { FaceCall, FaceContext } from '../requests/routes.ts'
import type { AgentEngine, ThreadRecord } from '../runs/index.ts'
import { presentThread } from './present.ts'
import { threadCreateSchema, threadPatchSchema, threadSearchSchema } from './wire.ts'

/** `GET /threads`: for a sidebar, newest first: `[{ id, title, updatedAt }]`. */
export async function getThreads({ engine }: FaceContext, call: FaceCall): Promise<Response> {
  const limit = numberParam(call, 'limit', 1_000, 1_000)
  const offset = numberParam(call, 'offset', 0, Number.MAX_SAFE_INTEGER)
  const threads = await page(engine.listThreads({ principal: call.principal }), offset, limit)
  return json(
    threads.items.map(({ threadId, title, updatedAt, status }) => ({
      id: threadId,
      title,
      updatedAt: new Date(updatedAt).toISOString(),
      status,
    })),
  )
}

/** The thread id that `POST /threads` names, if it does not leave the choice to the server. */
export async function namedThread(call: Pick<FaceCall, 'json'>): Promise<{ readonly threadId?: string }> {
  const { thread_id } = await bodyOf(threadCreateSchema, call)
  return thread_id === undefined ? {} : { threadId: threadIdOf(thread_id) }
}

/** `POST /threads`. */
export async function postThread({ engine }: FaceContext, call: FaceCall): Promise<Response> {
  const { metadata, if_exists } = await bodyOf(threadCreateSchema, call)
  const { principal } = call
  const command = await commandKey(call, 'POST threads', await call.json())
  const newId = () => (command ? uuidOf([ownerOf(principal), command.key]) : uuid7())
  const threadId = (await namedThread(call)).threadId ?? (await newId())
  const created = await engine.createThread({ threadId, principal, metadata, command })
  const thread =
    created ?? (if_exists === 'do_nothing' ? await engine.findThread({ threadId, principal }) : undefined)
  if (!thread)
    throw new HttpError(
      409,
      'conflict',
      `Thread ${JSON.stringify(threadId)} cannot be created: choose another id.`,
    )
  return json(presentThread(thread))
}

/** `GET /threads/{thread_id}`. */
export async function getThread({ engine }: FaceContext, call: FaceCall): Promise<Response> {
  const thread = await engine.findThread(call)
  if (!thread) throw notFound(call.threadId)
  return json(presentThread(thread))
}

/** `PATCH /threads/{thread_id}`: merges metadata. */
export async function patchThread({ engine }: FaceContext, call: FaceCall): Promise<Response> {
  const { metadata = {} } = await bodyOf(threadPatchSchema, call)
  const { threadId, principal } = call
  return json(presentThread(await engine.patchThread({ threadId, principal, metadata })))
}

/** `DELETE /threads/{thread_id}`: run, log, records and checkpoints. */
export async function deleteThread({ engine }: FaceContext, call: FaceCall): Promise<Response> {
  if (!(await engine.deleteThread(call))) throw notFound(call.threadId)
  return empty(204)
}

/** `POST /threads/search`. */
export async function searchThreads(context: FaceContext, call: FaceCall): Promise<Response> {
  const { limit = 10, offset = 0, ...query } = await search(context, call)
  const { items, total } = await page(query.threads, offset, limit)
  return json(items.map(presentThread), { headers: { 'x-pagination-total': String(total) } })
}

/** `POST /threads/count`. */
export async function countThreads(context: FaceContext, call: FaceCall): Promise<Response> {
  const { threads } = await search(context, call)
  return json((await page(threads, 0, 0)).total)
}

async function search({ engine }: FaceContext, call: FaceCall) {
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
  const all = engine.listThreads({
    principal: call.principal,
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

/** The metadata that a search matches, with the keys by which the SDK finds an assistant's threads. */
const metadataOf = ({ metadata, assistantId }: ThreadRecord): Readonly<Record<string, unknown>> =>
  assistantId === null ? metadata : { ...metadata, assistant_id: assistantId, graph_id: assistantId }

/** Undefined for a state that cannot be read, so that one broken thread does not fail the whole search. */
const valuesOf = (engine: AgentEngine, thread: ThreadRecord): Promise<unknown> =>
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

/** `POST …/runs/{run_id}/cancel?wait&action`: 202 once the cancel is recorded; with `wait=1` 204 once the run has ended. */
export async function cancelRun({ engine }: FaceContext, call: FaceCall): Promise<Response> {
  const { threadId, principal } = call
  const { searchParams } = call.url
  const run = { threadId, principal, runId: call.params.run_id! }
  await engine.cancel({
    ...run,
    action: searchParams.get('action') === 'rollback' ? 'rollback' : 'interrupt',
  })
  if (!['1', 'true'].includes(searchParams.get('wait') ?? '')) return empty(202)
  await engine.wait(run)
  return empty(204)
}

const notFound = (threadId: string): HttpError =>
  new HttpError(404, 'not_found', `Thread ${JSON.stringify(threadId)} not found.`)
