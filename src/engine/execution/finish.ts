import { inputRequested } from '../../agents/root-events.ts'
import type { AgentEvent } from '../../messages/thread-events/index.ts'
import { fencedCheckpointer } from '../../storage/checkpointer/fenced.ts'
import { hooked } from '../../storage/checkpointer/hooks.ts'
import { readOnly } from '../../storage/checkpointer/shared.ts'
import { assertLease, releaseLease } from '../../storage/coordination/leases.ts'
import { retryUnavailable } from '../../storage/coordination/retry.ts'
import { FencedError } from '../../storage/errors.ts'
import type { Op } from '../../storage/store/store.ts'
import { checkpointerOf, type LaunchedRun, type RunContext, readerOf } from '../context.ts'
import { saverInTime } from '../deadlines.ts'
import { reportFailure, type ShownFailure } from '../failures.ts'
import type { Appender } from '../log/appender.ts'
import type { RunEndReason } from '../observe.ts'
import { openInterrupts, withoutResumed } from '../records/interrupts.ts'
import { withoutUndone } from '../records/kept-writes.ts'
import {
  guardRun,
  guardThread,
  type OpenInterrupt,
  type RunRecord,
  type RunRecords,
  type StopReason,
  type ThreadRecord,
} from '../records/records.ts'
import { putThread, retryConflicts } from '../records/thread.ts'
import { commitTransitions, rootLifecycle, type Transition, transition } from '../records/transition.ts'
import type { Leftover, Outcome } from './outcome.ts'

/** The end of a run: its last events, its last transition and the thread's next record. */
export interface Ending {
  /** The reopened interrupts, and the terminal event. */
  readonly events: readonly AgentEvent[]
  readonly transition: Transition
  readonly thread: ThreadRecord
}

/** The maximum of unfinished runs that a thread remembers. */
const MAX_UNFINISHED = 100

const OWNER_LOST = 'The server that was running this stopped. Send your message again.'

/**
 * Ends a run: terminal event, records and release of the lease, in one commit. Returns the records that it
 * wrote, if they are known.
 */
export async function finish(
  context: RunContext,
  { run, token, records, now }: LaunchedRun,
  appender: Appender,
  outcome: Outcome,
  leftover: Leftover,
): Promise<RunRecords | undefined> {
  const { threadId } = run
  return retryConflicts(async () => {
    const held = await records.get()
    if (!held?.run) {
      await releaseLease(context.store, threadId, token)
      return undefined
    }
    const before = { thread: held.thread.record, run: held.run.record, now: now() }
    const ending = await resolveEnding(context, before, token, outcome, leftover)
    const guards = [guardThread(threadId, held.thread), guardRun(held.run)]
    const supersededThroughSeq = appender.omittedThrough() ?? ending.thread.supersededThroughSeq
    const thread = { ...ending.thread, supersededThroughSeq }
    const write = (runOps: readonly Op[]) =>
      records.commit([...runOps, putThread(thread), { op: 'release', token }], (ops) =>
        appender.commit(ending.events, guards, ops),
      )
    await commitTransitions(context, [ending.transition], write, held.answer)
    return records.known()
  })
}

/** A run that ends, and its thread, with the time of the store's clock. */
export interface EndingRun {
  readonly thread: ThreadRecord
  readonly run: RunRecord
  readonly now: number
}

/**
 * Determines how a run ends, and the resulting thread. Undoes what the run wrote if a rollback was requested,
 * for which the caller must hold the lease with `token`. A run that cannot be undone has failed.
 */
