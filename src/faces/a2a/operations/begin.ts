import type { Agent } from '../../../agents/agent.ts'
import { uuid7, uuidOf } from '../../../core/ids.ts'
import { namesOwnerOf } from '../../../core/principal.ts'
import {
  type Answer,
  type CommandKey,
  internalsOf,
  isAnswerEnded,
  lookAtThread,
  questionsBeforeInput,
  RunError,
  type RunReceipt,
  receiptIn,
  retryConflicts,
  type ThreadLook,
  type ThreadRecord,
} from '../../../engine/index.ts'
import type { LogGap, LoggedEvent } from '../../../messages/thread-events/index.ts'
import { endOf } from '../../kit/answer-messages.ts'
import { runSettings } from '../../kit/run-config.ts'
import { titleOf } from '../../kit/title.ts'
import { A2AError } from '../errors.ts'
import type { A2AMessage, SendRequest, TaskRequest } from '../model.ts'
import { hasContent, inputOf } from '../parts/input.ts'
import { checkModes } from '../parts/modes.ts'
import { messagesIn } from '../parts/output.ts'
import { answersTo, resumeOf } from '../parts/resume.ts'
import { type Conversation, conversationOf, derivedThread } from '../tasks/contexts.ts'
import { TASK_EVENTS } from '../tasks/follow.ts'
import { MAX_ID, ofOtherContext, taskIdOf, taskNotFound } from '../tasks/ids.ts'
import { type FoundTask, openQuestions, questionMessage, type TaskDetails } from '../tasks/present.ts'
import { type AnsweredQuestion, putAnswered } from '../tasks/turns.ts'
import { type PermittedCall, permittedCall, permittedConversation, permittedTask } from './find.ts'
import type { A2ACall } from './operations.ts'

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
export async function beginRun(call: A2ACall, request: SendRequest): Promise<StartedRun> {
  const { messageId } = request.message
  if (messageId.length > MAX_ID) throw wrongMessageId(`expected at most ${MAX_ID} characters`)
  const command = await keyOf(request.message)
  const begun = await retryConflicts(() => startOrContinue(call, request, command)).catch((error) => {
    const isReused = error instanceof RunError && error.code === 'key_reused'
    throw isReused
      ? wrongMessageId(
          'another message in this context has this id. Send the same message again, or use a new id',
        )
      : error
  })
  const work = internalsOf(call.context.engine).working(begun.found.thread.threadId)
  if (work) call.call.waitUntil(work)
  return begun
}

/**
 * A v0.3 client may send both ids of the last response with every message, even to another agent, like the
 * client in LangGraph Platform's documentation. In that case the context determines the conversation, and the
 * task is only used while it accepts messages.
 */
async function startOrContinue(
  call: A2ACall,
  request: SendRequest,
  command: CommandKey,
): Promise<StartedRun> {
  const { taskId, ...message } = request.message
  if (!taskId) return beginTask(call, request, command)
  const { contextId } = message
  if (call.dialect.version !== '0.3' || !contextId)
    return continueTask(call, request, { id: taskId, contextId }, command)
  try {
    // A known task checks itself whether it belongs to another context.
    const isWhole = taskId.includes(':')
    return await continueTask(
      call,
      request,
      { id: taskId, contextId: isWhole ? undefined : contextId },
      command,
    )
  } catch (error) {
    if (!isOver(error) && !isUnknown(error)) throw error
    // A message that only this task could accept is rejected.
    if (isOver(error) && resumeOf(message).length > 0) throw error
    return beginTask(call, { ...request, message }, command)
  }
}

const isUnknown = (error: unknown): boolean => error instanceof A2AError && error.code === 'task_not_found'

/** Whether the task ended before the message arrived, or while it was processed. */
const isOver = (error: unknown): boolean =>
  (error instanceof A2AError && error.code === 'unsupported_operation') ||
  (error instanceof RunError && error.code === 'task_ended')

async function beginTask(asked: A2ACall, request: SendRequest, command: CommandKey): Promise<StartedRun> {
  const { message } = request
  const given = message.contextId || traceOf(asked, request)
  const body = bodyOf(request)
  const permitted = given
    ? await permittedConversation(asked, 'runs:create', { contextId: given, command }, body)
    : await firstConversation(asked, command, body)
  const { call, conversation } = permitted
  const address = {
    engine: call.context.engine,
    principal: call.call.principal,
    assistantId: call.assistantId,
    contextId: conversation.contextId,
    command,
  }
  const start = (as: PermittedCall, of: Conversation) => startTask(as, request, of, command)
  try {
    return await start(permitted, conversation)
  } catch (error) {
    if (conversation.thread?.assistantId || !(error instanceof RunError)) throw error
    // The id belongs to another caller, or another assistant has just taken it.
    const other =
      error.code === 'no_such_thread' ? await derivedThread(address) : await conversationOf(address)
    if (other.threadId === conversation.threadId) throw error
    return start(await permittedCall(asked, 'runs:create', other.threadId, body), other)
  }
}

