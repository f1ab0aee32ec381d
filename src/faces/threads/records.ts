import { empty, HttpError, json } from '../../core/http/index.ts'
import { uuid7, uuidOf } from '../../core/ids.ts'
import { namesOwnerOf, withoutMetadataFilter } from '../../core/principal.ts'
import { eventLoopTurns } from '../../core/time.ts'
import {
  type AgentEngine,
  findThreads,
  keepLatest,
  type NewThreadRequest,
  RunError,
  type ThreadAddress,
  type ThreadRecord,
} from '../../engine/index.ts'
import { permit, type ThreadResource } from '../kit/access.ts'
import { boundGraph } from '../kit/assistants.ts'
import { bodyOf } from '../kit/body.ts'
import { commandKey } from '../kit/idempotency-key.ts'
import { threadIdOf } from '../kit/ids.ts'
import { numberParam } from '../kit/lists.ts'
import { requireThread, threadNotFound } from '../kit/require-thread.ts'
import type { FaceCall, FaceContext } from '../kit/routes.ts'
import { threadMetadata } from '../kit/thread-metadata.ts'
import { newestState, presentThread, shownTitle } from './present.ts'
import {
  type ThreadCreateBody,
  type ThreadPatchBody,
  type ThreadPruneBody,
  threadCreateSchema,
} from './wire.ts'

/** `GET /threads`: `[{ id, title, updatedAt, status }]` for a sidebar, newest first. */
export async function getThreads({ engine }: FaceContext, call: FaceCall): Promise<Response> {
  const limit = numberParam(call, 'limit', 1_000, 1_000)
  const offset = numberParam(call, 'offset', 0, Number.MAX_SAFE_INTEGER)
  const threads: object[] = []
  for await (const thread of engine.listThreads({ principal: call.principal, offset, limit })) {
    const { threadId, updatedAt, status } = thread
    const title = shownTitle(thread)
    threads.push({ id: threadId, title, updatedAt: new Date(updatedAt).toISOString(), status })
  }
  return json(threads)
}

/** The resource of `POST /threads`: the thread id, unless the server chooses it, and the thread's agent. */
export async function namedThread(
  context: FaceContext,
  call: Pick<FaceCall, 'json' | 'principal'>,
): Promise<ThreadResource> {
  return threadNamedBy(context, call, await bodyOf(threadCreateSchema, call))
}

async function threadNamedBy(
  { engine }: FaceContext,
  { principal }: Pick<FaceCall, 'principal'>,
  { thread_id, metadata }: ThreadCreateBody,
): Promise<ThreadResource> {
  const assistantId = await boundGraph(engine, principal, metadata)
  return {
    ...(thread_id !== undefined && { threadId: threadIdOf(thread_id) }),
    ...(assistantId !== undefined && { assistantId }),
  }
}

/** `POST /threads`. */
export async function postThread(context: FaceContext, call: FaceCall<ThreadCreateBody>): Promise<Response> {
  const { engine } = context
  const { metadata, if_exists, ttl, supersteps } = call.body
  const { principal } = call
  const command = await commandKey(call, 'POST threads', await call.json())
  const newId = () => (command ? uuidOf([namesOwnerOf(principal), command.key]) : uuid7())
  const named = await threadNamedBy(context, call, call.body)
  const threadId = named.threadId ?? (await newId())
  const known = { assistantId: named.assistantId, metadata: threadMetadata(engine, metadata), ttl }
  const created =
    supersteps && supersteps.length > 0
      ? await createWithSteps(engine, { threadId, principal }, known, supersteps)
      : await engine.createThread({ threadId, principal, ...known, command })
  const thread =
    created ?? (if_exists === 'do_nothing' ? await engine.findThread({ threadId, principal }) : undefined)
  if (!thread)
    throw new HttpError(
      409,
      'conflict',
      `Thread ${JSON.stringify(threadId)} cannot be created: choose another id.`,
    )
  return withState(engine, thread)
}

