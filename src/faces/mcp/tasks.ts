import type { Principal } from '../../core/http/index.ts'
import { withoutMetadataFilter } from '../../core/principal.ts'
import {
  type AgentEngine,
  cancelAnswer,
  type FoundAnswer,
  internalsOf,
  isAnswerEnded,
  type OpenInterrupt,
  openQuestions,
} from '../../engine/index.ts'
import { retryConflicts } from '../../engine/records/thread.ts'
import type { Doc, Json } from '../../storage/store/store.ts'
import { permit, type ThreadAction } from '../kit/access.ts'
import type { Fields, McpCall } from './call.ts'
import { invalidParams } from './errors.ts'
import type { McpContext } from './options.ts'
import { inputRequestsOf, type Question, questionsOf, readResponses } from './questions.ts'
import { resultOf } from './results.ts'
import { toolOfGraph } from './tools.ts'

const POLL_MS = 2_000

type TaskStatus = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled'

/**
 * A failed run is a completed task, because its result reports the failure. Only a rejection by the agent is
 * a protocol error.
 */
const STATUS: Readonly<Record<FoundAnswer['record']['state'], TaskStatus>> = {
  submitted: 'working',
  working: 'working',
  'input-required': 'input_required',
  completed: 'completed',
  failed: 'completed',
  rejected: 'failed',
  canceled: 'cancelled',
}

/** An answer as a task. Source: SEP-2663. */
export function taskOf({ options }: McpContext, { thread, record }: FoundAnswer) {
  const { threadId, taskId, state, createdAt, updatedAt, error } = record
  const { pollIntervalMs = POLL_MS } = options.tasks || {}
  return {
    taskId: addressOf(threadId, taskId),
    status: STATUS[state],
    ...(error !== null && { statusMessage: error }),
    createdAt: new Date(createdAt).toISOString(),
    lastUpdatedAt: new Date(updatedAt).toISOString(),
    ttlMs: thread.ttl ? Math.round(thread.ttl.minutes * 60_000) : null,
    pollIntervalMs: Math.ceil(pollIntervalMs),
  }
}

/** The caller's task. Throws `invalid params` if it has another owner. */
async function taskIn(
  asked: McpCall,
  action: Parameters<typeof permittedAnswer>[1],
  { taskId }: Fields,
): Promise<PermittedAnswer> {
  const address = typeof taskId === 'string' ? readAddress(taskId) : undefined
  const permitted = address && (await permittedAnswer(asked, action, address))
  if (permitted?.found.record.taskId === address?.answerId && permitted) return permitted
  throw invalidParams('taskId: this task does not exist.')
}

/** `tasks/get`: a task with its result, or with its input requests. */
export async function getTask(asked: McpCall, params: Fields) {
  const { context } = asked
  const { found } = await taskIn(asked, 'threads:read', params)
  const task = taskOf(context, found)
  const { assistantId, error } = found.record
  if (task.status === 'failed') return { ...task, error: { code: -32000, message: error ?? 'Declined.' } }
  if (task.status === 'input_required') {
    const { answers } = await readHeld(asked, found)
    const open = (await questionsOfTask(asked, found)).filter(({ id }) => !Object.hasOwn(answers, id))
    return { ...task, inputRequests: inputRequestsOf(open) }
  }
  const tool = task.status === 'completed' ? toolOfGraph(context, assistantId) : undefined
  return tool ? { ...task, result: await resultOf(context, tool, found) } : task
}

/** The questions of a task, with unique keys: an agent may raise several interrupts at the same place. */
async function questionsOfTask(asked: McpCall, found: FoundAnswer): Promise<readonly Question[]> {
  const questions = questionsOf(await openIn(asked.context.engine, found))
  return questions.map((question) => ({ ...question, key: `${question.id}.${found.record.runIds.at(-1)}` }))
}

/**
 * `tasks/update`: answers questions. The task continues when all are answered. Until then, earlier responses
 * are stored.
 */
export async function updateTask(asked: McpCall, params: Fields): Promise<object> {
  const { engine } = asked.context
  const { found, principal } = await taskIn(asked, 'runs:create', params)
  const questions = await questionsOfTask(asked, found)
  // The responses are next to the params, where they are read first.
  const { answers: given } = readResponses(questions, asked.request.inputResponses)
  if (Object.keys(given).length === 0) return {}
  const answers = await hold(asked, found, given)
  if (!questions.every(({ id }) => Object.hasOwn(answers, id))) return {}
  const { threadId, taskId: id, details } = found.record
  const { request } = asked.call
  await engine.respond({ threadId, principal, request, answers, answer: { id, details } })
  return {}
}