/**
 * The conversation of a message without a context: a new one, or the one that the same message started
 * before. Its id is derived from the message. If no receipt of the message is kept any more, a different id
 * is used. The v1.0 compatibility kit sends one message for many consecutive tasks, so in v1.0 a message only
 * counts as repeated while its task is working.
 */
async function firstConversation(asked: A2ACall, command: CommandKey, body: object) {
  const { context, call, assistantId } = asked
  const { key, fingerprint } = command
  const named = context.assistant?.assistantId ?? assistantId
  const owner = namesOwnerOf(call.principal)
  const repeated = await uuidOf(['a2a first', owner, named, key, fingerprint])
  const seen = await firstLook(asked, repeated, command)
  const wanted = { contextId: repeated, command }
  const permitted = await permittedConversation(asked, 'runs:create', wanted, body, seen)
  const { threadId, thread, look } = permitted.conversation
  const started = thread && look && startedBefore(look)
  const isRetry =
    asked.dialect.version === '0.3' || (started && (await isAtWork(permitted.call, threadId, started.runId)))
  if (!thread || (started && isRetry)) return permitted
  const contextId = uuid7()
  const conversation = { contextId, threadId: contextId, thread: undefined }
  return { ...(await permittedCall(asked, 'runs:create', contextId, body)), conversation }
}

/**
 * The conversation for an id that is derived from its message, if no thread has that id. Nothing else can
 * belong to it.
 */
async function firstLook(
  { context: { engine } }: A2ACall,
  threadId: string,
  command: CommandKey,
): Promise<Conversation | undefined> {
  const look = await lookAtThread(engine, { threadId, command, saved: false })
  return look.isTaken ? undefined : { contextId: threadId, threadId, thread: undefined, look }
}

async function isAtWork(
  { context, call: { principal } }: A2ACall,
  threadId: string,
  runId: string,
): Promise<boolean> {
  const task = await context.engine.findAnswer({ threadId, principal, answerId: runId })
  return task?.record.state === 'submitted' || task?.record.state === 'working'
}

async function startTask(
  { call, metadata }: PermittedCall,
  request: SendRequest,
  { contextId, threadId, thread, look }: Conversation,
  command: CommandKey,
): Promise<StartedRun> {
  const { context, assistantId } = call
  const { engine } = context
  const { message } = request
  const agent = agentOf(call)
  checkMessage(agent, message)
  const known = thread && look && startedBefore(look)
  if (known) return begunBefore(call, { contextId, threadId }, known)
  if (resumeOf(message).length > 0) throw unnamedTask('An answer')
  if (thread) await requireNoQuestion(call, contextId, thread)
  const input = inputOf(message, agent)
  const state = thread && (await engine.readState(thread))
  const details: TaskDetails = {
    contextId,
    messageId: message.messageId,
    ...(state && endOf(messagesIn(state.values))),
  }
  const answer = await engine.follow({
    ...following(call, threadId),
    start: {
      ...common(call, { ...request, ...(metadata && { metadata }) }, contextId),
      assistantId,
      input,
      title: titleOf(input),
      metadata: { ...metadata, ...(contextId !== threadId && { a2a_context_id: contextId }) },
      answer: { details: { ...details } },
      command,
      looked: look,
    },
  })
  return { call, answer, found: { contextId, ...answer.found } }
}

/** Throws if a task of the thread waits for an answer: a message without a task id is not an answer. */
async function requireNoQuestion(call: A2ACall, contextId: string, thread: ThreadRecord): Promise<void> {
  const [open] = await questionsBeforeInput(call.context.engine, thread)
  if (!open) return
  const { threadId, lastRunId } = thread
  const { principal } = call.call
  const answerId = open.runId || (lastRunId ?? '')
  const task = await call.context.engine.findAnswer({ threadId, principal, answerId, thread })
  // Questions of a task that was cancelled or failed since then cannot be answered.
  if (!task || isAnswerEnded(task.record)) return
  const id = JSON.stringify(taskIdOf(contextId, task.record.taskId))
  throw unnamedTask(`The conversation waits for an answer to task ${id}, and a message`)
}

