import { lazy } from '../../../core/lazy.ts'
import { backoff, sleep } from '../../../core/time.ts'
import { ConflictError, FencedError, UnavailableError } from '../../../storage/errors.ts'
import type { Dialect, Operation } from '../dialects/dialect.ts'
import { v1 } from '../dialects/v1.ts'
import { v03 } from '../dialects/v03.ts'
import type { A2AMessage, StreamItem, Task, TaskState } from '../model.ts'
import type { RemoteInterface } from './card.ts'
import { type Budget, type Connection, newBudget } from './connection.ts'
import { A2ARemoteError } from './remote-error.ts'

const readers = /* @__PURE__ */ lazy(() => import('./read.ts'))

/** How often a connection may be lost in a row. */
const MAX_LOSSES = 8
const FIRST_WAIT_MS = 250
const MAX_WAIT_MS = 10_000
/** How long a cancel may take. */
const CANCEL_MS = 10_000

/** A request to a remote agent: a message, or a task to follow. */
export type Question = { readonly message: A2AMessage } | { readonly taskId: string }

export interface Conversation {
  /**
   * The items that the remote agent sends until its task ends or waits for an answer. A lost connection is
   * reopened: it continues with the current task, then the items after it. When the signal aborts because the
   * run is cancelled, the remote agent is asked to cancel the task.
   */
  follow(question: Question, signal: AbortSignal): AsyncGenerator<StreamItem, void>
  task(taskId: string, signal: AbortSignal): Promise<Task>
}

const TERMINAL: readonly TaskState[] = ['completed', 'canceled', 'failed', 'rejected']

/** Whether a task waits for its client. */
export const isWaiting = (state: TaskState): boolean =>
  state === 'input-required' || state === 'auth-required'

const stateOf = (item: StreamItem): TaskState | undefined =>
  item.type === 'task' ? item.task.status.state : item.type === 'status' ? item.status.state : undefined

export function createConversation(connection: Connection, remote: RemoteInterface): Conversation {
  const { url, tenant, streams, version } = remote
  const dialect = version === '1.0' ? v1 : v03
  const methods = new Map([...dialect.methods].map(([name, operation]) => [operation, name]))
  const request = (operation: Operation, params: object, signal: AbortSignal) => ({
    url,
    version,
    method: methods.get(operation)!,
    params: tenant === undefined ? params : { tenant, ...params },
    signal,
  })
  const call: Remote['call'] = (...asked) => connection.call(request(...asked))
  const open: Remote['open'] = (budget, ...asked) => connection.open(request(...asked), budget)
  return {
    follow: (question, signal) => follow({ dialect, streams, call, open }, question, signal),
    async task(id, signal) {
      const { readTask } = await readers()
      return readTask(await call('getTask', { id, historyLength: 1 }, signal))
    },
  }
}

interface Remote {
  readonly dialect: Dialect
  readonly streams: boolean
  call(operation: Operation, params: object, signal: AbortSignal): Promise<unknown>
  open(
    budget: Budget,
    operation: Operation,
    params: object,
    signal: AbortSignal,
  ): AsyncGenerator<unknown, void>
}

async function* follow(
  remote: Remote,
  question: Question,
  signal: AbortSignal,
): AsyncGenerator<StreamItem, void> {
  const { readItem } = await readers()
  const budget = newBudget()
  let taskId = 'taskId' in question ? question.taskId : undefined
  let isOver = false
  let losses = 0
  let waits = 0
  signal.throwIfAborted()
  // Waits for a message that is being sent: only its response has the id of the task to cancel.
  const leave = abortAfter(signal, () => (taskId === undefined ? CANCEL_MS : 0))
  try {
    let source = responses(remote, question, leave.signal, budget)
    // The first event of a stream may be the task before it accepted the answer, still in a waiting state.
    let isOld = remote.streams && 'message' in question && question.message.taskId !== undefined
    for (;;) {
      try {
        for await (const result of source) {
          const item = readItem(result)
          taskId = sameTask(taskId, item)
          losses = 0
          signal.throwIfAborted()
          const state = stateOf(item)
          isOver = item.type === 'message' || (state !== undefined && TERMINAL.includes(state))
          const isDone = isOver || (!isOld && state !== undefined && isWaiting(state))
          isOld = false
          if (item.type !== 'task' && item.type !== 'message') waits = 0
          yield item
          if (isDone) return
        }
      } catch (error) {
        const isLost = error instanceof A2ARemoteError && error.code === 'unreachable'
        if (!isLost || taskId === undefined || ++losses > MAX_LOSSES) throw error
      }
      if (taskId === undefined)
        throw new A2ARemoteError(
          'invalid_answer',
          'The remote agent ended its stream without a task or a message.',
        )
      await sleep(backoff(waits++, FIRST_WAIT_MS, MAX_WAIT_MS), leave.signal)
      source = responses(remote, { taskId }, leave.signal, budget)
    }
  } finally {
    leave.release()
    // Best effort: the run ends whether or not the remote agent responds.
    if (signal.aborted && !isOver && taskId !== undefined && isCancel(signal.reason))
      remote.call('cancelTask', { id: taskId }, AbortSignal.timeout(CANCEL_MS)).catch(() => {})
  }
}

/** The responses to a message; or the current task, then the items after it. */
async function* responses(
  { dialect, streams, call, open }: Remote,
  question: Question,
  signal: AbortSignal,
  budget: Budget,
): AsyncGenerator<unknown, void> {
  if ('message' in question) {
    const params = sendParams(dialect, question.message, streams)
    if (streams) yield* open(budget, 'stream', params, signal)
    else yield await call('send', params, signal)
    return
  }
  const id = question.taskId
  yield await call('getTask', { id, historyLength: 1 }, signal)
  if (!streams) return
  try {
    yield* open(budget, 'subscribe', { id }, signal)
  } catch (error) {
    // It has ended in the meantime, or its server does not support it: reading the task again shows which.
    if (!(error instanceof A2ARemoteError && error.code === 'refused')) throw error
  }
}

/** A signal that aborts `delay()` milliseconds after another. */
function abortAfter(signal: AbortSignal, delay: () => number) {
  const later = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const stop = () => {
    timer = setTimeout(() => later.abort(signal.reason), delay())
  }
  signal.addEventListener('abort', stop)
  return {
    signal: later.signal,
    release() {
      clearTimeout(timer)
      signal.removeEventListener('abort', stop)
    },
  }
}

function sendParams(dialect: Dialect, message: A2AMessage, streams: boolean): object {
  const isOld = dialect.version === '0.3'
  const written = dialect.writeMessage(message)
  // A new task should return its id immediately. For a known task, the response should have the effect of the
  // message.
  const isPolled = !streams && message.taskId === undefined
  if (!isPolled) return { message: written }
  return { message: written, configuration: isOld ? { blocking: false } : { returnImmediately: true } }
}

/** The task of the item. Responses that mix tasks are rejected. */
function sameTask(known: string | undefined, item: StreamItem): string | undefined {
  if (item.type === 'message') return known
  const id = item.type === 'task' ? item.task.id : item.taskId
  if (known === undefined || id === known) return id
  throw new A2ARemoteError(
    'invalid_answer',
    `The remote agent responded for the task ${JSON.stringify(id.slice(0, 80))} instead of ${JSON.stringify(known.slice(0, 80))}.`,
  )
}

/** Whether the run has ended permanently. A run that another process continues still needs its task. */
const isCancel = (reason: unknown): boolean =>
  reason !== 'hand over' &&
  reason !== 'fenced' &&
  !(reason instanceof FencedError || reason instanceof UnavailableError || reason instanceof ConflictError)
