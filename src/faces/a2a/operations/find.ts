import { uuidOf } from '../../../core/ids.ts'
import { accessOf, namesOwnerOf, type Principal, withoutMetadataFilter } from '../../../core/principal.ts'
import {
  type CommandKey,
  internalsOf,
  lookAtThread,
  type ServedEngine,
  type ThreadLook,
  type ThreadRecord,
} from '../../../engine/index.ts'
import { permit, type ThreadAction } from '../../kit/access.ts'
import { reachesAssistant } from '../../kit/assistants.ts'
import { isThreadId } from '../../kit/ids.ts'
import { A2AError, noSuchAssistant } from '../errors.ts'
import type { Task, TaskRequest } from '../model.ts'
import { MAX_ID, readTaskId, taskNotFound } from '../tasks/ids.ts'
import { type FoundTask, presentTask, type TaskViewOptions } from '../tasks/present.ts'
import type { A2ACall } from './operations.ts'

/** A conversation with its A2A context and the engine's thread. */
export interface Conversation {
  readonly contextId: string
  readonly threadId: string
  /** Undefined if the thread does not exist yet. */
  readonly thread: ThreadRecord | undefined
  /** The result of looking it up. Absent if the server has just created its id. */
  readonly look?: ThreadLook | undefined
}

interface ContextAddress {
  readonly engine: ServedEngine
  readonly principal: Principal | null
  readonly assistantId: string
  readonly contextId: string
  /** The command whose result is looked up with the thread. */
  readonly command?: CommandKey | undefined
  /** The answer that is looked up with the thread. */
  readonly answerId?: string | undefined
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/**
 * The thread of a context: the caller's thread with this id and assistant, created by any face, or the thread
 * that stands for the context. The latter has the context's id if it is a UUID that is free, otherwise an id
 * derived from the context, the caller and the assistant. Two assistants with the same context therefore have
 * separate states, and callers cannot share one.
 */
async function conversationOf(address: ContextAddress): Promise<Conversation> {
  const { engine, assistantId, contextId } = address
  if (contextId.length > MAX_ID)
    throw new A2AError('invalid_params', `contextId: expected at most ${MAX_ID} characters.`)
  // A context that is not a UUID keeps the thread of its first message, even if a thread gets its id later.
  const own = UUID.test(contextId) ? undefined : await derivedThread(address)
  if (own?.thread) return own
  const named = isThreadId(contextId) ? await conversationIn(address, contextId) : undefined
  if (named?.thread && isOf(engine, named.thread, assistantId)) return named
  const apart = own ?? (await derivedThread(address))
  // The id may belong to another caller, or to a thread of another assistant.
  return own || apart.thread || !named || named.look.isTaken ? apart : named
}

/** The context in the thread with this id. */
async function conversationIn(
  { engine, principal, contextId, command, answerId }: ContextAddress,
  threadId: string,
): Promise<Conversation & { readonly look: ThreadLook }> {
  const look = await lookAtThread(engine, { threadId, principal, command, answerId })
  return { contextId, threadId, thread: look.thread, look }
}

/** The context in a separate thread, for an id that another owner has. */
async function derivedThread(address: ContextAddress): ReturnType<typeof conversationIn> {
  const { principal, assistantId, contextId } = address
  return conversationIn(address, await uuidOf(['a2a', namesOwnerOf(principal), assistantId, contextId]))
}

const isOf = (engine: ServedEngine, thread: ThreadRecord, assistantId: string): boolean =>
  thread.assistantId === null || agentIdOf(engine, thread.assistantId) === assistantId

/** The id of the agent with a name, which may be an alias. */
const agentIdOf = (engine: ServedEngine, name: string): string =>
  internalsOf(engine).aliases.get(name) ?? name

/** The task of a conversation. A task of another assistant counts as unknown. */
async function taskIn(
  { context: { engine }, call: { principal }, assistantId }: A2ACall,
  { contextId, threadId, thread, look }: Conversation,
  { id }: Pick<TaskRequest, 'id'>,
): Promise<FoundTask> {
  const { runId } = readTaskId(id, contextId)
  const found =
    thread && look?.answer
      ? { thread, record: look.answer }
      : thread && (await engine.findAnswer({ threadId, principal, answerId: runId, thread }))
  const isOurs = found && agentIdOf(engine, found.record.assistantId) === assistantId
  if (!isOurs) throw taskNotFound(id)
  return { contextId, ...found }
}

/** An id with an impossible context refers to no task. */
const unknownContext =
  (id: string) =>
  (error: unknown): never => {
    throw error instanceof A2AError ? taskNotFound(id) : error
  }

/** The caller's task if the action is permitted, and the call with the limits of the permission. */
export async function permittedTask(
  call: A2ACall,
  action: ThreadAction,
  request: Pick<TaskRequest, 'id' | 'contextId'>,
  body?: object,
  command?: CommandKey,
): Promise<PermittedCall & { readonly conversation: Conversation; readonly found: FoundTask }> {
  const { id } = request
  const { contextId, runId: answerId } = readTaskId(id, request.contextId)
  const wanted = { contextId, command, answerId }
  const named = await conversationAs(callWithoutFilter(call), wanted).catch(unknownContext(id))
  if (!named.thread) throw taskNotFound(id)
  const permitted = await permittedConversation(call, action, wanted, body, named)
  return { ...permitted, found: await taskIn(permitted.call, permitted.conversation, request) }
}

/** A context, and what to look up with it. */
type WantedContext = Pick<ContextAddress, 'contextId' | 'command' | 'answerId'>

/** Like `conversationOf`, if the action is permitted. Returns the call with the limits of the permission. */
export async function permittedConversation(
  call: A2ACall,
  action: ThreadAction,
  wanted: WantedContext,
  body?: object,
  known?: Conversation,
): Promise<PermittedCall & { readonly conversation: Conversation }> {
  const named = known ?? (await conversationAs(callWithoutFilter(call), wanted))
  const permitted = await permittedCall(call, action, named.threadId, body)
  // A caller with access to all of the owner's resources gets the same conversation.
  if (!accessOf(permitted.call.call.principal).metadataFilter) return { ...permitted, conversation: named }
  const conversation = await conversationAs(permitted.call, wanted)
  const isSame = conversation.threadId === named.threadId
  return {
    ...(isSame ? permitted : await permittedCall(call, action, conversation.threadId, body)),
    conversation,
  }
}

const conversationAs = (
  { context: { engine }, call: { principal }, assistantId }: A2ACall,
  wanted: WantedContext,
): Promise<Conversation> => conversationOf({ engine, principal, assistantId, ...wanted })

/** A call whose principal has the permission. */
export interface PermittedCall {
  readonly call: A2ACall
  /** The metadata that the permission sets, if any. */
  readonly metadata: Readonly<Record<string, unknown>> | undefined
}

/** Throws if the caller lacks the permission, and 404 if the permission hides the assistant in the path. */
export async function permittedCall(
  call: A2ACall,
  action: ThreadAction,
  threadId: string | undefined,
  body: object = {},
): Promise<PermittedCall> {
  const { context, assistantId } = call
  const resource = { threadId, assistantId }
  const permitted = await permit(context.authorize, call.call, action, resource, async () => body)
  if (!reachesAssistant(permitted.principal, context)) throw noSuchAssistant(context.engine)
  const { metadata } = (permitted.fields ?? {}) as Pick<PermittedCall, 'metadata'>
  return { call: { ...call, call: { ...call.call, principal: permitted.principal } }, metadata }
}

/** The call for finding the thread of a permission check. Its results are not shown to the client. */
const callWithoutFilter = (call: A2ACall): A2ACall => ({
  ...call,
  call: { ...call.call, principal: withoutMetadataFilter(call.call.principal) },
})

/** A task in the form that this client requested. */
export const present = (call: A2ACall, found: FoundTask, shown: TaskViewOptions = {}): Promise<Task> =>
  presentTask(call.context.engine, found, {
    ...shown,
    historyScope: shown.historyScope ?? call.historyScope,
  })
