import type { Agent } from '../../agents/agent.ts'
import { uuid7, uuidOf } from '../../ids.ts'
import { runSettings } from '../../requests/run-config.ts'
import { titleOf } from '../../requests/title.ts'
import {
  type CommandKey,
  isTaskEnded,
  RunError,
  type Started,
  type ThreadRecord,
  unanswered,
} from '../../runs/index.ts'
import { A2AError } from '../errors.ts'
import type { A2AMessage, SendRequest } from '../model.ts'
import { hasContent, inputOf } from '../parts/input.ts'
import { checkModes } from '../parts/modes.ts'
import { decoded, messagesIn } from '../parts/output.ts'
import { answersTo, resumeOf } from '../parts/resume.ts'
import { apartFrom, type Conversation, conversationOf } from '../tasks/contexts.ts'
import { MAX_ID, taskIdOf } from '../tasks/ids.ts'
import { type FoundTask, openQuestions, type TaskDetails } from '../tasks/present.ts'
import { findRun, type PermittedCall, permittedCall, permittedConversation, permittedTask } from './find.ts'
import type { A2ACall } from './operations.ts'

/** A run that a message has started, or had started before. */
export interface Begun {
  /** The call as its caller may do it. */
  readonly call: A2ACall
  readonly found: FoundTask
  readonly runId: string
  /** The sequence number before its first event. */
  readonly after: number
}

/**
 * Starts the run of a message: the first of a task, or one that goes on with a task. A message that is sent again within its
 * context starts nothing, and gets what it has started.
 */
export async function beginRun(call: A2ACall, request: SendRequest): Promise<Begun> {
  const { taskId, messageId } = request.message
  if (messageId.length > MAX_ID) throw wrongMessageId(`expected at most ${MAX_ID} characters`)
  const begin = taskId ? goOn(call, request, taskId) : beginTask(call, request)
  const begun = await begin.catch((error) => {
    const isReused = error instanceof RunError && error.code === 'key_reused'
    throw isReused
      ? wrongMessageId(
          'another message of this context has this id. Send that message again, or use a new id',
        )
      : error
  })
  const work = call.context.engine.working(begun.found.thread.threadId)
  if (work) call.call.waitUntil(work)
  return begun
}

async function beginTask(asked: A2ACall, request: SendRequest): Promise<Begun> {
  const { message } = request
  const given = message.contextId || traceOf(asked, request)
  const contextId = given ?? uuid7()
  const body = bodyOf(request)
  const permitted = given
    ? await permittedConversation(asked, 'runs:create', given, body)
    : {
        ...(await permittedCall(asked, 'runs:create', contextId, body)),
        conversation: { contextId, threadId: contextId, thread: undefined },
      }
  const { call, conversation } = permitted
  const address = {
    engine: call.context.engine,
    principal: call.call.principal,
    assistantId: call.assistantId,
    contextId,
  }
  const start = (as: PermittedCall, of: Conversation) =>
    startTask(as, request, of, given ? message : undefined)
  try {
    return await start(permitted, conversation)
  } catch (error) {
    if (conversation.thread?.assistantId || !(error instanceof RunError)) throw error
    // The id is another caller's, or another assistant has taken it just now.
    const other = error.code === 'no_such_thread' ? await apartFrom(address) : await conversationOf(address)
    if (other.threadId === conversation.threadId) throw error
    return start(await permittedCall(asked, 'runs:create', other.threadId, body), other)
  }
}

async function startTask(
  { call, metadata }: PermittedCall,
  request: SendRequest,
  { contextId, threadId, thread }: Conversation,
  repeatable: A2AMessage | undefined,
): Promise<Begun> {
  const { context, assistantId } = call
  const { engine } = context
  const { message } = request
  const agent = agentOf(call)
  checkMessage(agent, message)
  const command = repeatable && (await keyOf(repeatable))
  const known = thread && command && (await startedBefore(call, threadId, command))
  if (known) return begunBy(call, { contextId, threadId }, known)
  if (resumeOf(message).length > 0) throw unnamedTask('An answer')
  if (thread) await requireNoQuestion(call, contextId, thread)
  const input = inputOf(message)
  const after =
    thread && !hasContent(message)
      ? decoded(messagesIn((await engine.readState(thread))?.values ?? {})).at(-1)?.id
      : undefined
  const details: TaskDetails = {
    contextId,
    messageId: message.messageId,
    ...(after !== undefined && { after }),
  }
  const started = await engine.start({
    ...common(call, { ...request, ...(metadata && { metadata }) }, { contextId, threadId }),
    assistantId,
    input,
    title: titleOf(input),
    metadata: { ...metadata, ...(contextId !== threadId && { a2a_context_id: contextId }) },
    task: { details: { ...details } },
    command,
  })
  return begunBy(call, { contextId, threadId }, started)
}

