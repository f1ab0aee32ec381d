import type { RunInput } from '../../agents/agent.ts'
import { claimLease, expireLease, isHeld, nextToken, renewLease } from '../../storage/coordination/leases.ts'
import { ConflictError, FencedError } from '../../storage/errors.ts'
import type { PartitionState } from '../../storage/store/store.ts'
import {
  assertOpen,
  beforeClose,
  findAgent,
  type LaunchedRun,
  type RunContext,
  readerOf,
} from '../context.ts'
import { saverInTime } from '../deadlines.ts'
import { encodeFrame, pendingEvent } from '../log/frame.ts'
import { writtenRecords } from '../records/held.ts'
import { openInterrupts, withoutResumed } from '../records/interrupts.ts'
import {
  excuse,
  guardRun,
  guardThread,
  loadRun,
  loadWithState,
  type RunRecord,
  type ThreadRecord,
  type Versioned,
} from '../records/records.ts'
import { putThread } from '../records/thread.ts'
import { commitTransitions, transition } from '../records/transition.ts'
import { addressOf, readState } from '../threads/state.ts'
import { hasWritten, resolveEnding } from './finish.ts'
import { keepRenewing } from './lease.ts'

/** How many processes a run may lose before it is assumed to crash them. */
const MAX_LOSSES = 3

/** The maximum of lost attempts that a thread remembers. */
const MAX_LOST = 100

/**
 * Takes over a run whose process is lost, which an expired lease indicates. The run of a resumable agent is
 * returned, to continue from its last checkpoint. Any other run ends with one `failed` event, or
 * `interrupted` if a cancel was requested. Does nothing while the lease is held or if another process was
 * first.
 */
export async function takeOverRun(context: RunContext, threadId: string): Promise<LaunchedRun | undefined> {
  const { store } = context
  const { state, now, read: thread } = await loadWithState(store, threadId)
  if (isHeld(state)) return undefined
  if (!thread || thread.record.activeRunId === null) {
    // Its holder was lost while it wrote a state or deleted the thread.
    if (state.lease) {
      const { token } = state.lease
      await store.commit(threadId, { ops: [{ op: 'release', token }] })
    }
    return undefined
  }
  const { activeRunId } = thread.record
  const active = context.active.get(threadId)
  try {
    if (active?.runId === activeRunId && state.token === active.token) {
      // This process still executes it, but renewed its lease too late.
      await renewLease(store, threadId, active.token, context.leaseTtlMs)
      return undefined
    }
    const run = await loadRun(store, threadId, activeRunId)
    if (!run) return undefined
    const record = wasLost(context, state) ? run.record : excuse(run.record)
    const orphan: OrphanedRun = { thread, run: { ...run, record }, state, now, token: nextToken(state) }
    if (isResumable(context, record)) return await continueOrphanedRun(context, orphan)
    await endOrphanedRun(context, orphan)
  } catch (error) {
    if (!(error instanceof ConflictError || error instanceof FencedError)) throw error
  }
  return undefined
}

interface OrphanedRun {
  readonly thread: Versioned<ThreadRecord>
  readonly run: Versioned<RunRecord>
  readonly state: PartitionState
  /** See `LaunchedRun`. */
  readonly now: () => number
  readonly token: number
}

const isResumable = (context: RunContext, { cancel, attempts, excused, assistantId }: RunRecord): boolean =>
  cancel === null &&
  attempts - (excused?.length ?? 0) < MAX_LOSSES &&
  findAgent(context, assistantId)?.resumable === true

/**
 * Whether the holder of the lease may have been lost. It was not if it is this process, which renewed its
 * lease too late. If this process could not reach the store since the lease was renewed last, it could not
 * either.
 */
const wasLost = ({ instance, leaseTtlMs, wasAway }: RunContext, { lease, now }: PartitionState): boolean =>
  lease?.owner !== instance && !(lease && wasAway(now - lease.expiresAt + leaseTtlMs))

const guards = ({ thread, run, state }: OrphanedRun) =>
  [
    guardThread(thread.record.threadId, thread),
    guardRun(run),
    { guard: 'free' },
    { guard: 'head', seq: state.head },
  ] as const

/**
 * Continues the run with a new token. Subscribers see that its events continue, and which messages the lost
 * attempt left.
 */
