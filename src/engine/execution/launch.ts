import type { RunInput } from '../../agents/agent.ts'
import { backoff, pause } from '../../core/time.ts'
import { readOnly } from '../../storage/checkpointer/shared.ts'
import { claimLease, isHeld, nextToken } from '../../storage/coordination/leases.ts'
import { ConflictError } from '../../storage/errors.ts'
import type { Change, Guard, Op, PartitionState } from '../../storage/store/store.ts'
import {
  assertOpen,
  beforeClose,
  checkpointerOf,
  type LaunchedRun,
  type NewestCheckpoint,
  ownCheckpointerOf,
  type RunContext,
  readerOf,
} from '../context.ts'
import { deadlineOf, saverInTime } from '../deadlines.ts'
import { persist } from '../log/appender.ts'
import { encodeFrame, pendingEvent } from '../log/frame.ts'
import { giveUpAnswer } from '../records/answers.ts'
import { writtenRecords } from '../records/held.ts'
import { keepWrites } from '../records/kept-writes.ts'
import {
  EMPTY,
  guardThread,
  loadRun,
  loadWithState,
  type RollbackPoint,
  type RunRecord,
  type ThreadRecord,
  type Versioned,
  withoutQueued,
} from '../records/records.ts'
import { putThread, startOfFirst } from '../records/thread.ts'
import { commitTransitions, dropped, rootLifecycle, transition } from '../records/transition.ts'
import { orphanedThread } from '../threads/savers.ts'

export interface ThreadClaim {
  readonly read: Versioned<ThreadRecord> | undefined
  readonly thread: ThreadRecord
  readonly run: RunRecord
  readonly state: PartitionState
  /** See `LaunchedRun`. */
  readonly now: () => number
  /** See `RunRequest`. */
  readonly isNewThread?: boolean | undefined
  /** Additional guards and operations of the same commit. */
  readonly guards?: readonly Guard[]
  readonly ops?: readonly Op[]
}

/** How long a claim is retried. Short, because a caller waits for the response. */
const RETRY_FOR_MS = 1_000

/** Claims the thread for a run that already holds a slot. Releases the slot on failure. */
export async function claimThread(context: RunContext, asked: ThreadClaim): Promise<LaunchedRun> {
  try {
    return await claim(context, asked)
  } catch (error) {
    context.slots.release(asked.thread.owner)
    throw error
  }
}

/**
 * Claims the thread for a run: lease, records and its `running` event, in one commit. Throws `ConflictError`
 * if another process was first.
 */
async function claim(
  context: RunContext,
  { read, thread, run, state, now, isNewThread, guards = [], ops = [] }: ThreadClaim,
): Promise<LaunchedRun> {
  const { threadId } = run
  const token = nextToken(state)
  const isRestored = thread.restoredCheckpointId !== null
  const newest = isNewThread ? { tuple: undefined } : isRestored ? undefined : await newestOf(context, run)
  const rollbackPoint: RollbackPoint = {
    checkpointId: thread.restoredCheckpointId ?? newest?.tuple?.checkpoint.id ?? null,
    writes: isRestored ? thread.restoredWrites : keepWrites(newest?.tuple?.pendingWrites),
    interrupts: thread.interrupts,
  }
  if (!read && thread.owner !== null && rollbackPoint.checkpointId !== null) throw orphanedThread(threadId)
  const head = state.head + 1
  const started = transition(thread, { ...run, firstSeq: head }, { type: 'run.started', rollbackPoint })
  const busy: ThreadRecord = {
    ...thread,
    status: 'busy',
    error: null,
    updatedAt: state.now,
    activeRunId: run.runId,
    lastRunId: run.runId,
    lastTaskId: run.task?.taskId,
    queue: thread.queue.filter(({ runId }) => runId !== run.runId),
    restStatus: undefined,
    interrupts: interruptsKept(thread, run),
    supersededThroughSeq: run.checkpointId === null ? thread.supersededThroughSeq : state.head,
  }
  const frame = encodeFrame(pendingEvent(rootLifecycle(run, 'running'), run.runId), token, head)
  const abandoned = await giveUpAnswer(context.store, thread, { now: state.now, next: run.task })
  assertOpen(context)
  const records = writtenRecords(context.store, started.run)
  const claimedAt = performance.now()
  const commit = commitTransitions(context, [started], async (runOps) => {
    const change: Change = {
      guards: [guardThread(threadId, read), { guard: 'free' }, { guard: 'head', seq: state.head }, ...guards],
      ops: [
        claimLease(context, token),
        ...runOps,
        ...abandoned,
        putThread(busy),
        { op: 'append', token, events: [frame] },
        ...ops,
      ],
    }
    const written = { store: context.store, threadId, token, before: state.head, after: head }
    const appended = { before: state.head, token, events: [frame] }
    await records.commit(change.ops, () =>
      context.watchers.append(threadId, appended, () =>
        persist({ ...written, retryForMs: RETRY_FOR_MS, change }),
      ),
    )
  })
  await beforeClose(context, commit)
  return { thread: busy, run: started.run, token, head, claimedAt, records, now, newest }
}

