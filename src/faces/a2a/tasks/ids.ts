import { A2AError } from '../errors.ts'

/** The maximum length of an id from a client, in characters. */
export const MAX_ID = 512

/** The id of a task for clients: its context and its first run, as on LangGraph's server. */
export const taskIdOf = (contextId: string, runId: string): string => `${contextId}:${runId}`

export interface TaskAddress {
  readonly contextId: string
  readonly runId: string
}

/**
 * Parses a task id: one from this server, or a run id together with its context. Throws `task_not_found`, and
 * `invalid_params` if the context is a different one.
 */
export function readTaskId(id: string, contextId: string | undefined): TaskAddress {
  const end = id.lastIndexOf(':')
  const own = end < 0 ? contextId : id.slice(0, end)
  const runId = id.slice(end + 1)
  if (!own || runId === '' || runId.length > MAX_ID) throw taskNotFound(id)
  if (contextId !== undefined && contextId !== own) throw ofOtherContext(id)
  return { contextId: own, runId }
}

export const ofOtherContext = (id: string): A2AError =>
  new A2AError('invalid_params', `contextId: task ${JSON.stringify(shown(id))} belongs to another context.`)

/** An id from a client, cut to the maximum length of a task id. */
const shown = (id: string): string => id.slice(0, MAX_ID + 40)

export function taskNotFound(id: string): A2AError {
  const taskId = shown(id)
  return new A2AError('task_not_found', `Task ${JSON.stringify(taskId)} not found.`, { taskId })
}
