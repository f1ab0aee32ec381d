import { permit, type ThreadAction } from '../../requests/access.ts'
import { A2AError } from '../errors.ts'
import type { Task, TaskRequest } from '../model.ts'
import { type Conversation, conversationOf } from '../tasks/contexts.ts'
import { readTaskId, taskNotFound } from '../tasks/ids.ts'
import { type FoundTask, presentTask, type Shown } from '../tasks/present.ts'
import type { A2ACall } from './operations.ts'

/** The caller's task. Another caller's, and another assistant's, is unknown. */
export async function findTask(
  call: A2ACall,
  { id, contextId: named }: Pick<TaskRequest, 'id' | 'contextId'>,
): Promise<FoundTask> {
  const { engine } = call.context
  const { principal } = call.call
  const { assistantId } = call
  const { contextId, runId } = readTaskId(id, named)
  const { thread } = await conversationOf({ engine, principal, assistantId, contextId }).catch(
    unknownContext(id),
  )
  const record = thread && (await engine.findTask({ threadId: thread.threadId, principal, taskId: runId }))
  const isOurs = record && (engine.aliases.get(record.assistantId) ?? record.assistantId) === assistantId
  if (!isOurs) throw taskNotFound(id)
  return { contextId, thread, record }
}

/** An id that no context can have names no task. */
const unknownContext =
  (id: string) =>
  (error: unknown): never => {
    throw error instanceof A2AError ? taskNotFound(id) : error
  }

/** `findTask` where the caller may do this to it. */
export async function permittedTask(
  call: A2ACall,
  action: ThreadAction,
  request: Pick<TaskRequest, 'id' | 'contextId'>,
): Promise<FoundTask> {
  const found = await findTask(call, request)
  const { threadId } = found.thread
  await permit(call.context.authorize, call.call, action, { threadId, assistantId: call.assistantId })
  return found
}

/** The task of a run that is known to exist. */
export async function findRun(
  call: A2ACall,
  { contextId, threadId, runId }: Pick<Conversation, 'contextId' | 'threadId'> & { readonly runId: string },
): Promise<FoundTask> {
  const { engine } = call.context
  const { principal } = call.call
  const [thread, record] = await Promise.all([
    engine.findThread({ threadId, principal }),
    engine.findTask({ threadId, principal, taskId: runId }),
  ])
  if (!thread || !record) throw taskNotFound(runId)
  return { contextId, thread, record }
}

/** A task as this client wants to see it. */
export const present = (call: A2ACall, found: FoundTask, shown: Shown = {}): Promise<Task> =>
  presentTask(call.context.engine, found, { historyScope: call.historyScope, ...shown })
