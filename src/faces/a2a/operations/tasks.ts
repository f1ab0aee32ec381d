import { AgentwireError } from '../../../core/errors.ts'
import {
  type AnswerRecord,
  cancelAnswer,
  currentRun,
  internalsOf,
  isAnswerEnded,
  listAnswers,
  type ThreadRecord,
  untilAnswered,
} from '../../../engine/index.ts'
import { A2AError } from '../errors.ts'
import type { ListRequest, StreamEntry, Task, TaskList, TaskRequest, TaskState } from '../model.ts'
import { taskIdOf, taskNotFound } from '../tasks/ids.ts'
import { type FoundTask, questionsOf, statusOf, type TaskDetails } from '../tasks/present.ts'
import { type Followed, following } from './begin.ts'
import { permittedCall, permittedConversation, permittedTask, present } from './find.ts'
import type { A2ACall } from './operations.ts'
import { follow, settled, shownOf } from './send.ts'

export async function getTask(asked: A2ACall, request: TaskRequest): Promise<Task> {
  const { call, found } = await permittedTask(asked, 'threads:read', request)
  return present(call, found, shownOf(request))
}

/**
 * Cancels a task, and waits until it has stopped. For a task that was cancelled before, v1.0 returns it, v0.3
 * rejects the request.
 */
export async function cancelTask(asked: A2ACall, request: TaskRequest): Promise<Task> {
  const { engine } = asked.context
  const { call, found } = await permittedTask(asked, 'runs:cancel', request)
  const { principal } = call.call
  const { threadId } = found.thread
  const before = await cancelAnswer(engine, { threadId, principal, answerId: found.record.taskId })
  if (isAnswerEnded(before) && (before.state !== 'canceled' || call.dialect.version === '0.3')) {
    const { id: taskId } = request
    const message = `Task ${JSON.stringify(taskId)} has ended (${before.state}).`
    throw new A2AError('task_not_cancelable', message, { taskId })
  }
  const cancelled = await followed(call, { ...found, thread: undefined })
  return present(call, await settled(cancelled), shownOf(request))
}

/**
 * The current task, then its changes since its run began, and new changes until it ends or asks. If the task
 * waits for input, a v1.0 client gets the changes after the answer: its stream ends with the task, not
 * because the task asks.
 */
export async function* subscribe(
  asked: A2ACall,
  request: TaskRequest,
): AsyncGenerator<readonly StreamEntry[], void, undefined> {
  const { engine } = asked.context
  const { call, found } = await permittedTask(asked, 'threads:stream', request)
  const { principal, signal } = call.call
  const { record } = found
  const { threadId } = found.thread
  const { head } = await internalsOf(engine).store.inspect(threadId)
  const last = /^\d{1,15}$/.test(call.lastEventId ?? '') ? Number(call.lastEventId) : undefined
  // A number beyond the log belongs to another log.
  const seen = last !== undefined && last <= head ? last : undefined
  if (isAnswerEnded(record) && seen === undefined) {
    throw new A2AError(
      'unsupported_operation',
      `Task ${JSON.stringify(request.id)} has ended (${record.state}). Get it instead.`,
      { taskId: request.id },
    )
  }
  const waits = record.state === 'input-required' && call.dialect.version === '1.0' && seen === undefined
  const task = await present(call, found, { ...shownOf(request), artifacts: waits })
  yield [{ item: { type: 'task', task } }]
  const answerId = record.taskId
  const answered = waits ? await untilAnswered(engine, { threadId, principal, answerId, signal }) : found
  if (!answered) throw taskNotFound(request.id)
  const { contextId } = found
  const now = { contextId, ...answered }
  const { runIds } = answered.record
  if (waits && runIds.length === record.runIds.length) {
    const { id, status } = await present(call, now, { historyLength: 0, artifacts: false })
    yield [{ item: { type: 'status', taskId: id, contextId, status, final: true } }]
    return
  }
  const runId = waits ? runIds[record.runIds.length]! : currentRun(record)
  yield* follow(call, await followed(call, now, runId), seen)
}

