import type { RunContext } from '../context.ts'
import { loadRun, loadTask, type TaskRecord } from '../records/records.ts'
import { listTasks, type TaskPage, type TaskQuery, taskOfRun } from '../records/tasks.ts'
import { findThread, type OwnedThread } from './threads.ts'

/** A task of an owner's thread, or undefined. A run that nobody started as a task is one under its own id. */
export async function findTask(
  context: RunContext,
  { taskId, ...asked }: OwnedThread & { readonly taskId: string },
): Promise<TaskRecord | undefined> {
  const { store } = context
  const { threadId } = asked
  const [thread, task] = await Promise.all([findThread(context, asked), loadTask(store, threadId, taskId)])
  if (!thread || task) return thread && task
  const run = (await loadRun(store, threadId, taskId))?.record
  return run && (run.task ? loadTask(store, threadId, run.task.taskId) : taskOfRun(thread, run))
}

/** A page of an owner's tasks, the last changed first. */
export const readTasks = ({ store }: RunContext, query: TaskQuery): Promise<TaskPage> =>
  listTasks(store, query)

/**
 * Settles once a task does not wait for input any more, on any instance: it goes on, or has ended. Gives it, or undefined where it
 * is gone. Throws what ends the subscribers of its thread, and the signal's reason when it aborts.
 */
export async function waitForAnswer(
  context: RunContext,
  { signal, ...asked }: OwnedThread & { readonly taskId: string; readonly signal?: AbortSignal | undefined },
): Promise<TaskRecord | undefined> {
  let ended: Error | undefined
  const watcher = context.watchers.open(asked.threadId, ({ reason }) => {
    ended = reason
  })
  signal?.addEventListener('abort', watcher.close)
  try {
    for (;;) {
      signal?.throwIfAborted()
      if (ended) throw ended
      const seen = watcher.wakeUps()
      const task = await findTask(context, asked)
      if (task?.state !== 'input-required') return task
      await watcher.wait(seen)
    }
  } finally {
    signal?.removeEventListener('abort', watcher.close)
    watcher.close()
  }
}
