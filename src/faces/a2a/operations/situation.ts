import { uuid7, uuidOf } from '../../../core/ids.ts'
import { namesOwnerOf } from '../../../core/principal.ts'
import {
  type AnswerRecord,
  type CommandKey,
  isAnswerEnded,
  lookAtThread,
  questionsBeforeInput,
  type RunReceipt,
  receiptIn,
  type ThreadLook,
  type ThreadRecord,
} from '../../../engine/index.ts'
import { A2AError } from '../errors.ts'
import type { SendRequest } from '../model.ts'
import { MAX_ID } from '../tasks/ids.ts'
import { openQuestions } from '../tasks/present.ts'
import type { Situation } from './decide.ts'
import {
  type Conversation,
  type PermittedCall,
  permittedCall,
  permittedConversation,
  permittedTask,
} from './find.ts'
import type { A2ACall } from './operations.ts'

/** What a message meets, and where, for the run that is decided on it. */
export interface PermittedSituation extends PermittedCall, Omit<Situation, 'agent' | 'answered'> {
  readonly conversation: Conversation
}

/** Reads what a message meets, if its caller may run the assistant there. */
export async function situationOf(
  asked: A2ACall,
  request: SendRequest,
  command: CommandKey,
): Promise<PermittedSituation> {
  const ofTask = request.message.taskId ? await situationOfTask(asked, request, command) : undefined
  return ofTask ?? situationInContext(asked, request, command)
}

/**
 * A v0.3 client may send both ids of the last response with every message, even to another agent, like the
 * client in LangGraph Platform's documentation. In that case the context determines the conversation, and the
 * task is only used while it accepts messages. Undefined if such a task is unknown.
 */
async function situationOfTask(
  asked: A2ACall,
  request: SendRequest,
  command: CommandKey,
): Promise<PermittedSituation | undefined> {
  const { taskId: id = '', contextId } = request.message
  const isLenient = asked.dialect.version === '0.3' && Boolean(contextId)
  // A known task checks itself whether it belongs to another context.
  const named = { id, contextId: isLenient && id.includes(':') ? undefined : contextId }
  try {
    const permitted = await permittedTask(asked, 'runs:create', named, bodyOf(request), command)
    const { call, metadata, found, conversation } = permitted
    const task = { record: found.record, open: openQuestions(found) }
    const receipt = conversation.look && startedBefore(conversation.look)
    const { contextId } = found
    return { call, metadata, conversation, contextId, receipt, task, waiting: undefined, isLenient }
  } catch (error) {
    const isUnknown = error instanceof A2AError && error.code === 'task_not_found'
    if (isLenient && isUnknown) return undefined
    throw error
  }
}

async function situationInContext(
  asked: A2ACall,
  request: SendRequest,
  command: CommandKey,
): Promise<PermittedSituation> {
  const given = request.message.contextId || traceOf(asked, request)
  const body = bodyOf(request)
  const { call, metadata, conversation } = given
    ? await permittedConversation(asked, 'runs:create', { contextId: given, command }, body)
    : await firstConversation(asked, command, body)
  const { contextId, thread, look } = conversation
  const receipt = thread && look && startedBefore(look)
  const waiting = thread && !receipt ? await waitingTask(call, thread) : undefined
  return { call, metadata, conversation, contextId, receipt, task: undefined, waiting, isLenient: false }
}

/** The task of a thread that waits for an answer. A message without a task id is not an answer. */
async function waitingTask(
  { context: { engine }, call: { principal } }: A2ACall,
  thread: ThreadRecord,
): Promise<AnswerRecord | undefined> {
  const [open] = await questionsBeforeInput(engine, thread)
  if (!open) return undefined
  const { threadId, lastRunId } = thread
  const answerId = open.runId || (lastRunId ?? '')
  const task = await engine.findAnswer({ threadId, principal, answerId, thread })
  // Questions of a task that was cancelled or failed since then cannot be answered.
  return task && !isAnswerEnded(task.record) ? task.record : undefined
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
  const look = await lookAtThread(context.engine, { threadId: repeated, command, saved: false })
  // Nothing else can belong to this id.
  const isFree = !look.isTaken && { contextId: repeated, threadId: repeated, thread: undefined, look }
  const wanted = { contextId: repeated, command }
  const permitted = await permittedConversation(asked, 'runs:create', wanted, body, isFree || undefined)
  const { threadId, thread, look: seen } = permitted.conversation
  if (!thread) return permitted
  const started = seen && startedBefore(seen)
  if (started && asked.dialect.version === '0.3') return permitted
  const { principal } = permitted.call.call
  const { runId: answerId } = started ?? {}
  const task = answerId && (await context.engine.findAnswer({ threadId, principal, answerId }))
  if (task && ['submitted', 'working'].includes(task.record.state)) return permitted
  const contextId = uuid7()
  const conversation: Conversation = { contextId, threadId: contextId, thread: undefined }
  return { ...(await permittedCall(asked, 'runs:create', contextId, body)), conversation }
}

/** The body that the permission check for a run gets. */
const bodyOf = ({ metadata }: SendRequest): object => (metadata ? { metadata } : {})

/**
 * The thread that traces are grouped under, which clients send next to the message. Invalid ids are ignored.
 */
export function traceOf({ metadata }: A2ACall, request: SendRequest): string | undefined {
  const named = [metadata, request.metadata].map((fields) => fields?.thread_id)
  return named.find((id): id is string => typeof id === 'string' && id !== '' && id.length <= MAX_ID)
}

function startedBefore(look: ThreadLook): RunReceipt | undefined {
  const receipt = receiptIn(look)
  return receipt && 'runId' in receipt ? receipt : undefined
}
