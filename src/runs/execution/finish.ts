import type { AgentEvent } from '../../agents/agent.ts'
import type { Op } from '../../storage/store/store.ts'
import { agentOf, checkpointerOf, type RunContext } from '../context.ts'
import { openInterrupts } from '../interrupts.ts'
import type { Appender } from '../log/appender.ts'
import type { Outcome } from '../outcome.ts'
import {
  guardThread,
  loadRun,
  loadThread,
  type OpenInterrupt,
  putRun,
  putThread,
  type RunRecord,
  type RunStatus,
  type ThreadRecord,
} from '../records/records.ts'
import { retryConflicts } from '../records/update.ts'
import { type Launched, rootLifecycle } from './launch.ts'

/** What a run leaves behind: its terminal event and the state of its thread. */
export interface Ending {
  readonly event: AgentEvent
  readonly status: RunStatus
  readonly error: string | null
  readonly threadStatus: ThreadRecord['status']
  readonly interrupts: readonly OpenInterrupt[]
  readonly unfinished: boolean
  /** Through which event the log tells of what was undone. */
  readonly supersededThroughSeq?: number
}

/** How many runs a thread remembers as cut short. */
const MAX_UNFINISHED = 100

/** Ends a run: terminal event, records and the release of the lease, in one commit. */
export async function finish(
  context: RunContext,
  { run, token }: Launched,
  appender: Appender,
  outcome: Outcome,
  raised: readonly OpenInterrupt[],
): Promise<void> {
  const { store } = context
  const { threadId, runId } = run
  await retryConflicts(async () => {
    const [thread, current] = await Promise.all([
      loadThread(store, threadId),
      loadRun(store, threadId, runId),
    ])
    if (!thread || !current) return
    const { end, head } = await resolveEnding(context, thread.record, current.record, outcome, raised)
    await appender.commit(
      end.event,
      [
        guardThread(threadId, thread),
        { guard: 'version', collection: 'runs', id: runId, version: current.version },
      ],
      [...endOps(thread.record, current.record, end, head), { op: 'release', token }],
    )
  })
}

/** What a run comes to, and where it leaves the thread's head. */
export async function resolveEnding(
  context: RunContext,
  thread: ThreadRecord,
  run: RunRecord,
  outcome: Outcome,
  raised: readonly OpenInterrupt[],
): Promise<{ readonly end: Ending; readonly head: string | null }> {
  const { cancel } = run
  // A cancel that arrived after the agent's last event still counts: its caller was told so.
  const settled: Outcome = cancel ? { end: 'stopped', reason: cancel } : outcome
  const open = settled.end === 'done' ? raised : await interruptsLeftOpen(context, run, thread, raised)
  const end = endingOf(run, settled, open)
  return cancel === 'rollback' ? rollback(context, run, end) : { end, head: thread.restoredCheckpointId }
}

/** The records of an ended run and its thread. */
export const endOps = (
  thread: ThreadRecord,
  run: RunRecord,
  ending: Ending,
  head: string | null,
): readonly Op[] => [
  putRun({ ...run, status: ending.status, error: ending.error }),
  putThread({
    ...thread,
    activeRunId: null,
    status: ending.threadStatus,
    error: ending.error,
    interrupts: ending.interrupts,
    restoredCheckpointId: head,
    supersededThroughSeq: ending.supersededThroughSeq ?? thread.supersededThroughSeq,
    unfinishedRunIds: ending.unfinished
      ? [...thread.unfinishedRunIds, run.runId].slice(-MAX_UNFINISHED)
      : thread.unfinishedRunIds,
    updatedAt: Date.now(),
  }),
]

/** Undoes a run: back to the checkpoint and the interrupts it found, or to no state at all. */
async function rollback(
  context: RunContext,
  run: RunRecord,
  ending: Ending,
): Promise<{ end: Ending; head: string | null }> {
  const { checkpointId = null, interrupts = [] } = run.rollbackPoint ?? {}
  if (checkpointId === null) {
    await checkpointerOf(context, agentOf(context, run.assistantId)).deleteThread(run.threadId)
  }
  const threadStatus = interrupts.length > 0 ? 'interrupted' : 'idle'
  // All of the run is written but its end.
  const undone = (await context.store.inspect(run.threadId)).head + 1
  return { end: { ...ending, interrupts, threadStatus, supersededThroughSeq: undone }, head: checkpointId }
}

/**
 * A run that did not come to its end leaves open what it raised and what it had no answers for. Whether it took the answers
 * it had, only the state knows.
 */
async function interruptsLeftOpen(
  context: RunContext,
  run: RunRecord,
  { threadId, interrupts }: ThreadRecord,
  raised: readonly OpenInterrupt[],
): Promise<readonly OpenInterrupt[]> {
  const kept = union(raised, interrupts)
  if (run.start.kind !== 'resume') return kept
  try {
    const agent = agentOf(context, run.assistantId)
    const snapshot = await agent.getState({ threadId, checkpointer: checkpointerOf(context, agent) })
    return snapshot ? openInterrupts(snapshot, union(kept, run.rollbackPoint?.interrupts ?? [])) : kept
  } catch (error) {
    context.report(error, { threadId, runId: run.runId })
    return kept
  }
}

function union(first: readonly OpenInterrupt[], second: readonly OpenInterrupt[]): readonly OpenInterrupt[] {
  const ids = new Set(first.map(({ id }) => id))
  return [...first, ...second.filter(({ id }) => !ids.has(id))]
}

function endingOf(run: RunRecord, outcome: Outcome, raised: readonly OpenInterrupt[]): Ending {
  if (outcome.end === 'failed') {
    const error = errorText(outcome.error)
    return {
      event: rootLifecycle(run, 'failed', error),
      status: 'error',
      error,
      threadStatus: 'error',
      interrupts: raised,
      unfinished: true,
    }
  }
  if (outcome.end === 'stopped') {
    return {
      event: rootLifecycle(run, 'interrupted'),
      status: 'interrupted',
      error: null,
      threadStatus: raised.length > 0 ? 'interrupted' : 'idle',
      interrupts: raised,
      unfinished: true,
    }
  }
  const interrupted = raised.length > 0
  return {
    event: rootLifecycle(run, interrupted ? 'interrupted' : 'completed'),
    status: interrupted ? 'interrupted' : 'success',
    error: null,
    threadStatus: interrupted ? 'interrupted' : 'idle',
    interrupts: raised,
    unfinished: false,
  }
}

/** What the user is shown of a failure: its message, never its stack. */
function errorText(error: unknown): string {
  const message = error instanceof Error ? error.message : typeof error === 'string' ? error : ''
  return message === '' ? 'The agent failed without a message.' : message.slice(0, 2_000)
}