/**
 * The interrupts that clients keep when the run starts: on a resume those that it does not answer, otherwise
 * none.
 */
const interruptsKept = ({ interrupts }: ThreadRecord, { start }: RunRecord): ThreadRecord['interrupts'] =>
  start.kind === 'resume' ? interrupts.filter(({ id }) => !Object.hasOwn(start.answers, id)) : []

async function newestOf(
  context: RunContext,
  { threadId, assistantId }: RunRecord,
): Promise<NewestCheckpoint> {
  const saver = ownCheckpointerOf(context, readerOf(context, assistantId))
  const configurable = { thread_id: threadId, checkpoint_ns: '' }
  return { tuple: await saverInTime(context, saver.getTuple(readOnly({ configurable }))) }
}

const FIRST_DELAY_MS = 10
const MAX_DELAY_MS = 500

/**
 * Claims a free thread for its first waiting run, and returns it for the caller to execute. Any process may
 * call it at any time; one that loses the race gets undefined. Failures are retried for a while, because no
 * other process may start the run before the next sweep.
 */
export async function launchNext(context: RunContext, threadId: string): Promise<LaunchedRun | undefined> {
  const { closing } = context
  const giveUpAt = performance.now() + deadlineOf(context)
  for (let failures = 0; !closing.signal.aborted; ) {
    try {
      return await claimForNext(context, threadId)
    } catch (error) {
      if (error instanceof ConflictError) continue
      if (performance.now() > giveUpAt) {
        // The run stays queued, for the sweep or another process.
        context.report(error, { threadId })
        return undefined
      }
      await pause(backoff(failures++, FIRST_DELAY_MS, MAX_DELAY_MS), closing.signal)
    }
  }
  return undefined
}

async function claimForNext(context: RunContext, threadId: string): Promise<LaunchedRun | undefined> {
  const { store, slots, waitingForSlot } = context
  if (!slots.isFree(null)) {
    waitingForSlot.set(threadId, null)
    return undefined
  }
  const { state, now, read } = await loadWithState(store, threadId)
  if (!read || read.record.activeRunId !== null || isHeld(state)) return undefined
  const { queue } = read.record
  const next = queue.find(({ startsAt = 0 }) => startsAt <= state.now)
  if (!next) {
    const startsAt = startOfFirst(queue)
    if (startsAt !== undefined) context.wakeUps.set(threadId, startsAt - state.now)
    return undefined
  }
  const run = await loadRun(store, threadId, next.runId)
  const waits = run?.record.status === 'pending'
  const start = waits && (await hasItsCheckpoint(context, run.record)) && startOf(read.record, run.record)
  if (start) {
    const { owner } = read.record
    if (!slots.tryAcquire(owner)) {
      waitingForSlot.set(threadId, owner)
      return undefined
    }
    return claimThread(context, { read, thread: read.record, run: { ...run.record, start }, state, now })
  }
  // The run has nothing left to answer or to fork from, or it is not waiting, or its record no longer exists.
  const withdrawn = waits ? [dropped(read.record, run.record, 'withdrawn')] : []
  await commitTransitions(context, withdrawn, (ops) =>
    store.commit(threadId, {
      guards: [guardThread(threadId, read)],
      ops: [...ops, putThread(withoutQueued(read.record, [next.runId]))],
    }),
  )
  return claimForNext(context, threadId)
}

/**
 * Whether the checkpoint that a queued run forks from still exists. A rollback may have deleted it since: an
 * agent would begin with an empty state.
 */
async function hasItsCheckpoint(context: RunContext, run: RunRecord): Promise<boolean> {
  const { threadId, assistantId, checkpointId, config } = run
  if (checkpointId === null || checkpointId === EMPTY) return true
  const saver = checkpointerOf(context, readerOf(context, assistantId))
  const { checkpointNs = '' } = config
  const configurable = { thread_id: threadId, checkpoint_ns: checkpointNs, checkpoint_id: checkpointId }
  const tuple = await saverInTime(context, saver.getTuple(readOnly({ configurable })))
  return tuple?.checkpoint.id === checkpointId
}

/**
 * The start of a queued run. Answers to interrupts that are no longer open are omitted; undefined if none is
 * left.
 */
function startOf({ interrupts }: ThreadRecord, { start }: RunRecord): RunInput | undefined {
  if (start.kind !== 'resume') return start
  const given = Object.entries(start.answers)
  const open = given.filter(([answered]) => interrupts.some(({ id }) => id === answered))
  if (open.length === 0 && given.length > 0) return undefined
  return { ...start, answers: Object.fromEntries(open) }
}
