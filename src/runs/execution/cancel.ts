import type { RunContext } from '../context.ts'
import { noSuchRun, noSuchTask } from '../errors.ts'
import {
  type CancelAction,
  guardRun,
  guardThread,
  isEnded,
  isTaskEnded,
  loadRun,
  loadThread,
  putTask,
  putThread,
  requestCancel,
  strongerCancel,
  type TaskRecord,
  withoutQueued,
} from '../records/records.ts'
import { commitTransitions, dropped } from '../records/transition.ts'
import { retryConflicts } from '../records/update.ts'
import { dropWaiting } from './enqueue.ts'

/**
 * Asks a run to stop, wherever it executes; a run that still waits is dropped. Returns when that is recorded, not when the
 * agent has stopped. An ended run is left alone. Throws `RunError` `no_such_run`.
 */
export async function cancelRun(
  context: RunContext,
  threadId: string,
  runId: string,
  action: CancelAction,
): Promise<void> {
  const { store } = context
  await retryConflicts(async () => {
    const [thread, run] = await Promise.all([loadThread(store, threadId), loadRun(store, threadId, runId)])
    if (!thread || !run) throw noSuchRun(runId)
    if (isEnded(run.record)) return
    const unchanged = guardRun(run)
    if (run.record.status === 'pending') {
      const cancelled = dropped(thread.record, run.record, 'cancelled')
      await commitTransitions(context.observe, [cancelled], (ops) =>
        store.commit(threadId, {
          guards: [guardThread(threadId, thread), unchanged],
          ops: [...ops, putThread(withoutQueued(thread.record, [runId]))],
        }),
      )
      return
    }
    const cancel = strongerCancel(run.record.cancel, action)
    // Who stops a run does not want it to continue with the answers that wait behind it.
    const queue = thread.record.queue.filter(({ answers }) => answers.length > 0)
    const ops = [requestCancel(run.record, cancel)]
    if (queue.length > 0) {
      const ended = await dropWaiting(context, { ...thread.record, queue }, 'cancelled')
      const runIds = queue.map((answer) => answer.runId)
      await commitTransitions(context.observe, ended, (endings) =>
        store.commit(threadId, {
          guards: [guardThread(threadId, thread), unchanged],
          ops: [...ops, ...endings, putThread(withoutQueued(thread.record, runIds))],
        }),
      )
    } else if (cancel !== run.record.cancel) {
      await store.commit(threadId, { guards: [unchanged], ops })
    }
    const local = context.active.get(threadId)
    if (local?.runId === runId) local.stop(cancel)
  })
}

/**
 * Cancels a task: its runs, those that wait first, or the questions that it has asked. Returns when that is recorded. Gives the task
 * as it was before, and changes nothing where it had ended. Throws `no_such_task`.
 */
export async function cancelTask(
  context: RunContext,
  { threadId, taskId }: { readonly threadId: string; readonly taskId: string },
  findTask: () => Promise<TaskRecord | undefined>,
): Promise<TaskRecord> {
  const { store } = context
  return retryConflicts(async () => {
    // The thread is read first: its version guards what is read of the task afterwards.
    const thread = await loadThread(store, threadId)
    const task = await findTask()
    if (!thread || !task) throw noSuchTask(taskId)
    if (isTaskEnded(task)) return task
    if (task.state !== 'input-required') {
      const { queue, activeRunId } = thread.record
      for (const runId of [...queue.map((waiting) => waiting.runId), activeRunId]) {
        if (runId !== null && task.runIds.includes(runId))
          await cancelRun(context, threadId, runId, 'interrupt')
      }
      return task
    }
    const updatedAt = Date.now()
    const interrupts = thread.record.interrupts.filter(({ runId }) => !task.runIds.includes(runId))
    const status = interrupts.length > 0 ? thread.record.status : 'idle'
    await store.commit(threadId, {
      guards: [guardThread(threadId, thread)],
      ops: [
        putThread({ ...thread.record, interrupts, status, updatedAt }),
        // A run that nobody started as a task has no record of one.
        ...(task.details === null ? [] : [putTask({ ...task, state: 'canceled', updatedAt })]),
      ],
    })
    return task
  })
}
