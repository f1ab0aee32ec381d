import { type Call, HttpError, json } from '../http/index.ts'
import { ownerOf, permit, threadIdOf } from '../requests/access.ts'
import { bodyOf, numberParam } from '../requests/body.ts'
import { commandKey } from '../requests/idempotency-key.ts'
import type { StateQuery, ThreadRecord } from '../runs/index.ts'
import type { ThreadsContext } from './context.ts'
import { emptyState, presentState, type ThreadState } from './present.ts'
import { titleOf } from './title.ts'
import { checkpointStateSchema, historySchema, stateWriteSchema } from './wire.ts'

/** `GET …/state[/{checkpoint_id}]`: 404 for an unknown thread, so that clients bootstrap it. */
export async function getState(context: ThreadsContext, call: Call): Promise<Response> {
  const checkpointId = call.params.checkpoint_id
  const subgraphs = call.url.searchParams.get('subgraphs') === 'true'
  return json(await stateAt(context, call, { checkpointId, subgraphs }))
}

/** `POST …/state/checkpoint`: the state at a checkpoint that the body names. */
export async function postCheckpointState(context: ThreadsContext, call: Call): Promise<Response> {
  const { checkpoint, subgraphs } = await bodyOf(checkpointStateSchema, call)
  const { checkpoint_id: checkpointId, checkpoint_ns: checkpointNs } = checkpoint
  return json(await stateAt(context, call, { checkpointId, checkpointNs, subgraphs }))
}

async function stateAt(context: ThreadsContext, call: Call, query: StateQuery): Promise<ThreadState> {
  const thread = await requireThread(context, call)
  const snapshot = await context.engine.readState(thread, query)
  if (!snapshot) {
    if (query.checkpointId !== undefined)
      throw new HttpError(404, 'not_found', 'Checkpoint not found on this thread.')
    return markActive(thread, emptyState(thread))
  }
  return query.checkpointId === undefined
    ? markActive(thread, presentState(snapshot))
    : presentState(snapshot)
}

/** A run in progress shows in `next`, also before its first checkpoint: clients attach to a thread by it. */
const markActive = (thread: ThreadRecord, state: ThreadState): ThreadState =>
  thread.activeRunId !== null && state.next.length === 0 ? { ...state, next: ['__start__'] } : state

/** `POST …/state`: writes values from outside a run, and makes the thread when there is none. */
export async function postState({ engine, authorize }: ThreadsContext, call: Call): Promise<Response> {
  const threadId = threadIdOf(call.params.thread_id)
  const { values, checkpoint, checkpoint_id, as_node } = await bodyOf(stateWriteSchema, call)
  await permit(authorize, call, 'threads:update', { threadId })
  const owner = ownerOf(call.principal)
  const checkpointNs = checkpoint?.checkpoint_ns
  const { checkpointId } = await engine.writeState({
    threadId,
    owner,
    values: values ?? null,
    asNode: as_node,
    checkpointId: checkpoint_id ?? checkpoint?.checkpoint_id,
    checkpointNs,
    title: titleOf(values),
    command: await commandKey(call, 'POST state', await call.json()),
  })
  const thread = await engine.findThread(threadId, owner)
  const snapshot = thread && (await engine.readState(thread, { checkpointId, checkpointNs }))
  if (!snapshot) throw new HttpError(404, 'not_found', 'The thread was deleted.')
  const state = presentState(snapshot)
  return json({ ...state, configurable: state.checkpoint })
}

/** `POST …/history`. */
export async function postHistory(context: ThreadsContext, call: Call): Promise<Response> {
  const { limit = 10, before, metadata, checkpoint } = await bodyOf(historySchema, call)
  return history(context, call, checkpoint?.checkpoint_ns, { limit, before, filter: metadata })
}

/** `GET …/history?limit&before`. */
export async function getHistory(context: ThreadsContext, call: Call): Promise<Response> {
  const limit = numberParam(call, 'limit', 10, 1_000)
  const before = call.url.searchParams.get('before') ?? undefined
  return history(context, call, undefined, { limit, before })
}

async function history(
  context: ThreadsContext,
  call: Call,
  checkpointNs: string | undefined,
  options: { readonly limit: number; readonly before?: string; readonly filter?: Record<string, unknown> },
): Promise<Response> {
  const thread = await requireThread(context, call)
  const states: ThreadState[] = []
  for await (const snapshot of context.engine.readHistory(thread, { checkpointNs }, options)) {
    states.push(presentState(snapshot))
  }
  return json(states)
}

async function requireThread({ engine, authorize }: ThreadsContext, call: Call): Promise<ThreadRecord> {
  const threadId = threadIdOf(call.params.thread_id)
  await permit(authorize, call, 'threads:read', { threadId })
  const thread = await engine.findThread(threadId, ownerOf(call.principal))
  if (thread) return thread
  throw new HttpError(404, 'not_found', `Thread ${JSON.stringify(threadId)} not found.`)
}