/** A message for a task: the answer to its questions, or an additional message. */
async function continueTask(
  asked: A2ACall,
  request: SendRequest,
  named: Pick<TaskRequest, 'id' | 'contextId'>,
  command: CommandKey,
): Promise<StartedRun> {
  const { message } = request
  const taskId = named.id
  const permitted = await permittedTask(asked, 'runs:create', named, bodyOf(request), command)
  const { call, metadata, found, conversation } = permitted
  const { look } = conversation
  const { context, assistantId } = call
  const { engine } = context
  const { contextId, record } = found
  if (message.contextId && message.contextId !== contextId) throw ofOtherContext(taskId)
  const { threadId } = found.thread
  const agent = agentOf(call)
  checkMessage(agent, message)
  const known = look && startedBefore(look)
  if (known) return begunBefore(call, { contextId, threadId }, known)
  if (isAnswerEnded(record)) throw ended(taskId, record.state)
  const details: TaskDetails = { contextId, messageId: message.messageId }
  const run = {
    ...common(call, { ...request, ...(metadata && { metadata }) }, contextId),
    command,
    looked: look,
    answer: { id: record.taskId, details: { ...details } },
  }
  const open = openQuestions(found)
  const answers = answersTo(message, record.state, open)
  const answered = open.filter(({ id }) => Object.hasOwn(answers ?? {}, id))
  const state = answers && (await engine.readState(found.thread))
  const turn: AnsweredQuestion = {
    taskId: record.taskId,
    after: state ? (endOf(messagesIn(state.values)).after ?? null) : null,
    question: questionMessage(record, answered),
    answer: { messageId: message.messageId, parts: message.parts, metadata: message.metadata },
  }
  const task = following(call, threadId)
  const runId = uuid7()
  const answer = answers
    ? await engine.follow({
        ...task,
        respond: { ...run, runId, answers, extraOps: [putAnswered(runId, turn)] },
      })
    : await engine.follow({ ...task, start: { ...run, assistantId, input: inputOf(message, agent) } })
  return { call, answer, found: { contextId, ...answer.found } }
}

const ended = (taskId: string, state: string): A2AError =>
  new A2AError(
    'unsupported_operation',
    `Task ${JSON.stringify(taskId)} has ended (${state}) and accepts no more messages. To continue the conversation, send the message with only its contextId.`,
    { taskId },
  )

function wrongMessageId(why: string): A2AError {
  const field = 'params.message.messageId'
  return new A2AError('invalid_params', `${field}: ${why}.`, { field })
}

const unnamedTask = (what: string): A2AError =>
  new A2AError('invalid_params', `message.taskId: ${what} must name the task that asked.`)

/** The body that the permission check for a run gets. */
const bodyOf = ({ metadata }: SendRequest): object => (metadata ? { metadata } : {})

/** The agent of the call, which the endpoint has already looked up. */
export const agentOf = ({ context, assistantId }: A2ACall): Agent => context.engine.agents.get(assistantId)!

/** Throws if the agent cannot read the message. */
function checkMessage(agent: Agent, message: A2AMessage): void {
  checkModes(agent, message)
  const { takesMessages = true } = agent
  if (takesMessages || !hasContent(message)) return
  throw new A2AError(
    'invalid_params',
    'message.parts: the agent has no `messages` in its state, so it only accepts data parts.',
  )
}

/** What the same message started before. */
async function begunBefore(
  call: A2ACall,
  { contextId, threadId }: Pick<Conversation, 'contextId' | 'threadId'>,
  { runId, appliedThroughSeq: after }: RunReceipt,
): Promise<StartedRun> {
  const asked = { ...following(call, threadId), answerId: runId, runId, after }
  const answer = await call.context.engine.follow(asked)
  if (!answer) throw taskNotFound(runId)
  return { call, answer, found: { contextId, ...answer.found } }
}

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

/**
 * The thread that traces are grouped under, which clients send next to the message. Invalid ids are ignored.
 */
function traceOf({ metadata }: A2ACall, request: SendRequest): string | undefined {
  const named = [metadata, request.metadata].map((fields) => fields?.thread_id)
  return named.find((id): id is string => typeof id === 'string' && id !== '' && id.length <= MAX_ID)
}

/** The idempotency key of a message: it has one effect in its context. */
async function keyOf({ messageId, parts, command }: A2AMessage): Promise<CommandKey> {
  const isShort = /^[\x21-\x7e]{1,200}$/.test(messageId)
  return {
    key: `a2a:${isShort ? messageId : await uuidOf(messageId)}`,
    fingerprint: await uuidOf([parts, command ?? null]),
  }
}

function startedBefore(look: ThreadLook): RunReceipt | undefined {
  const receipt = receiptIn(look)
  return receipt && 'runId' in receipt ? receipt : undefined
}
