import { UnavailableError } from '../../storage/errors.ts'
import type { Change, Guard, Op } from '../../storage/store/store.ts'
import type { RunContext } from '../context.ts'
import { RunError } from '../errors.ts'
import {
  guardThread,
  loadRun,
  putRun,
  putThread,
  type RunRecord,
  type ThreadRecord,
  type Versioned,
} from '../records/records.ts'
import { strongerCancel } from './cancel.ts'

/** Waiting runs of one thread. More than a person could have meant. */
const MAX_QUEUED_RUNS = 1_000

export interface Enqueue {
  readonly read: Versioned<ThreadRecord> | undefined
  readonly thread: ThreadRecord
  readonly run: RunRecord
  readonly answers: readonly string[]
  readonly guards: readonly Guard[]
  readonly ops: readonly Op[]
}

/**
 * Another run holds the thread. `interrupt` and `rollback` stop it and drop the runs that wait behind it, as the reference
 * server does; the new run starts when the old one has ended.
 */
export async function enqueue(context: RunContext, request: Enqueue): Promise<void> {
  const { store } = context
  const { read, thread, run, answers } = request
  const strategy = run.multitaskStrategy
  if (strategy === 'reject') {
    throw new RunError(
      'thread_busy',
      'The thread has a run in progress. Wait for it, cancel it, or start with another multitaskStrategy.',
    )
  }
  if (thread.queue.length >= MAX_QUEUED_RUNS)
    throw new RunError('thread_busy', 'Too many runs wait on this thread.')
  const entry = { runId: run.runId, answers }
  if (strategy === 'enqueue') {
    await commitRun(context, run, {
      guards: [guardThread(thread.threadId, read), ...request.guards],
      ops: [putRun(run), putThread({ ...thread, queue: [...thread.queue, entry] }), ...request.ops],
    })
    return
  }
  const active =
    thread.activeRunId === null ? undefined : await loadRun(store, thread.threadId, thread.activeRunId)
  const waiting = await Promise.all(thread.queue.map(({ runId }) => loadRun(store, thread.threadId, runId)))
  await commitRun(context, run, {
    guards: [
      guardThread(thread.threadId, read),
      ...request.guards,
      ...(active
        ? [
            {
              guard: 'version',
              collection: 'runs',
              id: active.record.runId,
              version: active.version,
            } as const,
          ]
        : []),
    ],
    ops: [
      ...(active
        ? [putRun({ ...active.record, cancel: strongerCancel(active.record.cancel, strategy) })]
        : []),
      ...waiting.flatMap((item) => (item ? [putRun({ ...item.record, status: 'interrupted' })] : [])),
      putRun(run),
      putThread({ ...thread, queue: [entry] }),
      ...request.ops,
    ],
  })
  const local = context.active.get(thread.threadId)
  if (local && local.runId === active?.record.runId) local.stop(strategy)
}

/** A commit that enters a run. Where its answer is lost the run tells whether it was done: the caller must not start another. */
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
