import { type Access, reaches } from '../../principal.ts'
import type { Store } from '../../storage/store/store.ts'
import type { RunContext } from '../context.ts'
import { loadRun, loadTask, loadThread, type TaskRecord } from '../records/records.ts'
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

/** A page of an owner's tasks, the last changed first, whose threads the caller reaches. Where it does not reach all, pages may be shorter. */
export async function readTasks(
  { store }: RunContext,
  { metadataFilter, cursor: first, ...query }: TaskQuery & Access,
): Promise<TaskPage> {
  const isReached = reachedThreads(store, { owner: query.owner, metadataFilter })
  if (!metadataFilter) {
    const page = await listTasks(store, { ...query, cursor: first })
    // The thread of one that an earlier version has made may be another owner's by now.
    const mayShow = await Promise.all(page.tasks.map((task) => task.owner === query.owner || isReached(task)))
    return { ...page, tasks: page.tasks.filter((_, at) => mayShow[at]) }
  }
  const pageFrom = async (cursor: string | undefined, limit: number) => {
    const page = await listTasks(store, { ...query, limit, cursor })
    const reached = await Promise.all(page.tasks.map(isReached))
    return { ...page, tasks: page.tasks.filter((_, at) => reached[at]) }
  }
  let page = await pageFrom(first, query.limit)
  while (page.tasks.length === 0 && page.cursor !== undefined) page = await pageFrom(page.cursor, query.limit)
  let total = 0
  let all: TaskPage | undefined
  do {
    all = await pageFrom(all?.cursor, MAX_LISTED)
    total += all.tasks.length
  } while (all.cursor !== undefined)
  return { ...page, total }
}

/** Tasks in one call of the store. */
const MAX_LISTED = 1_000

/** Whether the caller reaches the thread of a task. Each thread is looked up once. */
function reachedThreads(store: Store, access: Access): (task: TaskRecord) => Promise<boolean> {
  const known = new Map<string, Promise<boolean>>()
  const look = async (threadId: string): Promise<boolean> => {
    const thread = await loadThread(store, threadId)
    return thread !== undefined && !thread.record.deleting && reaches(access, thread.record)
  }
  return ({ threadId }) => {
    const found = known.get(threadId) ?? look(threadId)
    known.set(threadId, found)
    return found
  }
}

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