/**
 * Creates a thread with a history. Undefined if the id is taken. If the history is rejected, no thread is
 * created.
 */
async function createWithSteps(
  engine: AgentEngine,
  thread: ThreadAddress,
  newThread: Pick<NewThreadRequest, 'assistantId' | 'metadata' | 'ttl'>,
  supersteps: NonNullable<ThreadCreateBody['supersteps']>,
): Promise<ThreadRecord | undefined> {
  if (await engine.findThread(thread)) return undefined
  const steps = supersteps.map(({ updates }) =>
    updates.map(({ values = null, command, as_node }) => ({ values, command, asNode: as_node })),
  )
  await engine.writeState({ ...thread, values: null, steps, newThread })
  return engine.findThread(thread)
}

/** `POST /threads/{thread_id}/copy`. */
export async function copyThread(context: FaceContext, call: FaceCall): Promise<Response> {
  const { engine, authorize } = context
  const { threadId, principal } = call
  const { fields } = await permit(authorize, call, 'threads:create', {})
  const metadata = fields?.metadata as Readonly<Record<string, unknown>> | undefined
  try {
    const copy = await engine.copyThread({ threadId, principal, newThreadId: uuid7() })
    // Only this request knows the copy.
    const own = { threadId: copy.threadId, principal: withoutMetadataFilter(principal), metadata }
    return await withState(engine, metadata ? await engine.patchThread(own) : copy)
  } catch (error) {
    // The same response as LangGraph's server: the path is valid, but there is nothing to copy.
    if (error instanceof RunError && error.code === 'no_such_thread')
      throw new HttpError(409, 'conflict', 'Thread not found')
    throw error
  }
}

/**
 * `POST /threads/prune`: deletes the caller's threads among the ids, or shortens them to their newest state.
 */
export async function pruneThreads(
  { engine, authorize }: FaceContext,
  call: FaceCall<ThreadPruneBody>,
): Promise<Response> {
  const { thread_ids, strategy } = call.body
  const threads: ThreadAddress[] = []
  for (const threadId of new Set(thread_ids.map(threadIdOf))) {
    const { principal } = await permit(authorize, call, 'threads:delete', { threadId })
    threads.push({ threadId, principal })
  }
  // One read for all, so that unknown ids cost nothing more.
  const found = await findThreads(engine, threads)
  const known = threads.filter((_, at) => found[at])
  if (strategy === 'keep_latest') return json({ pruned_count: await keepLatest(engine, known) })
  let pruned = 0
  const turn = eventLoopTurns()
  for (const thread of known) {
    if (await engine.deleteThread(thread)) pruned += 1
    await turn()
  }
  return json({ pruned_count: pruned })
}

/** `GET /threads/{thread_id}`. */
export async function getThread({ engine }: FaceContext, call: FaceCall): Promise<Response> {
  return withState(engine, await requireThread({ engine }, call))
}

/** `PATCH /threads/{thread_id}`: merges metadata. */
export async function patchThread(
  { engine }: FaceContext,
  call: FaceCall<ThreadPatchBody>,
): Promise<Response> {
  const { metadata, ttl } = call.body
  const { threadId, principal } = call
  const merged = threadMetadata(engine, metadata)
  const patched = await engine.patchThread({ threadId, principal, metadata: merged, ttl })
  if (call.request.headers.get('prefer') === 'return=minimal') return empty(204)
  return withState(engine, patched)
}

/** `DELETE /threads/{thread_id}`: deletes runs, log, records and checkpoints. */
export async function deleteThread({ engine }: FaceContext, call: FaceCall): Promise<Response> {
  if (!(await engine.deleteThread(call))) throw threadNotFound(call.threadId)
  return empty(204)
}

/** A thread's record with its newest state. */
const withState = async (engine: AgentEngine, thread: ThreadRecord): Promise<Response> =>
  json(presentThread(thread, await newestState(engine, thread)))
