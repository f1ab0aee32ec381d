import { within } from '../../core/time.ts'
import { expireLease, renewLease } from '../../storage/coordination/leases.ts'
import { retryUnavailable } from '../../storage/coordination/retry.ts'
import { FencedError, UnavailableError } from '../../storage/errors.ts'
import { type ActiveRun, beforeClose, closeReason, type LaunchedRun, type RunContext } from '../context.ts'
import { RunTimeout } from '../errors.ts'
import { noteFailure, reportFailure, type StorageHealth } from '../failures.ts'
import { type Appender, createAppender } from '../log/appender.ts'
import { readLog } from '../log/decode.ts'
import type { Topic } from '../log/frame.ts'
import type { RunRecord, RunRecords } from '../records/records.ts'
import { aboutRun } from '../records/transition.ts'
import { finish } from './finish.ts'
import { iterateAgent } from './iterate.ts'
import { launchNext } from './launch.ts'
import { handOver, leaveRun, superviseRun } from './lease.ts'
import type { AgentOutcome, Outcome } from './outcome.ts'
import { createRecorder } from './recorder.ts'
import { runSaver } from './saver/run-saver.ts'

/**
 * Executes a run to its end (events in the log, one terminal event), then the waiting runs, one after the
 * other. Never rejects.
 */
export function execute(context: RunContext, launched: LaunchedRun): Promise<void> {
  const { executing } = context
  const { threadId } = launched.run
  const work = beforeClose(context, executeThread(context, launched)).then(() => {
    if (executing.get(threadId) === work) executing.delete(threadId)
  })
  executing.set(threadId, work)
  return work
}

async function executeThread(context: RunContext, launched: LaunchedRun): Promise<void> {
  const { threadId } = launched.run
  const { owner } = launched.thread
  let next: LaunchedRun | undefined = launched
  while (next) {
    const stop = new AbortController()
    // It was claimed while the server was closing.
    if (context.closing.signal.aborted) stop.abort(closeReason(context, next.run.assistantId))
    const done = attempt(context, next, stop)
    const active: ActiveRun = {
      runId: next.run.runId,
      assistantId: next.run.assistantId,
      token: next.token,
      stop: (reason) => stop.abort(reason),
      done,
    }
    context.active.set(threadId, active)
    const left = await done
    // A caller that starts a run after the end of this one must see that the thread is free.
    const mayWait = !left || left.thread.record.queue.length > 0
    if (context.active.get(threadId) === active) context.active.delete(threadId)
    context.slots.release(owner)
    next = await launchAfter(context, threadId, owner, mayWait)
  }
}

/**
 * The run that executes next on a thread with waiting runs, unless other threads have waited longer for a
 * slot.
 */
async function launchAfter(
  context: RunContext,
  threadId: string,
  owner: string | null,
  mayWait: boolean,
): Promise<LaunchedRun | undefined> {
  const { waitingForSlot: waiting } = context
  if (waiting.size === 0) return mayWait ? launchNext(context, threadId) : undefined
  if (mayWait) waiting.set(threadId, owner)
  await startWaiting(context)
  return undefined
}

/** Starts runs of threads that wait for a slot, as far as slots are free. */
export async function startWaiting(context: RunContext): Promise<void> {
  const { waitingForSlot: waiting, slots } = context
  for (const [threadId, owner] of [...waiting]) {
    if (!slots.isFree(owner) || !waiting.delete(threadId)) continue
    const launched = await launchNext(context, threadId)
    if (launched) void execute(context, launched)
  }
}

/** Returns the records that the end of the run wrote, if it was written here. */
async function attempt(
  context: RunContext,
  launched: LaunchedRun,
  stop: AbortController,
): Promise<RunRecords | undefined> {
  const { thread, run, token } = launched
  try {
    return await runToEnd(context, launched, stop)
  } catch (error) {
    // A fenced writer lost the thread to another one, which notifies the subscribers.
    if (error instanceof FencedError) context.observe({ ...aboutRun(thread, run), type: 'run.fenced' })
    else {
      const { threadId, runId } = run
      const isAway = error instanceof StorageAway || error instanceof UnavailableError
      context.report(error instanceof StorageAway ? error.cause : error, { threadId, runId })
      // The run has no end yet: a process that finds the expired lease will end it. If the store is still
      // unavailable, the lease expires by itself.
      await (isAway ? leaveRun(context, launched) : expireLease(context.store, threadId, token)).catch(
        () => {},
      )
    }
    return undefined
  }
}

/** An attempt is given up: the cause is what its agent made of the absence of the storage. */
class StorageAway extends Error {}