/** Follows a task, starting with one of its runs. Throws if it no longer exists. */
async function followed(
  call: A2ACall,
  { contextId, record, thread }: Omit<FoundTask, 'thread'> & Partial<FoundTask>,
  runId?: string,
): Promise<Followed> {
  const { threadId, taskId: answerId } = record
  const { engine } = call.context
  const answer = await engine.follow({ ...following(call, threadId), answerId, thread, runId })
  if (!answer) throw taskNotFound(taskIdOf(contextId, answerId))
  return { answer, found: { contextId, ...answer.found } }
}

/** The caller's tasks of the assistant, last changed first. */
export async function listTasks(asked: A2ACall, request: ListRequest): Promise<TaskList> {
  const { engine } = asked.context
  const { assistantId } = asked
  const { contextId, state, pageSize, pageToken, historyLength = 0, changedSince, includeArtifacts } = request
  const { call, conversation } = contextId
    ? await permittedConversation(asked, 'threads:list', { contextId })
    : { ...(await permittedCall(asked, 'threads:list', undefined)), conversation: undefined }
  const { principal } = call.call
  const threadId = conversation?.thread?.threadId
  const nothing = { tasks: [], nextPageToken: '', pageSize, totalSize: 0 }
  if (conversation && !threadId) return nothing
  // The kind of input that a task waits for is not in its record.
  const recorded = state === 'auth-required' ? 'input-required' : state
  const query = { principal, assistantId, threadId, state: recorded, since: changedSince }
  const page = await listAnswers(engine, { ...query, limit: pageSize, cursor: pageToken }).catch((error) => {
    throw isNoCursor(error) ? noPage() : error
  })
  const shown = { historyLength, artifacts: includeArtifacts }
  const threads = threadsOf(call)
  const tasks = await Promise.all(
    page.tasks.map(async (record) => {
      const found = await withThread(threads, record)
      const task = found && (await present(call, found, shown))
      return task && (recorded !== 'input-required' || task.status.state === state) ? [task] : []
    }),
  )
  const isSplit = recorded === 'input-required'
  const totalSize = isSplit ? await countAsking(call, { ...query, state: recorded }, state) : page.total
  return { tasks: tasks.flat(), nextPageToken: page.cursor ?? '', pageSize, totalSize }
}

/** The number of tasks that wait for this kind of input. It is not in their records, but few tasks wait. */
async function countAsking(
  call: A2ACall,
  query: Omit<Parameters<typeof listAnswers>[1], 'limit' | 'cursor'>,
  state: TaskState | undefined,
): Promise<number> {
  const threads = threadsOf(call)
  let count = 0
  let cursor: string | undefined
  do {
    const page = await listAnswers(call.context.engine, { ...query, limit: MAX_LISTED, cursor })
    const all = await Promise.all(page.tasks.map((record) => withThread(threads, record)))
    count += all.filter((found) => found && statusOf(found, questionsOf(found)).state === state).length
    cursor = page.cursor
  } while (cursor !== undefined)
  return count
}

/** The maximum of tasks in one store call. */
const MAX_LISTED = 1_000

/** The store's error for an unknown cursor. */
const isNoCursor = (error: unknown): boolean =>
  error instanceof AgentwireError && error.code === 'invalid_argument'

function noPage(): A2AError {
  const field = 'params.pageToken'
  return new A2AError('invalid_params', `${field}: expected the nextPageToken of a list.`, { field })
}

type FindThread = (threadId: string) => Promise<ThreadRecord | undefined>

/** Looks up each of the caller's threads once, for any number of tasks. */
function threadsOf({ context: { engine }, call: { principal } }: A2ACall): FindThread {
  const threads = new Map<string, ReturnType<FindThread>>()
  return (threadId) => {
    const known = threads.get(threadId) ?? engine.findThread({ threadId, principal })
    threads.set(threadId, known)
    return known
  }
}

/** Undefined if the thread was deleted in the meantime. */
async function withThread(find: FindThread, record: AnswerRecord): Promise<FoundTask | undefined> {
  const { threadId, details } = record
  const thread = await find(threadId)
  // An answer of another face has no context id.
  const { contextId = threadId } = Object(details) as Partial<TaskDetails>
  return thread && { contextId, thread, record }
}
