import { A2AError } from '../errors.ts'

/** What names a task to clients: its context and its first run, as on LangGraph's server. */
export const taskIdOf = (contextId: string, runId: string): string => `${contextId}:${runId}`

export interface TaskAddress {
  readonly contextId: string
  readonly runId: string
}

/**
 * Reads a task id: the one we give, or a run id beside its context. Throws `task_not_found`, and `invalid_params` where the context
 * is another one.
 */
export function readTaskId(id: string, contextId: string | undefined): TaskAddress {
  const end = id.lastIndexOf(':')
  const own = end > 0 ? id.slice(0, end) : contextId
  if (own === undefined || id === '') throw taskNotFound(id)
  if (contextId !== undefined && contextId !== own)
    throw new A2AError('invalid_params', `contextId: task ${JSON.stringify(id)} is of another context.`)
  return { contextId: own, runId: id.slice(end + 1) }
}

export const taskNotFound = (taskId: string): A2AError =>
  new A2AError('task_not_found', `Task ${JSON.stringify(taskId.slice(0, 600))} not found.`, { taskId })
