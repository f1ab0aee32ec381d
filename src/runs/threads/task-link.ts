import type { RunInput } from '../../agents/agent.ts'
import type { RunContext } from '../context.ts'
import { noSuchTask, RunError } from '../errors.ts'
import { isTaskEnded, loadRun, type TaskLink, type ThreadRecord } from '../records/records.ts'
import { loadTask } from '../records/tasks.ts'
import type { RunRequest } from '../requests.ts'

interface NewRun extends Pick<RunRequest, 'task'> {
  readonly runId: string
  readonly now: number
}

/**
 * The task that a new run works on. An answer goes on with the task that asked, whoever gives it: a task that was started over one
 * face may be answered over another. Throws `no_such_task`, and `task_ended` for a task that takes no more.
 */
export async function linkToTask(
  context: RunContext,
  thread: ThreadRecord,
  start: RunInput,
  { runId, now, task }: NewRun,
): Promise<TaskLink | undefined> {
  const first = { taskId: runId, runIds: [runId], createdAt: now, firstSeq: null }
  if (task && task.taskId === undefined) return { ...first, details: task.details }
  const taskId = task?.taskId ?? (await askedBy(context, thread, start))
  if (taskId === undefined) return undefined
  const { threadId } = thread
  const known = await loadTask(context.store, threadId, taskId)
  if (known && !isTaskEnded(known)) {
    const { createdAt, firstSeq, details } = known
    return { taskId, runIds: [...known.runIds, runId], createdAt, firstSeq, details }
  }
  if (!task) return undefined
  if (known) throw new RunError('task_ended', `The task has ended (${known.state}). Start a new one.`)
  // A run that was started otherwise becomes a task with the first message that names it so.
  const run = (await loadRun(context.store, threadId, taskId))?.record
  if (!run) throw noSuchTask(taskId)
  const { createdAt, firstSeq } = run
  return { taskId, runIds: [taskId, runId], createdAt, firstSeq, details: task.details }
}

/** The task of the run that asked what is answered. */
async function askedBy(
  { store }: RunContext,
  { threadId, interrupts, lastRunId }: ThreadRecord,
  start: RunInput,
): Promise<string | undefined> {
  if (start.kind !== 'resume') return undefined
  const asked = interrupts.find(({ id, runId }) => runId !== '' && Object.hasOwn(start.answers, id))
  const runId = asked?.runId ?? lastRunId
  return runId === null ? undefined : (await loadRun(store, threadId, runId))?.record.task?.taskId
}
