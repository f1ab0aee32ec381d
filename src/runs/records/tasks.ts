import type { Doc, Store } from '../../storage/store/store.ts'
import { type RunRecord, type TaskRecord, type TaskState, type ThreadRecord, taskField } from './records.ts'

/** The task of a run that nobody started as one: it is a task of one run, which nobody can list. */
export function taskOfRun({ owner, status: now, lastRunId }: ThreadRecord, run: RunRecord): TaskRecord {
  const { runId, threadId, assistantId, status, error, createdAt, startedAt } = run
  const waits = status === 'interrupted' && now === 'interrupted' && lastRunId === runId
  const state = waits ? 'input-required' : STATES[status]
  const updatedAt = startedAt ?? createdAt
  return {
    taskId: runId,
    runIds: [runId],
    createdAt,
    details: null,
    threadId,
    assistantId,
    owner,
    state,
    firstSeq: run.firstSeq,
    error,
    updatedAt,
  }
}

const STATES: Readonly<Record<RunRecord['status'], TaskState>> = {
  pending: 'submitted',
  running: 'working',
  success: 'completed',
  error: 'failed',
  interrupted: 'canceled',
}

export async function loadTask(
  store: Store,
  threadId: string,
  taskId: string,
): Promise<TaskRecord | undefined> {
  const doc = await store.get(threadId, 'tasks', taskId)
  return doc && taskOf(doc)
}

// Records are plain JSON by construction.
const taskOf = ({ value }: Doc): TaskRecord => value as unknown as TaskRecord

export interface TaskQuery {
  readonly owner: string | null
  readonly assistantId: string
  readonly threadId?: string | undefined
  readonly state?: TaskState | undefined
  /** At most 1,000. */
  readonly limit: number
  readonly cursor?: string | undefined
}

/** A page of tasks, the last changed first. */
export async function listTasks(
  store: Store,
  { owner, assistantId, threadId, state, limit, cursor }: TaskQuery,
): Promise<{ readonly tasks: readonly TaskRecord[]; readonly cursor?: string }> {
  const { docs, cursor: next } = await store.list('tasks', {
    ...(threadId !== undefined && { partition: threadId }),
    orderBy: taskField(owner, assistantId, state),
    descending: true,
    limit,
    ...(cursor !== undefined && { cursor }),
  })
  return { tasks: docs.map(taskOf), ...(next !== undefined && { cursor: next }) }
}

export const countTasks = (
  store: Store,
  { owner, assistantId, state }: Pick<TaskQuery, 'owner' | 'assistantId' | 'state'>,
): Promise<number> => store.count('tasks', taskField(owner, assistantId, state))