export async function resolveEnding(
  context: RunContext,
  { thread: before, run, now }: EndingRun,
  token: number,
  outcome: Outcome,
  { raised, atBreakpoint, usage }: Leftover,
): Promise<Ending> {
  const { cancel } = run
  // A cancel that arrived after the agent's last event still counts, because it was accepted.
  const stopped: Outcome = cancel ? { end: 'stopped', reason: cancel } : outcome
  const undone: RollbackResult = cancel === 'rollback' ? await rollback(context, run, token) : { thread: {} }
  const rolledBack = undone.thread
  const thread = { ...before, ...(await finalHead(context, before, run)) }
  const settled = undone.failure ?? stopped
  const open = settled.end === 'done' ? raised : await remainingInterrupts(context, run, thread, settled.end)
  const end = endOf(settled, open.length > 0 || atBreakpoint)
  const interrupts = rolledBack.interrupts ?? open
  const reopened = interrupts.filter((interrupt) => !isListed(thread, interrupt))
  const { status, shown } = end
  const message = shown?.message ?? null
  const rests =
    interrupts.length > 0 || end.reason === null ? 'interrupted' : status === 'error' ? 'error' : 'idle'
  return {
    events: [
      ...reopened.map((open) => inputRequested(open.namespace, open)),
      rootLifecycle(run, end.event, shown ?? undefined),
    ],
    transition: transition(
      thread,
      run,
      end.reason === null
        ? { type: 'run.interrupted', status, usage, shown, interruptIds: open.map(({ id }) => id) }
        : {
            type: 'run.ended',
            status,
            reason: end.reason,
            usage,
            shown,
            ...(settled.end === 'failed' && { error: settled.error }),
          },
    ),
    thread: {
      ...thread,
      activeRunId: null,
      ...(thread.queue.length === 0 ? { status: rests } : { status: 'busy', restStatus: rests }),
      error: message,
      unfinishedRunIds:
        settled.end === 'done'
          ? thread.unfinishedRunIds
          : [...thread.unfinishedRunIds, run.runId].slice(-MAX_UNFINISHED),
      updatedAt: now,
      stateUpdatedAt: now,
      ...rolledBack,
      interrupts: interrupts.map((open) => (reopened.includes(open) ? { ...open, runId: run.runId } : open)),
    },
  }
}

/** Whether clients list an interrupt as open, because of an event of this or an earlier run. */
const isListed = ({ interrupts }: ThreadRecord, { id, runId }: OpenInterrupt): boolean =>
  runId !== '' && interrupts.some((listed) => listed.id === id && listed.runId === runId)

/** The head after a run. Its only checkpoint may have been written too late to be recorded. */
async function finalHead(
  context: RunContext,
  thread: ThreadRecord,
  run: RunRecord,
): Promise<Partial<ThreadRecord>> {
  if (thread.restoredCheckpointId === null) return {}
  try {
    const written = await retryUnavailable(context.retryForMs, () => hasWritten(context, thread, run))
    return written ? { restoredCheckpointId: null, restoredWrites: undefined } : {}
  } catch (error) {
    context.report(error, { threadId: run.threadId, runId: run.runId })
    return {}
  }
}

/**
 * Whether this run wrote the newest checkpoint of the thread, according to its metadata. The thread's record
 * is not sufficient: the checkpoints of a rolled-back run stay, and the record changes only after the first
 * checkpoint of the next run.
 */
export async function hasWritten(
  context: RunContext,
  { threadId, restoredCheckpointId }: ThreadRecord,
  { runId, assistantId, rollbackPoint }: RunRecord,
): Promise<boolean> {
  const checkpointer = checkpointerOf(context, readerOf(context, assistantId))
  const config = { configurable: { thread_id: threadId, checkpoint_ns: '' } }
  const newest = await saverInTime(context, checkpointer.getTuple(readOnly(config)))
  if (!newest) return false
  const { run_id: writer } = (newest.metadata ?? {}) as { readonly run_id?: unknown }
  if (writer !== undefined) return writer === runId
  // Checkpoints of early versions do not contain a run id.
  return restoredCheckpointId === null && newest.checkpoint.id !== rollbackPoint?.checkpointId
}

/** The effect of a rollback on a thread, or its failure. */
interface RollbackResult {
  readonly thread: Partial<
    Pick<ThreadRecord, 'interrupts' | 'restoredCheckpointId' | 'restoredWrites' | 'supersededThroughSeq'>
  >
  readonly failure?: Outcome
}