async function continueOrphanedRun(context: RunContext, orphan: OrphanedRun): Promise<LaunchedRun> {
  const { token, state, now } = orphan
  const before = orphan.thread.record
  const written = await hasWritten(context, before, orphan.run.record)
  const thread = {
    ...before,
    ...(written && { restoredCheckpointId: null, restoredWrites: undefined }),
    lostTokens: [...before.lostTokens, state.token].slice(-MAX_LOST),
  }
  const takenOver = transition(thread, orphan.run.record, { type: 'run.taken_over' })
  const { run } = takenOver
  const rest = written ? FROM_HEAD : await remainingInput(context, thread, run)
  assertOpen(context)
  const records = writtenRecords(context.store, run)
  const claimedAt = performance.now()
  const commit = commitTransitions(context, [takenOver], (runOps) =>
    records.commit([claimLease(context, token), ...runOps, putThread(thread)], (ops) =>
      context.store.commit(run.threadId, { guards: guards(orphan), ops }),
    ),
  )
  const { head } = await beforeClose(context, commit)
  // A run that has begun does not wait for a slot again.
  context.slots.forceAcquire(thread.owner)
  const launched = { thread, run: { ...run, ...rest }, token, head: Math.max(head, state.head) }
  return { ...launched, claimedAt, records, now }
}

const CONTINUE: RunInput = { kind: 'input', value: null }

/** How a run that has written a checkpoint continues. */
const FROM_HEAD = { start: CONTINUE, checkpointId: null } satisfies Partial<RunRecord>

/** The input of the next attempt of a run without a checkpoint: it starts again. */
async function remainingInput(
  context: RunContext,
  thread: ThreadRecord,
  run: RunRecord,
): Promise<Pick<RunRecord, 'start'>> {
  const { start } = run
  return { start: start.kind === 'resume' ? await remainingAnswers(context, thread, run, start) : start }
}

/**
 * A resume with the answers that the agent has not taken. An answer that it got twice would answer its next
 * question, which has no answer yet.
 */
async function remainingAnswers(
  context: RunContext,
  thread: ThreadRecord,
  run: RunRecord,
  start: Extract<RunInput, { kind: 'resume' }>,
): Promise<RunInput> {
  if (Object.keys(start.answers).length === 0) return start
  const state = await saverInTime(context, readState(context, thread))
  if (!state) return start
  // The next question of a task may have the same id as the previous one. In that case the run has announced
  // it.
  const asked = new Set(thread.interrupts.map(({ id }) => id))
  const answered = openInterrupts(state, run.rollbackPoint?.interrupts ?? []).filter(
    ({ id }) => !asked.has(id) && Object.hasOwn(start.answers, id),
  )
  const agent = readerOf(context, run.assistantId)
  const open = await saverInTime(context, withoutResumed(agent, addressOf(context, thread, {}), answered))
  const answers = Object.fromEntries(open.map(({ id }) => [id, start.answers[id]]))
  return open.length > 0 ? { ...start, answers } : CONTINUE
}

/**
 * Ends the run in two commits. The lease comes first, because a rollback deletes data that the store cannot
 * guard.
 */
async function endOrphanedRun(context: RunContext, orphan: OrphanedRun): Promise<void> {
  const { store } = context
  const { state, token, thread } = orphan
  const run = orphan.run.record
  const { threadId } = run
  await store.commit(threadId, { guards: guards(orphan), ops: [claimLease(context, token)] })
  const stopRenewing = keepRenewing(context, threadId, token)
  try {
    const before = { thread: thread.record, run, now: orphan.now() }
    const leftover = { raised: [], atBreakpoint: false, usage: null }
    const ending = await resolveEnding(context, before, token, { end: 'lost' }, leftover)
    const frames = ending.events.map((event, i) =>
      encodeFrame(pendingEvent(event, run.runId), token, state.head + 1 + i),
    )
    const [thisThread, thisRun, , head] = guards(orphan)
    await commitTransitions(context, [ending.transition], (runOps) =>
      store.commit(threadId, {
        guards: [thisThread, thisRun, { guard: 'fence', token }, head],
        ops: [
          ...runOps,
          putThread(ending.thread),
          { op: 'append', token, events: frames },
          { op: 'release', token },
        ],
      }),
    )
  } catch (error) {
    stopRenewing()
    // The next process that tries need not wait for the lease to expire.
    await expireLease(store, threadId, token).catch(() => {})
    throw error
  } finally {
    stopRenewing()
  }
}