/** Throws where a task of the thread waits for an answer: a message that names no task is none. */
async function requireNoQuestion(call: A2ACall, contextId: string, thread: ThreadRecord): Promise<void> {
  const [open] = unanswered(thread)
  if (!open) return
  const { threadId, lastRunId } = thread
  const asked = { threadId, principal: call.call.principal, taskId: open.runId || (lastRunId ?? '') }
  const task = await call.context.engine.findTask(asked)
  // What a task has asked that was cancelled or has failed since, nobody can answer.
  if (!task || isTaskEnded(task)) return
  const id = JSON.stringify(taskIdOf(contextId, task.taskId))
  throw unnamedTask(`The conversation waits for an answer to task ${id}, and a message`)
}

/** A message for a task: the answer to what it has asked, or more for it to do. */
async function goOn(asked: A2ACall, request: SendRequest, taskId: string): Promise<Begun> {
  const { message } = request
  const named = { id: taskId, contextId: message.contextId || undefined }
  const { call, metadata, found } = await permittedTask(asked, 'runs:create', named, bodyOf(request))
  const { context, assistantId } = call
  const { engine } = context
  const { contextId, record } = found
  const { threadId } = found.thread
  checkMessage(agentOf(call), message)
  const command = await keyOf(message)
  const known = await startedBefore(call, threadId, command)
  if (known) return begunBy(call, { contextId, threadId }, known)
  if (isTaskEnded(record)) throw ended(taskId, record.state)
  const details: TaskDetails = { contextId, messageId: message.messageId }
  const run = {
    ...common(call, { ...request, ...(metadata && { metadata }) }, { contextId, threadId }),
    command,
    task: { taskId: record.taskId, details: { ...details } },
  }
  const answers = answersTo(message, record.state, openQuestions(found))
  const started = answers
    ? await engine.respond({ ...run, answers })
    : await engine.start({ ...run, assistantId, input: inputOf(message) })
  return begunBy(call, { contextId, threadId }, started)
}

const ended = (taskId: string, state: string): A2AError =>
  new A2AError(
    'unsupported_operation',
    `Task ${JSON.stringify(taskId)} has ended (${state}) and takes no more messages. Send the message with its contextId alone to go on with the conversation.`,
    { taskId },
  )

function wrongMessageId(why: string): A2AError {
  const field = 'params.message.messageId'
  return new A2AError('invalid_params', `${field}: ${why}.`, { field })
}

const unnamedTask = (what: string): A2AError =>
  new A2AError('invalid_params', `message.taskId: ${what} must name the task that asked.`)

/** What a permission to run is asked for. */
const bodyOf = ({ metadata }: SendRequest): object => (metadata ? { metadata } : {})

/** The agent of the call, which the endpoint has looked up. */
export const agentOf = ({ context, assistantId }: A2ACall): Agent => context.engine.agents.get(assistantId)!

/** Throws where the agent cannot read the message. */
function checkMessage(agent: Agent, message: A2AMessage): void {
  checkModes(agent, message)
  const { takesMessages = true } = agent
  if (takesMessages || !hasContent(message)) return
  throw new A2AError(
    'invalid_params',
    'message.parts: the agent keeps no `messages`, so that it takes data parts only.',
  )
}

async function begunBy(
  call: A2ACall,
  { contextId, threadId }: Pick<Conversation, 'contextId' | 'threadId'>,
  { runId, appliedThroughSeq }: Started,
): Promise<Begun> {
  const found = await findRun(call, { contextId, threadId, runId })
  return { call, found, runId, after: appliedThroughSeq }
}

/** What every run of this face is started with. */
function common(
  call: A2ACall,
  request: SendRequest,
  { contextId, threadId }: Pick<Conversation, 'contextId' | 'threadId'>,
) {
  const { engine, assistant } = call.context
  const { principal, request: http } = call.call
  const { config, context } = runSettings(engine.limits, assistant, { metadata: request.metadata })
  const trace = traceOf(call, request) ?? contextId
  return {
    threadId,
    principal,
    request: http,
    traceparent: http.headers.get('traceparent'),
    config: { ...config, metadata: { ...config.metadata, thread_id: trace } },
    context,
  }
}

/** The thread that traces are grouped under, which clients name beside the message. What is no id is ignored. */
function traceOf({ metadata }: A2ACall, request: SendRequest): string | undefined {
  const named = [metadata, request.metadata].map((fields) => fields?.thread_id)
  return named.find((id): id is string => typeof id === 'string' && id !== '' && id.length <= MAX_ID)
}

/** A message has one effect in its context. */
async function keyOf({ messageId, parts, command }: A2AMessage): Promise<CommandKey> {
  const isShort = /^[\x21-\x7e]{1,200}$/.test(messageId)
  return {
    key: `a2a:${isShort ? messageId : await uuidOf(messageId)}`,
    fingerprint: await uuidOf([parts, command ?? null]),
  }
}

async function startedBefore(
  call: A2ACall,
  threadId: string,
  command: CommandKey,
): Promise<Started | undefined> {
  const receipt = await call.context.engine.loadReceipt(threadId, command)
  return receipt && 'runId' in receipt ? receipt : undefined
}