/** Restores the checkpoint and interrupts from before the run, or deletes the state if there was none. */
async function rollback(context: RunContext, run: RunRecord, token: number): Promise<RollbackResult> {
  const { threadId, runId, assistantId, rollbackPoint } = run
  const { checkpointId = null, interrupts = [], writes } = rollbackPoint ?? {}
  if (checkpointId === null) {
    try {
      const saver = checkpointerOf(context, readerOf(context, assistantId))
      // A process that lost the thread would delete what a later run wrote.
      const fenced = fencedCheckpointer(saver, context.store, threadId, token)
      const clear = async (): Promise<void> => {
        await assertLease(context, threadId, token)
        await fenced.deleteThread(threadId)
      }
      await saverInTime(context, retryUnavailable(context.retryForMs, clear))
    } catch (error) {
      if (error instanceof FencedError) throw error
      const shown = reportFailure(context, { threadId, runId }, error, true)
      return { thread: {}, failure: { end: 'failed', error, shown } }
    }
  }
  // All events of the run except its terminal event are written.
  const supersededThroughSeq = (await context.store.inspect(threadId)).head + 1
  return {
    thread: { interrupts, restoredCheckpointId: checkpointId, restoredWrites: writes, supersededThroughSeq },
  }
}

/**
 * The interrupts that an unfinished run leaves open. Only the state shows which of the earlier interrupts are
 * still open, because the run may have ended before its agent took an answer or input.
 */
async function remainingInterrupts(
  context: RunContext,
  run: RunRecord,
  thread: ThreadRecord,
  end: Outcome['end'],
): Promise<readonly OpenInterrupt[]> {
  const { threadId, interrupts } = thread
  const before = run.rollbackPoint?.interrupts ?? []
  // An agent that failed has ended its writes: a question that it could not save is not open.
  const hasSettled = end === 'failed'
  if (before.length === 0 && (!hasSettled || interrupts.length === 0)) return interrupts
  try {
    const read = async () => {
      const agent = readerOf(context, run.assistantId)
      const checkpointId = thread.restoredCheckpointId ?? undefined
      const checkpointer = hooked(checkpointerOf(context, agent), [withoutUndone(thread)])
      const at = { threadId, checkpointId, checkpointer }
      const snapshot = await agent.getState(at)
      if (!snapshot) return interrupts
      const open = await withoutResumed(agent, at, openInterrupts(snapshot, [...interrupts, ...before]))
      const isMissing = ({ id, runId }: OpenInterrupt): boolean =>
        runId === run.runId && !open.some((one) => one.id === id)
      // A question of this run may not be in the state yet: a stopped agent does not wait for its last write.
      return hasSettled ? open : [...open, ...interrupts.filter(isMissing)]
    }
    return await saverInTime(context, retryUnavailable(context.retryForMs, read))
  } catch (error) {
    context.report(error, { threadId, runId: run.runId })
    return interrupts
  }
}

interface End {
  readonly event: 'completed' | 'failed' | 'interrupted'
  readonly status: 'success' | 'error' | 'interrupted'
  /** Null if the run waits to be continued. */
  readonly reason: RunEndReason | null
  readonly shown: ShownFailure | null
}

function endOf(outcome: Outcome, waits: boolean): End {
  const interrupted = { event: 'interrupted', status: 'interrupted', shown: null } as const
  const failed = { event: 'failed', status: 'error' } as const
  switch (outcome.end) {
    case 'failed':
      return { ...failed, reason: 'failed', shown: outcome.shown }
    case 'lost':
      return { ...failed, reason: 'lost', shown: { message: OWNER_LOST, name: 'Error' } }
    case 'stopped':
      return { ...interrupted, reason: stopReasonOf(outcome.reason) }
    case 'done':
      return waits
        ? { ...interrupted, reason: null }
        : { event: 'completed', status: 'success', reason: 'completed', shown: null }
  }
}

const stopReasonOf = (reason: StopReason): RunEndReason =>
  reason === 'rollback' ? 'rolled_back' : reason === 'interrupt' ? 'cancelled' : 'closed'
