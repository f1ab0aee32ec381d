import type { Agent } from '../../../agents/agent.ts'
import { uuid7, uuidOf } from '../../../core/ids.ts'
import {
  type Answer,
  type CommandKey,
  internalsOf,
  RunError,
  retryConflicts,
  type ThreadRecord,
} from '../../../engine/index.ts'
import type { LogGap, LoggedEvent } from '../../../messages/thread-events/index.ts'
import { endOf } from '../../kit/answer-messages.ts'
import { runSettings } from '../../kit/run-config.ts'
import { titleOf } from '../../kit/title.ts'
import { A2AError } from '../errors.ts'
import type { A2AMessage, SendRequest } from '../model.ts'
import { messagesIn } from '../parts.ts'
import { TASK_EVENTS } from '../tasks/follow.ts'
import { MAX_ID, taskNotFound } from '../tasks/ids.ts'
import {
  type AnsweredQuestion,
  type FoundTask,
  putAnswered,
  questionMessage,
  type TaskDetails,
} from '../tasks/present.ts'
import { type Decision, decide } from './decide.ts'
import type { A2ACall } from './operations.ts'
import { type PermittedSituation, situationOf, traceOf } from './situation.ts'

/** A task to follow, as it was at the start. */
export interface Followed {
  readonly found: FoundTask
  readonly answer: Answer<readonly (LoggedEvent | LogGap)[]>
}

/** The task of a message, starting with the run that the message started now or before. */
export interface StartedRun extends Followed {
  /** The call with the limits of its permission. */
  readonly call: A2ACall
}

/**
 * Starts the run of a message: the first run of a task, or one that continues a task. A message that is
 * repeated in its context starts nothing, and returns what it started before.
 */
export async function beginRun(asked: A2ACall, request: SendRequest): Promise<StartedRun> {
  const { messageId } = request.message
  if (messageId.length > MAX_ID) throw wrongMessageId(`expected at most ${MAX_ID} characters`)
  const command = await keyOf(request.message)
  let answered: readonly string[] = []
  const attempt = async ({ message, ...fields }: SendRequest): Promise<StartedRun> => {
    const situation = await situationOf(asked, { ...fields, message }, command)
    const decision = decide({ ...situation, agent: agentOf(asked), answered }, message)
    if (decision.kind === 'beginAnew')
      return attempt({ ...fields, message: { ...message, taskId: undefined } })
    if (decision.kind === 'answer') answered = decision.answered.map(({ id }) => id)
    const answer = await act(situation, { ...fields, message }, decision, command)
    return { call: situation.call, answer, found: { contextId: situation.contextId, ...answer.found } }
  }
  const begun = await retryConflicts(() => attempt(request)).catch((error) => {
    const isReused = error instanceof RunError && error.code === 'key_reused'
    throw isReused
      ? wrongMessageId(
          'another message in this context has this id. Send the same message again, or use a new id',
        )
      : error
  })
  const work = internalsOf(asked.context.engine).working(begun.found.thread.threadId)
  if (work) asked.call.waitUntil(work)
  return begun
}

/** Does what was decided, if the thread is still as it was read. */
async function act(
  { call, metadata, contextId, conversation }: PermittedSituation,
  request: SendRequest,
  decision: Exclude<Decision, { readonly kind: 'beginAnew' }>,
  command: CommandKey,
): Promise<Followed['answer']> {
  const { assistantId } = call
  const { engine } = call.context
  const { threadId, thread, look } = conversation
  const reading = following(call, threadId)
  if (decision.kind === 'repeat') {
    const { runId, appliedThroughSeq: after } = decision.receipt
    const answer = await engine.follow({ ...reading, answerId: runId, runId, after })
    if (!answer) throw taskNotFound(runId)
    return answer
  }
  const { message } = request
  const details: TaskDetails = { contextId, messageId: message.messageId }
  const run = {
    ...common(call, { ...request, ...(metadata && { metadata }) }, contextId),
    command,
    looked: look,
  }
  if (decision.kind === 'begin') {
    const { input } = decision
    const answer = { details: { ...details, ...(thread && (await lastMessage(call, thread))) } }
    const ofThread = { ...metadata, ...(contextId !== threadId && { a2a_context_id: contextId }) }
    const start = { ...run, assistantId, input, title: titleOf(input), metadata: ofThread, answer }
    return engine.follow({ ...reading, start })
  }
  const { record } = decision
  const answer = { id: record.taskId, details: { ...details } }
  if (decision.kind === 'add')
    return engine.follow({ ...reading, start: { ...run, answer, assistantId, input: decision.input } })
  const { answers, answered } = decision
  const turn: AnsweredQuestion = {
    taskId: record.taskId,
    after: (thread && (await lastMessage(call, thread)))?.after ?? null,
    question: questionMessage(record, answered),
    answer: { messageId: message.messageId, parts: message.parts, metadata: message.metadata },
  }
  const runId = uuid7()
  const respond = { ...run, answer, runId, answers, extraOps: [putAnswered(runId, turn)] }
  return engine.follow({ ...reading, respond })
}

/** The last message of a thread, after which a task begins. */
async function lastMessage({ context: { engine } }: A2ACall, thread: ThreadRecord) {
  const state = await engine.readState(thread)
  return state && endOf(messagesIn(state.values))
}

function wrongMessageId(why: string): A2AError {
  const field = 'params.message.messageId'
  return new A2AError('invalid_params', `${field}: ${why}.`, { field })
}

/** The agent of the call, which the endpoint has already looked up. */
export const agentOf = ({ context, assistantId }: A2ACall): Agent => context.engine.agents.get(assistantId)!

/** The options for reading a task. */
export const following = ({ call: { principal, signal } }: A2ACall, threadId: string) =>
  ({ threadId, principal, signal, filter: TASK_EVENTS, json: true, batches: true }) as const

/** The common fields of every run that this face starts. */
function common(call: A2ACall, request: SendRequest, contextId: string) {
  const { engine, assistant } = call.context
  const { request: http } = call.call
  const settings = runSettings(internalsOf(engine).limits, assistant, {
    metadata: request.metadata,
  })
  const trace = traceOf(call, request) ?? contextId
  return {
    request: http,
    traceparent: http.headers.get('traceparent'),
    ...settings,
    config: { ...settings.config, metadata: { ...settings.config.metadata, thread_id: trace } },
  }
}

/** The idempotency key of a message: it has one effect in its context. */
async function keyOf({ messageId, parts, command }: A2AMessage): Promise<CommandKey> {
  const isShort = /^[\x21-\x7e]{1,200}$/.test(messageId)
  return {
    key: `a2a:${isShort ? messageId : await uuidOf(messageId)}`,
    fingerprint: await uuidOf([parts, command ?? null]),
  }
}
