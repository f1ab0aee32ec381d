import type { RunContext } from '../context.ts'
import { loadRun, type TaskRecord } from '../records/records.ts'
import { countTasks, listTasks, loadTask, type TaskQuery, taskOfRun } from '../records/tasks.ts'
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

export interface TaskPage {
  readonly tasks: readonly TaskRecord[]
  /** Absent at the end. */
  readonly cursor?: string
  /** How many there are of the assistant and the state, in all threads. */
  readonly total: number
}

/** A page of an owner's tasks, the last changed first. */
export async function readTasks({ store }: RunContext, query: TaskQuery): Promise<TaskPage> {
  const [page, total] = await Promise.all([listTasks(store, query), countTasks(store, query)])
  return { ...page, total }
}
