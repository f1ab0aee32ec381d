import type { StateSnapshot } from '../../agents/agent.ts'
import { empty, HttpError, json, jsonList } from '../../core/http/index.ts'
import {
  patchState as patchMetadata,
  readStreamed,
  type StateQuery,
  type ThreadRecord,
} from '../../engine/index.ts'
import { itemsOf } from '../../messages/record.ts'
import { reporterOf } from '../kit/errors.ts'
import { commandKey } from '../kit/idempotency-key.ts'
import { numberParam, withFields } from '../kit/lists.ts'
import { requireThread } from '../kit/require-thread.ts'
import type { FaceCall, FaceContext } from '../kit/routes.ts'
import { titleOf } from '../kit/title.ts'
import type { ThreadsContext } from './context.ts'
import { emptyState, presentState, type ThreadState, withOpenInterrupts } from './present.ts'
import type { CheckpointStateBody, HistoryBody, StateMetadataBody, StateWriteBody } from './wire.ts'

/** `GET …/state[/{checkpoint_id}]`: 404 for an unknown thread, so that clients create it. */
export async function getState(context: FaceContext, call: FaceCall): Promise<Response> {
  const checkpointId = call.params.checkpoint_id
  const { searchParams } = call.url
  const subgraphs = searchParams.get('subgraphs') === 'true'
  const state =
    checkpointId === undefined && searchParams.get('streamed') === 'true'
      ? await stateWithStreamed(context, call, { subgraphs })
      : await stateAt(context, call, { checkpointId, subgraphs })
  const fields = searchParams.getAll('select').flatMap((names) => names.split(','))
  return json(withFields(state, fields.length > 0 ? fields : undefined))
}

/** `POST …/state/checkpoint`: the state at a checkpoint that the body names. */
export async function postCheckpointState(
  context: FaceContext,
  call: FaceCall<CheckpointStateBody>,
): Promise<Response> {
  const { checkpoint = {}, subgraphs, select } = call.body
  const { checkpoint_id: checkpointId, checkpoint_ns: checkpointNs } = checkpoint
  const state = await stateAt(context, call, { checkpointId, checkpointNs, subgraphs })
  return json(withFields(state, select))
}

async function stateAt(context: FaceContext, call: FaceCall, query: StateQuery): Promise<ThreadState> {
  const thread = await requireThread(context, call)
  const snapshot = await context.engine.readState(thread, query)
  if (!snapshot) {
    if (query.checkpointId !== undefined)
      throw new HttpError(404, 'not_found', 'Checkpoint not found on this thread.')
    return markActive(thread, emptyState(thread))
  }
  return query.checkpointId === undefined
    ? markActive(thread, presentState(withOpenInterrupts(thread, snapshot)))
    : presentState(snapshot)
}

/** The newest state with what the active run has streamed, for a page that is shown before its stream is open. */
async function stateWithStreamed(
  context: FaceContext,
  call: FaceCall,
  query: StateQuery,
): Promise<ThreadState> {
  const thread = await requireThread(context, call)
  // The state is read last, so that it may have a message twice but never lacks one.
  const streamed = await readStreamed(context.engine, thread)
  const state = await stateAt(context, call, query)
  const now = streamed.length > 0 ? await requireThread(context, call) : thread
  if (streamed.length === 0 || now.activeRunId !== thread.activeRunId) return state
  const messages = itemsOf(state.values.messages)
  const known = new Set(messages.map((message) => (Object(message) as { readonly id?: unknown }).id))
  const added = streamed.filter(({ id }) => !known.has(id))
  return added.length === 0
    ? state
    : { ...state, values: { ...state.values, messages: [...messages, ...added] } }
}

/**
 * Marks an active run in `next` even before its first checkpoint, because clients use it to decide whether to
 * attach.
 */
const markActive = (thread: ThreadRecord, state: ThreadState): ThreadState =>
  thread.activeRunId !== null && state.next.length === 0 ? { ...state, next: ['__start__'] } : state

/** `POST …/state`: writes values from outside a run, and creates the thread if it does not exist. */
export async function postState({ engine }: FaceContext, call: FaceCall<StateWriteBody>): Promise<Response> {
  const { threadId, principal } = call
  const { values, checkpoint, checkpoint_id, as_node } = call.body
  const checkpointNs = checkpoint?.checkpoint_ns
  const { checkpointId } = await engine.writeState({
    threadId,
    principal,
    values: values ?? null,
    asNode: as_node,
    checkpointId: checkpoint_id ?? checkpoint?.checkpoint_id,
    checkpointNs,
    title: titleOf(values),
    command: await commandKey(call, 'POST state', await call.json()),
  })
  const thread = await engine.findThread(call)
  const snapshot = thread && (await engine.readState(thread, { checkpointId, checkpointNs }))
  if (!snapshot) throw new HttpError(404, 'not_found', 'The thread was deleted.')
  const state = presentState(snapshot)
  return json({ ...state, configurable: state.checkpoint })
}

/** `PATCH …/state`: merges keys into the metadata of the newest checkpoint. */
export async function patchState(
  { engine }: FaceContext,
  call: FaceCall<StateMetadataBody>,
): Promise<Response> {
  const { threadId, principal, body } = call
  const { metadata } = body
  await patchMetadata(engine, { threadId, principal, metadata })
  return empty(204)
}

/** `POST …/history`. */
export async function postHistory(context: ThreadsContext, call: FaceCall<HistoryBody>): Promise<Response> {
  const { limit = 10, before, metadata, checkpoint, select } = call.body
  return history(context, call, checkpoint?.checkpoint_ns, { limit, before, filter: metadata }, select)
}

/** `GET …/history?limit&before`. */
export async function getHistory(context: ThreadsContext, call: FaceCall): Promise<Response> {
  const limit = numberParam(call, 'limit', 10, 1_000)
  const before = call.url.searchParams.get('before') ?? undefined
  return history(context, call, undefined, { limit, before })
}

async function history(
  context: ThreadsContext,
  call: FaceCall,
  checkpointNs: string | undefined,
  options: { readonly limit: number; readonly before?: string; readonly filter?: Record<string, unknown> },
  select?: readonly string[],
): Promise<Response> {
  const thread = await requireThread(context, call)
  const snapshots = context.engine.readHistory(thread, { checkpointNs }, options)
  return jsonList(presented(snapshots, select), reporterOf(context, call))
}

async function* presented(
  snapshots: AsyncIterable<StateSnapshot>,
  select: readonly string[] | undefined,
): AsyncGenerator<Partial<ThreadState>> {
  for await (const snapshot of snapshots) yield withFields(presentState(snapshot), select)
}