async function runToEnd(
  context: RunContext,
  launched: LaunchedRun,
  stop: AbortController,
): Promise<RunRecords | undefined> {
  const { store, retryForMs } = context
  const { run, token, head, claimedAt } = launched
  const { threadId, runId } = run
  const { runMs, eventLength } = context.limits
  const renew = (): Promise<void> => renewLease(store, threadId, token, context.leaseTtlMs)
  const log = { store, watchers: context.watchers, threadId, runId, retryForMs }
  const appender = createAppender({ ...log, token, head, claimedAt, eventLength, renew })
  const timer = runMs <= MAX_TIMER_MS && setTimeout(() => stop.abort(tookTooLong(runMs)), runMs)
  const stopSupervising = superviseRun(context, launched, (reason) => stop.abort(reason))
  try {
    const storage: StorageHealth = { failed: false, unavailable: false }
    const lost = run.attempts > 1 ? await readLost(context, run) : undefined
    for (const event of lost?.ends ?? []) void appender.push(event)
    const recorder = createRecorder(context, launched, appender, storage, lost?.retraction)
    const end = (outcome: Outcome): Promise<RunRecords | undefined> =>
      retryUnavailable(retryForMs, () => finish(context, launched, appender, outcome, recorder.leftover()))
    const ended = await iterateAgent(context, launched, stop.signal, {
      record: recorder.record,
      flush: () => appender.flush(),
      saverOf: (writes, signal) =>
        runSaver(context, launched, { writes, storage, heldAt: appender.heldAt, renew, signal }),
    })
    if (!isHandedOn(ended)) recorder.endMessages()
    if (ended.end === 'done') {
      // Its last events are written together with its end.
      try {
        return await end(ended)
      } catch (error) {
        if (error instanceof FencedError || !appender.hasFailed()) throw error
      }
    }
    const flushed = await afterFlush(appender, ended, storage)
    if (flushed.end === 'failed' && isGivenUp(context, run, storage))
      throw new StorageAway('The storage was away.', { cause: flushed.error })
    const outcome: Outcome =
      flushed.end === 'failed'
        ? { ...flushed, shown: reportFailure(context, { threadId, runId }, flushed.error, storage.failed) }
        : flushed
    if (outcome.end === 'stopped' && outcome.reason === 'fenced') throw new FencedError('The lease was lost.')
    if (outcome.end === 'stopped' && outcome.reason === 'hand over') {
      stopSupervising()
      await handOver(context, launched)
      return undefined
    }
    return await end(outcome)
  } finally {
    if (timer) clearTimeout(timer)
    stopSupervising()
  }
}

/**
 * What earlier attempts sent, before this one sends anything: the events that end their messages, and those
 * that retract them.
 */
async function readLost({ store, retryForMs }: RunContext, run: RunRecord) {
  const { threadId, runId, firstSeq } = run
  const isMessage = (topic: Topic): boolean => topic.method === 'messages' && topic.runId === runId
  // Few runs have a second attempt.
  const { createRetraction, endsOf, lostMessages } = await import('./supersede.ts')
  const lost = await retryUnavailable(retryForMs, () =>
    lostMessages(readLog(store, threadId, isMessage, firstSeq ?? 0)),
  )
  return { ends: endsOf(lost), retraction: createRetraction(lost) }
}

/** Whether another process continues the run, or holds its thread. */
const isHandedOn = (outcome: AgentOutcome): boolean =>
  outcome.end === 'stopped' && (outcome.reason === 'hand over' || outcome.reason === 'fenced')

/**
 * How many attempts a run may have of which the last is given up because its checkpointer was unavailable
 * while the store was not: it may be so for ever.
 */
const MAX_GIVEN_UP = 10

/**
 * Whether an attempt that failed is given up, so that the run has no end yet: the agent did not fail, but the
 * storage was unavailable for longer than calls are retried. If the agent is resumable, a process that
 * reaches the storage continues the run from its last checkpoint.
 */
const isGivenUp = (
  { store, wasAway, leaseTtlMs }: RunContext,
  { attempts }: RunRecord,
  { unavailable }: StorageHealth,
): boolean => unavailable && store.capabilities.shared && (attempts < MAX_GIVEN_UP || wasAway(leaseTtlMs))

/** A longer timer would fire immediately. */
const MAX_TIMER_MS = 2_147_483_647

const tookTooLong = (ms: number): RunTimeout =>
  new RunTimeout('limit_exceeded', `The run took longer than ${ms} ms and was stopped.`)

/** The outcome once all events are in the log. A run whose last events could not be written has failed. */
async function afterFlush(
  appender: Appender,
  outcome: AgentOutcome,
  storage: StorageHealth,
): Promise<AgentOutcome> {
  try {
    await appender.flush()
    return outcome
  } catch (error) {
    if (error instanceof FencedError) throw error
    noteFailure(storage, error)
    return outcome.end === 'done' ? { end: 'failed', error } : outcome
  }
}

/** How long a caller waits for a run to start. A longer start, with retries, continues in the background. */
const START_MS = 1_000

/** Starts the first waiting run of a free thread, if there is one. */
export async function startNext(context: RunContext, threadId: string): Promise<void> {
  const started = launchNext(context, threadId).then((next) => {
    if (next) void execute(context, next)
  })
  await within(START_MS, beforeClose(context, started))
}

/** Starts a run that is due, unless another process was first. Never rejects. */
export async function startDue(context: RunContext, threadId: string): Promise<void> {
  if (context.closing.signal.aborted) return
  await startNext(context, threadId).catch((error) => context.report(error, { threadId }))
}
