import { filteredPage } from '../../core/filtered-page.ts'
import { HttpError, json, jsonList, sseResponse } from '../../core/http/index.ts'
import { inspectThread, internalsOf, subscribe, type ThreadRecord } from '../../engine/index.ts'
import { reporterOf } from '../../faces/kit/errors.ts'
import { isThreadId } from '../../faces/kit/ids.ts'
import { numberParam } from '../../faces/kit/lists.ts'
import { requireThread } from '../../faces/kit/require-thread.ts'
import type { FaceCall } from '../../faces/kit/routes.ts'
import type { DevtoolsContext } from './context.ts'
import { presentCheckpoint, presentDetail, presentState, presentThread, titleOf } from './present.ts'
import type { ThreadStatus, ThreadsPage } from './wire.ts'

/** The maximum number of threads that a search reads, newest first. The store cannot search text. */
const MAX_LOOKED_AT = 2_000
const MAX_RUNS = 100
const STATUSES: readonly ThreadStatus[] = ['busy', 'interrupted', 'error', 'idle']

/** `GET …/api/threads?limit&offset&status&search`: newest first. */
export async function getThreads({ engine }: DevtoolsContext, call: FaceCall): Promise<Response> {
  const { principal } = call
  const limit = numberParam(call, 'limit', 50, 200)
  const offset = numberParam(call, 'offset', 0, Number.MAX_SAFE_INTEGER)
  const status = statusOf(call)
  const search = call.url.searchParams.get('search')?.trim().toLowerCase() ?? ''
  if (search !== '') return json(await findThreads({ engine }, call, { search, status, limit, offset }))
  const threads: ThreadRecord[] = []
  for await (const thread of engine.listThreads({ principal, status, limit, offset })) threads.push(thread)
  const total = await engine.countThreads({ principal, status })
  return json({ threads: threads.map(presentThread), total } satisfies ThreadsPage)
}

function statusOf({ url }: FaceCall): ThreadStatus | undefined {
  const text = url.searchParams.get('status') ?? ''
  if (text === '') return undefined
  const status = STATUSES.find((one) => one === text)
  if (status) return status
  throw new HttpError(400, 'invalid_argument', `status: expected one of ${STATUSES.join(', ')}.`)
}

interface Search {
  readonly search: string
  readonly status: ThreadStatus | undefined
  readonly limit: number
  readonly offset: number
}

/** The thread with this id, and the newest threads with the text in their id, title, agent or metadata. */
async function findThreads(
  { engine }: Pick<DevtoolsContext, 'engine'>,
  { principal, url }: FaceCall,
  { search, status, limit, offset }: Search,
): Promise<ThreadsPage> {
  const id = url.searchParams.get('search')!.trim()
  const named = isThreadId(id) ? await engine.findThread({ threadId: id, principal }) : undefined
  const found = named && (status === undefined || named.status === status) ? [named] : []
  async function* threads() {
    yield* found
    yield* engine.listThreads({ principal, status, limit: MAX_LOOKED_AT })
  }
  const lookAt = MAX_LOOKED_AT + found.length
  const { items, total, looked } = await filteredPage(
    threads(),
    (thread) => thread === named || (thread.threadId !== id && textOf(thread).includes(search)),
    { offset, limit, lookAt, countTo: Number.POSITIVE_INFINITY },
  )
  return { threads: items.map(presentThread), total, ...(looked === lookAt && { looked_at: MAX_LOOKED_AT }) }
}

const textOf = (thread: ThreadRecord): string =>
  [thread.threadId, titleOf(thread), thread.assistantId, JSON.stringify(thread.metadata)]
    .join('\n')
    .toLowerCase()

/** `GET …/api/threads/{thread_id}`. */
export async function getThread({ engine }: DevtoolsContext, call: FaceCall): Promise<Response> {
  const thread = await requireThread({ engine }, call)
  const [inspection, runs] = await Promise.all([
    inspectThread(internalsOf(engine).store, thread),
    engine.listRuns({ ...call, limit: MAX_RUNS }),
  ])
  return json(presentDetail(engine, thread, inspection, runs))
}

/** Every channel of the protocol's filter. */
const ALL_CHANNELS = 'values updates messages tools lifecycle input checkpoints tasks custom'.split(' ')

/**
 * `GET …/api/threads/{thread_id}/log?after`: every event with a higher sequence number, past and future, as
 * frames of the protocol (docs/protocol.md §4.3), which are the log's own bytes.
 */
export async function getLog(context: DevtoolsContext, call: FaceCall): Promise<Response> {
  const { threadId, principal, signal } = call
  const since = numberParam(call, 'after', 0, Number.MAX_SAFE_INTEGER)
  await requireThread(context, call)
  const filter = { channels: ALL_CHANNELS }
  const subscription = subscribe(context.engine, { threadId, principal, filter, since })
  await subscription.ready()
  return sseResponse(subscription, { signal, onError: reporterOf(context, call) })
}

/** `GET …/api/threads/{thread_id}/checkpoints?limit&before&ns`: newest first, without their values. */
export async function getCheckpoints(context: DevtoolsContext, call: FaceCall): Promise<Response> {
  const { searchParams } = call.url
  const limit = numberParam(call, 'limit', 50, 200)
  const before = searchParams.get('before') ?? undefined
  const checkpointNs = searchParams.get('ns') ?? ''
  const thread = await requireThread(context, call)
  const snapshots = context.engine.readHistory(thread, { checkpointNs }, { limit, before })
  async function* rows() {
    for await (const snapshot of snapshots) yield presentCheckpoint(snapshot)
  }
  return jsonList(rows(), reporterOf(context, call))
}

/** `GET …/api/threads/{thread_id}/checkpoints/{checkpoint_id}?ns`: the complete state at a checkpoint. */
export async function getCheckpoint(context: DevtoolsContext, call: FaceCall): Promise<Response> {
  const thread = await requireThread(context, call)
  const checkpointNs = call.url.searchParams.get('ns') ?? ''
  const query = { checkpointNs, checkpointId: call.params.checkpoint_id! }
  const snapshot = await context.engine.readState(thread, query)
  if (snapshot) return json(presentState(snapshot))
  throw new HttpError(404, 'not_found', 'Checkpoint not found on this thread.')
}