/** `tasks/cancel`. It does not change a task that has ended. */
export async function cancelTask(asked: McpCall, params: Fields): Promise<object> {
  const { found, principal } = await taskIn(asked, 'runs:cancel', params)
  const { threadId, taskId: answerId } = found.record
  await cancelAnswer(asked.context.engine, { threadId, principal, answerId })
  return {}
}

const COLLECTION = 'mcp_answers'

/** Responses to some of the open questions of a task's run. */
interface Held {
  readonly answers: Fields
  readonly doc: Doc | undefined
}

async function readHeld({ context: { engine } }: McpCall, { record }: FoundAnswer): Promise<Held> {
  const doc = await internalsOf(engine).store.get(record.threadId, COLLECTION, record.taskId)
  const { runId, answers } = Object(doc?.value) as { readonly runId?: unknown; readonly answers?: Fields }
  // Responses to an earlier run were already delivered.
  return { doc, answers: answers && runId === record.runIds.at(-1) ? answers : {} }
}

/** Stores responses with the earlier ones, and returns all of them. */
const hold = (asked: McpCall, found: FoundAnswer, given: Fields): Promise<Fields> =>
  retryConflicts(async () => {
    const { threadId, taskId: id, runIds } = found.record
    const held = await readHeld(asked, found)
    const answers = { ...held.answers, ...given }
    const value = { runId: runIds.at(-1)!, answers } as Json
    const at = { collection: COLLECTION, id } as const
    await internalsOf(asked.context.engine).store.commit(threadId, {
      guards: [
        held.doc ? { guard: 'version', ...at, version: held.doc.version } : { guard: 'absent', ...at },
      ],
      ops: [{ op: 'put', ...at, value }],
    })
    return answers
  })

/** An answer that the caller is permitted to use. */
interface PermittedAnswer {
  readonly found: FoundAnswer
  /** The caller, with the filter of the permission. */
  readonly principal: Principal | null
}

/**
 * The caller's answer with this id, with one of its run ids, or the thread's active one. Undefined if it does
 * not exist or has another owner. Throws 403.
 */
export async function permittedAnswer(
  { context: { engine, authorize }, call }: McpCall,
  action: ThreadAction,
  { threadId, answerId }: { readonly threadId: string; readonly answerId?: string | undefined },
): Promise<PermittedAnswer | undefined> {
  const named = await engine.findAnswer({
    threadId,
    answerId,
    principal: withoutMetadataFilter(call.principal),
  })
  if (!named) return undefined
  const { assistantId } = named.record
  const { principal } = await permit(authorize, call, action, { threadId, assistantId })
  const found = await engine.findAnswer({ threadId, answerId, principal })
  return found && { found, principal }
}

/** The open interrupts of an answer. */
export async function openIn(
  engine: AgentEngine,
  { thread, record }: FoundAnswer,
): Promise<readonly OpenInterrupt[]> {
  if (record.state !== 'input-required') return []
  return (await openQuestions(engine, thread)).filter(({ runId }) => record.runIds.includes(runId))
}

/** The answer whose question a thread is waiting on. A message does not answer it. */
export async function waitingAnswer(
  { context: { engine } }: McpCall,
  asked: Parameters<AgentEngine['findAnswer']>[0],
): Promise<FoundAnswer | undefined> {
  const found = await engine.findAnswer(asked)
  if (!found || isAnswerEnded(found.record)) return undefined
  return (await openIn(engine, found)).length > 0 ? found : undefined
}

/** The address of an answer for clients: its thread and one of its runs. */
export const addressOf = (threadId: string, runId: string): string => `${threadId}:${runId}`

/** Parses an address. Clients can forge it, so the owner is always looked up. */
export function readAddress(
  address: string,
): { readonly threadId: string; readonly answerId: string } | undefined {
  const end = address.lastIndexOf(':')
  const threadId = address.slice(0, end)
  const answerId = address.slice(end + 1)
  return end > 0 && answerId !== '' && address.length <= 1_024 ? { threadId, answerId } : undefined
}
