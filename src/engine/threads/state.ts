import type { HistoryOptions, StateAddress, StateSnapshot } from '../../agents/agent.ts'
import { hooked } from '../../storage/checkpointer/hooks.ts'
import { checkpointerOf, type RunContext, readerOf } from '../context.ts'
import { saverInTime } from '../deadlines.ts'
import { noSuchCheckpoint } from '../errors.ts'
import { withoutErrorTexts } from '../failures.ts'
import { openInterrupts, unanswered } from '../records/interrupts.ts'
import { withoutUndone } from '../records/kept-writes.ts'
import type { OpenInterrupt, ThreadRecord } from '../records/records.ts'

/** Which state of a thread to read. */
export interface StateQuery {
  /** Default: the thread's head. */
  readonly checkpointId?: string | undefined
  /** Namespace segments joined with `|`. Default: the root. */
  readonly checkpointNs?: string | undefined
  readonly subgraphs?: boolean | undefined
}

/** The thread's state. Undefined before its first checkpoint. */
export async function readState(
  context: RunContext,
  thread: ThreadRecord,
  query: StateQuery = {},
): Promise<StateSnapshot | undefined> {
  const agent = readerOf(context, thread.assistantId)
  const at = addressOf(context, thread, query)
  const snapshot = await agent.getState(at, { subgraphs: query.subgraphs ?? false })
  return snapshot && withoutErrorTexts(context, snapshot, thread.error)
}

/** The snapshots of a thread, newest first. */
export async function* readHistory(
  context: RunContext,
  thread: ThreadRecord,
  query: StateQuery,
  options: HistoryOptions,
): AsyncGenerator<StateSnapshot, void, undefined> {
  const agent = readerOf(context, thread.assistantId)
  for await (const snapshot of agent.getHistory(addressOf(context, thread, query), options)) {
    yield withoutErrorTexts(context, snapshot, thread.error)
  }
}

export function addressOf(
  context: RunContext,
  thread: ThreadRecord,
  { checkpointId, checkpointNs }: StateQuery,
): StateAddress {
  const agent = readerOf(context, thread.assistantId)
  return {
    threadId: thread.threadId,
    checkpointer: hooked(checkpointerOf(context, agent), [withoutUndone(thread)]),
    graphStore: context.graphStores.of(thread.owner),
    checkpointNs,
    config: thread.config,
    checkpointId: checkpointId ?? (checkpointNs ? undefined : (thread.restoredCheckpointId ?? undefined)),
  }
}

/** Rejects an unknown checkpoint, because LangGraph would start from an empty state instead of failing. */
export async function requireCheckpoint(at: StateAddress): Promise<void> {
  const { threadId, checkpointId, checkpointNs = '' } = at
  const configurable = { thread_id: threadId, checkpoint_ns: checkpointNs, checkpoint_id: checkpointId }
  // Checkpointers treat an empty id as the newest checkpoint.
  if ((await at.checkpointer.getTuple({ configurable }))?.checkpoint.id === checkpointId) return
  throw noSuchCheckpoint(String(checkpointId))
}

/**
 * The questions of a thread that can be answered. The record names them, but after a new release, the node
 * that asked may not exist any more, so the agent's state decides. A run that is active or waits will change
 * the state: until it ends, the record is all that is known. `known` is the newest state, if the caller has
 * just read it.
 */
export async function openQuestions(
  context: RunContext,
  thread: ThreadRecord,
  known?: StateSnapshot,
): Promise<readonly OpenInterrupt[]> {
  const announced = unanswered(thread)
  if (announced.length === 0 || thread.activeRunId !== null || thread.queue.length > 0) return announced
  const state = known ?? (await saverInTime(context, readState(context, thread)))
  // An agent of your own may keep no state.
  if (!state) return announced
  const asked = new Set(openInterrupts(state, []).map(({ id }) => id))
  // After a rolled-back answer, the state has what its task had written, and the task waits all the same.
  return asked.size === 0 && state.tasks.length > 0 ? announced : announced.filter(({ id }) => asked.has(id))
}

/**
 * The open questions that a new input meets. After a failed run there are none, because the sender may not
 * expect that a question is still open.
 */
export const questionsBeforeInput = async (
  context: RunContext,
  thread: ThreadRecord,
): Promise<readonly OpenInterrupt[]> => (thread.error === null ? openQuestions(context, thread) : [])
