import { UnavailableError } from '../../storage/errors.ts'
import type { Change, Guard, Op } from '../../storage/store/store.ts'
import type { RunContext } from '../context.ts'
import { RunError } from '../errors.ts'
import type { RunEndReason } from '../observe.ts'
import {
  type CancelAction,
  guardRun,
  guardThread,
  isEnded,
  loadRun,
  type QueuedRun,
  type RunRecord,
  requestCancel,
  strongerCancel,
  type ThreadRecord,
  type Versioned,
} from '../records/records.ts'
import { putThread } from '../records/thread.ts'
import { commitTransitions, dropped, type Transition, transition } from '../records/transition.ts'

export interface Enqueue {
  readonly read: Versioned<ThreadRecord> | undefined
  readonly thread: ThreadRecord
  readonly run: RunRecord
  readonly answers: readonly string[]
  /** See `QueuedRun.startsAt`. */
  readonly startsAt: number | undefined
  readonly guards: readonly Guard[]
  readonly ops: readonly Op[]
}

/**
 * Queues a run after the one that holds the thread. `interrupt` and `rollback` stop that one and drop the
 * waiting runs, like the reference server; the new run starts when the old one has ended.
 */
export async function enqueue(context: RunContext, request: Enqueue): Promise<void> {
  const { store } = context
  const { read, run, answers, startsAt } = request
  const thread = whileWaiting(request.thread)
  const { threadId } = thread
  const strategy = run.multitaskStrategy
  if (strategy === 'reject') {
    throw new RunError(
      'thread_busy',
      'The thread has a run in progress. Wait for it, cancel it, or use another multitaskStrategy.',
    )
  }
  if (thread.queue.length >= context.limits.queuedRuns)
    throw new RunError(
      'thread_busy',
      `The queue of this thread is full: ${thread.queue.length} runs are waiting.`,
    )
  const entry: QueuedRun = { runId: run.runId, answers, ...(startsAt !== undefined && { startsAt }) }
  const guards = [guardThread(threadId, read), ...request.guards]
  if (strategy === 'enqueue') {
    const queue = inTurn(thread.queue, entry)
    const queued = transition(thread, run, { type: 'run.queued', position: queue.indexOf(entry) + 1 })
    await commitTransitions(context, [queued], (ops) =>
      commitRun(context, run, { guards, ops: [...ops, putThread({ ...thread, queue }), ...request.ops] }),
    )
    return
  }
  const active = thread.activeRunId === null ? undefined : await loadRun(store, threadId, thread.activeRunId)
  const superseded = await dropWaiting(context, thread, 'superseded', strategy)
  const queued = transition(thread, run, { type: 'run.queued', position: 1 })
  await commitTransitions(context, [...superseded, queued], (ops) =>
    commitRun(context, run, {
      guards: active ? [...guards, guardRun(active)] : guards,
      ops: [
        ...(active ? [requestCancel(active.record, strongerCancel(active.record.cancel, strategy))] : []),
        ...ops,
        putThread({ ...thread, queue: [entry] }),
        ...request.ops,
      ],
    }),
  )
  const local = context.active.get(threadId)
  if (local && local.runId === active?.record.runId) local.stop(strategy)
}

/** Answers go before other waiting runs, because a new input discards the interrupts. */
function inTurn(queue: ThreadRecord['queue'], entry: QueuedRun): ThreadRecord['queue'] {
  const isAnswer = ({ answers }: QueuedRun): boolean => answers.length > 0
  const before = isAnswer(entry) ? queue.filter(isAnswer) : queue
  return [...before, entry, ...queue.slice(before.length)]
}

/** The thread while a run waits on it: for another run, for its start time or for a slot of a process. */
const whileWaiting = (thread: ThreadRecord): ThreadRecord =>
  thread.status === 'busy' ? thread : { ...thread, status: 'busy', restStatus: thread.status }

/** The maximum of waiting runs that are in memory with their inputs at the same time. */
const LOADED = 16

/** Ends the waiting runs of a thread that still have a record. */
export async function dropWaiting(
  { store }: RunContext,
  thread: ThreadRecord,
  reason: RunEndReason,
  cancel?: CancelAction,
): Promise<Transition[]> {
  const { threadId, queue } = thread
  const ends: Transition[] = []
  for (let at = 0; at < queue.length; at += LOADED) {
    const some = queue.slice(at, at + LOADED).map(({ runId }) => loadRun(store, threadId, runId))
    for (const run of await Promise.all(some)) {
      if (!run || isEnded(run.record)) continue
      ends.push(dropped(thread, { ...run.record, ...(cancel && { cancel }) }, reason))
    }
  }
  return ends
}

/**
 * Commits a new run. If the response of the store is lost, the run's record shows whether the commit was
 * applied, so that the caller does not start another run.
 */
async function commitRun(
  { store }: RunContext,
  { threadId, runId }: RunRecord,
  change: Change,
): Promise<void> {
  try {
    await store.commit(threadId, change)
  } catch (error) {
    const lost = error instanceof UnavailableError && error.written === 'unknown'
    if (!lost || !(await loadRun(store, threadId, runId))) throw error
  }
}
