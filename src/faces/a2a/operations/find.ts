import { accessOf, withoutMetadataFilter } from '../../../core/principal.ts'
import type { CommandKey } from '../../../engine/index.ts'
import { permit, type ThreadAction } from '../../kit/access.ts'
import { reachesAssistant } from '../../kit/assistants.ts'
import { A2AError, noSuchAssistant } from '../errors.ts'
import type { Task, TaskRequest } from '../model.ts'
import { agentIdOf, type ContextAddress, type Conversation, conversationOf } from '../tasks/contexts.ts'
import { readTaskId, taskNotFound } from '../tasks/ids.ts'
import { type FoundTask, presentTask, type TaskViewOptions } from '../tasks/present.ts'
import type { A2ACall } from './operations.ts'

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
