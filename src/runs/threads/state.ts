import type { HistoryOptions, StateAddress, StateSnapshot } from '../../agents/agent.ts'
import { agentOf, checkpointerOf, type RunContext } from '../context.ts'
import type { ThreadRecord } from '../records/records.ts'

export interface StateQuery {
  /** Default: the thread's head. */
  readonly checkpointId?: string | undefined
  /** Namespace segments joined by `|`. Default: the root. */
  readonly checkpointNs?: string | undefined
  readonly subgraphs?: boolean | undefined
}

/** The thread's state, or undefined before its first checkpoint. */
export function readState(
  context: RunContext,
  thread: ThreadRecord,
  query: StateQuery = {},
): Promise<StateSnapshot | undefined> {
  const agent = agentOf(context, assistantOf(context, thread))
  return agent.getState(addressOf(context, thread, query), { subgraphs: query.subgraphs ?? false })
}

/** Snapshots newest first. */
export function readHistory(
  context: RunContext,
  thread: ThreadRecord,
  query: StateQuery,
  options: HistoryOptions,
): AsyncIterable<StateSnapshot> {
  const agent = agentOf(context, assistantOf(context, thread))
  return agent.getHistory(addressOf(context, thread, query), options)
}

export const assistantOf = (context: RunContext, { assistantId }: ThreadRecord): string =>
  assistantId ?? context.defaultAgent

export function addressOf(
  context: RunContext,
  thread: ThreadRecord,
  { checkpointId, checkpointNs }: StateQuery,
): StateAddress {
  const agent = agentOf(context, assistantOf(context, thread))
  return {
    threadId: thread.threadId,
    checkpointer: checkpointerOf(context, agent),
    checkpointNs,
    checkpointId: checkpointId ?? (checkpointNs ? undefined : (thread.restoredCheckpointId ?? undefined)),
  }
}
