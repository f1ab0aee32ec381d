import { empty, HttpError, json } from '../http/index.ts'
import { uuid7, uuidOf } from '../ids.ts'
import { ownerOf } from '../principal.ts'
import type { ThreadResource } from '../requests/access.ts'
import { boundAssistant, threadMetadata } from '../requests/assistants.ts'
import { bodyOf } from '../requests/body.ts'
import { commandKey } from '../requests/idempotency-key.ts'
import { threadIdOf } from '../requests/ids.ts'
import { numberParam } from '../requests/lists.ts'
import { requireThread, threadNotFound } from '../requests/require-thread.ts'
import type { FaceCall, FaceContext } from '../requests/routes.ts'
import type { AgentEngine, ThreadRecord } from '../runs/index.ts'
import { newestState } from './newest-state.ts'
import { presentThread, shownTitle } from './present.ts'
import { threadCreateSchema, threadPatchSchema } from './wire.ts'

/** `GET /threads`: for a sidebar, newest first: `[{ id, title, updatedAt }]`. */
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

/** What `POST /threads` names: a thread id, if it does not leave the choice to the server, and the agent of the thread. */
export async function namedThread(
  { engine }: FaceContext,
  call: Pick<FaceCall, 'json'>,
): Promise<ThreadResource> {
  const { thread_id, metadata } = await bodyOf(threadCreateSchema, call)
  const assistantId = boundAssistant(engine, metadata)
  return {
    ...(thread_id !== undefined && { threadId: threadIdOf(thread_id) }),
    ...(assistantId !== undefined && { assistantId }),
  }
}

/** `POST /threads`. */
export async function postThread(context: FaceContext, call: FaceCall): Promise<Response> {
  const { engine } = context
  const { metadata, if_exists } = await bodyOf(threadCreateSchema, call)
  const { principal } = call
  const command = await commandKey(call, 'POST threads', await call.json())
  const newId = () => (command ? uuidOf([ownerOf(principal), command.key]) : uuid7())
  const named = await namedThread(context, call)
  const threadId = named.threadId ?? (await newId())
  const created = await engine.createThread({
    threadId,
    principal,
    assistantId: named.assistantId,
    metadata: threadMetadata(engine, metadata),
    command,
  })
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

/** `GET /threads/{thread_id}`. */
export async function getThread({ engine }: FaceContext, call: FaceCall): Promise<Response> {
  return withState(engine, await requireThread({ engine }, call))
}

/** `PATCH /threads/{thread_id}`: merges metadata. */
export async function patchThread({ engine }: FaceContext, call: FaceCall): Promise<Response> {
  const { metadata } = await bodyOf(threadPatchSchema, call)
  const { threadId, principal } = call
  const merged = threadMetadata(engine, metadata)
  return withState(engine, await engine.patchThread({ threadId, principal, metadata: merged }))
}

/** `DELETE /threads/{thread_id}`: run, log, records and checkpoints. */
export async function deleteThread({ engine }: FaceContext, call: FaceCall): Promise<Response> {
  if (!(await engine.deleteThread(call))) throw threadNotFound(call.threadId)
  return empty(204)
}

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

/** A thread's record with what is in its newest state. */
const withState = async (engine: AgentEngine, thread: ThreadRecord): Promise<Response> =>
  json(presentThread(thread, await newestState(engine, thread)))
