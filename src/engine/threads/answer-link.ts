import type { RunInput } from '../../agents/agent.ts'
import { reaches } from '../../core/principal.ts'
import type { RunContext } from '../context.ts'
import { noSuchTask, RunError } from '../errors.ts'
import { answerOfRun } from '../records/answers.ts'
import {
  type AnswerLink,
  type AnswerRecord,
  guardRun,
  guardThread,
  isAnswerEnded,
  loadAnswer,
  loadRun,
  loadThread,
  putAnswer,
  putInAnswer,
  restStatusOf,
  type ThreadRecord,
} from '../records/records.ts'
import { putThread, retryConflicts } from '../records/thread.ts'
import type { Owned, RunRequest } from '../requests.ts'

interface NewRun extends Pick<RunRequest, 'answer' | 'checkpointId' | 'looked'> {
  readonly runId: string
  readonly now: number
}

/**
 * The task that a new run belongs to. An answer to a question continues the task that asked, whoever sends
 * it: a task that was started over one face may be answered over another. Throws `no_such_task`, and
 * `task_ended` for a task that accepts no more messages.
 */
export async function linkToAnswer(
  { store }: RunContext,
  thread: ThreadRecord,
  start: RunInput,
  { runId, now, answer, checkpointId, looked }: NewRun,
): Promise<AnswerLink | undefined> {
  if (answer && answer.id === undefined) return { taskId: runId, createdAt: now, details: answer.details }
  const continues = start.kind === 'input' && start.value === null && checkpointId === undefined
  const goesOn = start.kind === 'resume' || (continues && restStatusOf(thread) === 'interrupted')
  const taskId = answer?.id ?? (goesOn ? thread.lastTaskId : undefined)
  if (taskId === undefined) return undefined
  const seen = looked?.answer
  const known = seen?.taskId === taskId ? seen : await loadAnswer(store, thread.threadId, taskId)
  if (known && !isAnswerEnded(known)) return { taskId, createdAt: known.createdAt, details: known.details }
  if (!answer) return undefined
  throw known ? taskEnded(known) : noSuchTask(taskId)
}

const taskEnded = ({ state }: AnswerRecord): RunError =>
  new RunError('task_ended', `The task has ended (${state}). Start a new one.`)

/**
 * Turns a run that was not started as a task into one when a message first refers to it as a task. Throws
 * `no_such_task` and `task_ended`.
 */
export async function joinAnswer(
  { store }: RunContext,
  {
    threadId,
    answer: asked,
    looked,
    ...access
  }: Owned<Pick<RunRequest, 'threadId' | 'principal' | 'answer' | 'looked'>>,
): Promise<void> {
  const taskId = asked?.id
  if (taskId === undefined || looked?.answer?.taskId === taskId) return
  await retryConflicts(async () => {
    const thread = await loadThread(store, threadId)
    if (!thread || !reaches(access, thread.record) || (await loadAnswer(store, threadId, taskId))) return
    const run = await loadRun(store, threadId, taskId)
    if (!run || run.record.task) throw noSuchTask(taskId)
    const task = { ...answerOfRun(thread.record, run.record), details: asked!.details }
    if (isAnswerEnded(task)) throw taskEnded(task)
    const { createdAt, details } = task
    const isLast = thread.record.lastRunId === taskId || task.state === 'input-required'
    await store.commit(threadId, {
      guards: [guardThread(threadId, thread), guardRun(run)],
      ops: [
        putAnswer(task),
        putInAnswer(run.record, { taskId, createdAt, details }),
        putThread({ ...thread.record, ...(isLast && { lastTaskId: taskId }) }),
      ],
    })
  })
}
