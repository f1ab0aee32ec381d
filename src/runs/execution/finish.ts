import type { AgentEvent } from '../../agents/agent.ts'
import { agentOf, checkpointerOf, type LaunchedRun, type RunContext, type StopReason } from '../context.ts'
import type { Appender } from '../log/appender.ts'
import type { RunEndReason, RunUsage } from '../observe.ts'
import {
  guardThread,
  loadRun,
  loadThread,
  type OpenInterrupt,
  openInterrupts,
  putThread,
  type RunRecord,
  type ThreadRecord,
} from '../records/records.ts'
import { commitTransitions, rootLifecycle, type Transition, transition } from '../records/transition.ts'
import { retryConflicts } from '../records/update.ts'

/** How an attempt ended. */
export type Outcome =
  | { readonly end: 'done' }
  /** `message` is what clients are told. */
  | { readonly end: 'failed'; readonly error: unknown; readonly message: string }
  | { readonly end: 'lost' }
  | { readonly end: 'stopped'; readonly reason: StopReason }

/** What an attempt has recorded beside its outcome. */
export interface Leftover {
  /** The interrupts it has raised. */
  readonly raised: readonly OpenInterrupt[]
  readonly usage: RunUsage | null
}

/** The end of a run: its terminal event, its last transition and the thread's next record. */
export interface Ending {
  readonly event: AgentEvent
  readonly transition: Transition
  readonly thread: ThreadRecord
}

/** How many unfinished runs a thread remembers. */
const MAX_UNFINISHED = 100

const OWNER_LOST = 'The server that ran this was lost. Send your message again.'

/** Ends a run: terminal event, records and the release of the lease, in one commit. */
export async function finish(
  context: RunContext,
  { run, token }: LaunchedRun,
  appender: Appender,
  outcome: Outcome,
  leftover: Leftover,
): Promise<void> {
  const { store } = context
  const { threadId, runId } = run
  await retryConflicts(async () => {
    const [thread, current] = await Promise.all([
      loadThread(store, threadId),
      loadRun(store, threadId, runId),
    ])
    if (!thread || !current) return
    const ending = await resolveEnding(context, thread.record, current.record, outcome, leftover)
    const guards = [
      guardThread(threadId, thread),
      { guard: 'version', collection: 'runs', id: runId, version: current.version },
    ] as const
    await commitTransitions(context.observe, [ending.transition], (runOps) =>
      appender.commit(ending.event, guards, [...runOps, putThread(ending.thread), { op: 'release', token }]),
    )
  })
}

/** Decides how a run ends and what becomes of its thread. Undoes what the run wrote if a rollback was requested. */
export async function resolveEnding(
  context: RunContext,
  thread: ThreadRecord,
  run: RunRecord,
  outcome: Outcome,
  { raised, usage }: Leftover,
): Promise<Ending> {
  const { cancel } = run
  // A cancel that arrived after the agent's last event still counts, because it was accepted.
  const settled: Outcome = cancel ? { end: 'stopped', reason: cancel } : outcome
  const open = settled.end === 'done' ? raised : await interruptsLeftOpen(context, run, thread, raised)
  const rolledBack = cancel === 'rollback' ? await rollback(context, run) : {}
  const end = endOf(settled, open)
  const interrupts = rolledBack.interrupts ?? open
  const { status, message } = end
  return {
    event: rootLifecycle(run, end.event, message ?? undefined),
    transition: transition(
      thread,
      run,
      end.reason === null
        ? { type: 'run.interrupted', status, usage, message, interruptIds: open.map(({ id }) => id) }
        : {
            type: 'run.ended',
            status,
            reason: end.reason,
            usage,
            message,
            ...(settled.end === 'failed' && { error: settled.error }),
          },
    ),
    thread: {
      ...thread,
      activeRunId: null,
      status: status === 'error' ? 'error' : interrupts.length > 0 ? 'interrupted' : 'idle',
      error: message,
      unfinishedRunIds:
        settled.end === 'done'
          ? thread.unfinishedRunIds
          : [...thread.unfinishedRunIds, run.runId].slice(-MAX_UNFINISHED),
      updatedAt: Date.now(),
      ...rolledBack,
      interrupts,
    },
  }
}

/** Restores the checkpoint and the interrupts from before the run, or no state at all if there was none. */
async function rollback(
  context: RunContext,
  { threadId, assistantId, rollbackPoint }: RunRecord,
): Promise<Partial<Pick<ThreadRecord, 'interrupts' | 'restoredCheckpointId' | 'supersededThroughSeq'>>> {
  const { checkpointId = null, interrupts = [] } = rollbackPoint ?? {}
  if (checkpointId === null) {
    await checkpointerOf(context, agentOf(context, assistantId)).deleteThread(threadId)
  }
  // Everything of the run is written except its terminal event.
  const supersededThroughSeq = (await context.store.inspect(threadId)).head + 1
  return { interrupts, restoredCheckpointId: checkpointId, supersededThroughSeq }
}

/**
 * The interrupts that an unfinished run leaves open: those it raised and those it had no answers for. Only the state shows
 * whether it took the answers that it had.
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

interface End {
  readonly event: 'completed' | 'failed' | 'interrupted'
  readonly status: 'success' | 'error' | 'interrupted'
  /** Null where the run waits for answers. */
  readonly reason: RunEndReason | null
  /** What clients are shown of a failure. */
  readonly message: string | null
}

function endOf(outcome: Outcome, open: readonly OpenInterrupt[]): End {
  const interrupted = { event: 'interrupted', status: 'interrupted', message: null } as const
  const failed = { event: 'failed', status: 'error' } as const
  switch (outcome.end) {
    case 'failed':
      return { ...failed, reason: 'failed', message: outcome.message }
    case 'lost':
      return { ...failed, reason: 'lost', message: OWNER_LOST }
    case 'stopped':
      return { ...interrupted, reason: stopReasonOf(outcome.reason) }
    case 'done':
      return open.length > 0
        ? { ...interrupted, reason: null }
        : { event: 'completed', status: 'success', reason: 'completed', message: null }
  }
}

const stopReasonOf = (reason: StopReason): RunEndReason =>
  reason === 'rollback' ? 'rolled_back' : reason === 'interrupt' ? 'cancelled' : 'closed'
