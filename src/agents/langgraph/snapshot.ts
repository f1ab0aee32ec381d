import { isRecord } from '../../messages/record.ts'
import type { Checkpointer, CheckpointTuple } from '../../storage/checkpointer/checkpointer.ts'
import type { PendingInterrupt, SnapshotTask, StateSnapshot } from '../agent.ts'
import { configOf, refOf } from '../checkpoint-config.ts'
import { toJson, toJsonOnce } from '../to-json.ts'
import type { GraphInterrupt, GraphState, GraphTask } from './graph.ts'

/** Converts LangGraph's `StateSnapshot` to ours. Undefined if there is no checkpoint. */
export function toSnapshot(state: GraphState): StateSnapshot | undefined {
  if (state.createdAt === undefined) return undefined
  return {
    // LangGraph creates it from a copy of the checkpoint.
    values: valuesOf(toJsonOnce(state.values)),
    next: [...state.next],
    tasks: state.tasks.map(toTask),
    metadata: toJson(state.metadata ?? {}) as Record<string, unknown>,
    createdAt: state.createdAt,
    checkpoint: refOf(state.config),
    parentCheckpoint: state.parentConfig ? refOf(state.parentConfig) : null,
  }
}

/**
 * The state as an object. Any other value, such as that of an `entrypoint`, is stored under LangGraph's key
 * for it.
 */
export const toValues = (values: unknown): Record<string, unknown> => valuesOf(toJson(values))

function valuesOf(json: unknown): Record<string, unknown> {
  if (isRecord(json)) return json
  return json === null ? {} : { __root__: json }
}

function toTask({ id, name, path, error, interrupts, state, result }: GraphTask): SnapshotTask {
  const nested = state !== undefined && 'values' in state
  return {
    id,
    name,
    path: toJson(path ?? []) as unknown[],
    error: errorOf(error),
    interrupts: (interrupts ?? []).map(toPending),
    checkpoint: state === undefined || nested ? null : refOf(state),
    state: nested ? (toSnapshot(state) ?? null) : null,
    result: toJson(result),
  }
}

export const toPending = ({ id = '', value }: GraphInterrupt): PendingInterrupt => ({
  id,
  value: toJson(value),
})

/**
 * The error of a task, as a text. The engine ends the task of a node that hands over to the enclosing graph
 * with an error, which is none.
 */
export const errorOf = (error: unknown): string | null =>
  error === undefined || error === null || isHandoff(error) ? null : messageOf(error)

/** Whether an error of LangGraph is a `Command` for the enclosing graph. */
export const isHandoff = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'name' in error && error.name === 'ParentCommand'

export function messageOf(error: unknown): string {
  if (typeof error === 'object' && error !== null && 'message' in error) return String(error.message)
  return typeof error === 'string' ? error : JSON.stringify(toJson(error))
}

type PendingWrites = NonNullable<CheckpointTuple['pendingWrites']>

/** The channel to which a task writes its interrupts. */
export const INTERRUPT = '__interrupt__'

/** The channel to which a task writes its error. */
export const ERROR = '__error__'

/** The channel to which a task writes the answers that it got. */
export const RESUME = '__resume__'

/** The error of a task whose last answer was not kept, so that it asks again. */
export const refusal = (error: unknown): object => ({ ...Object(error), asksAgain: true })

const hasRefused = (error: unknown): boolean => isRecord(error) && error.asksAgain === true

/** The channels that a task writes while it waits for an answer, and when it gets one. */
const WAITING_CHANNELS = new Set([INTERRUPT, RESUME, '__scheduled__'])

/**
 * The tasks that wrote or failed after their answer. Their interrupts are still in the checkpoint, but no
 * longer pending. The error of a task without an answer is older than its question, because a retried task
 * keeps its error.
 */
export function answeredTasks(pendingWrites: PendingWrites): ReadonlySet<string> {
  const resumed = new Set(pendingWrites.filter(([, channel]) => channel === RESUME).map(([taskId]) => taskId))
  const done = pendingWrites.filter(
    ([taskId, channel, value]) =>
      !WAITING_CHANNELS.has(channel) && (channel !== ERROR || (resumed.has(taskId) && !hasRefused(value))),
  )
  return new Set(done.map(([taskId]) => taskId))
}

/** The snapshot without answered interrupts, if only some of several tasks were answered. */
export async function withoutAnswered(
  snapshot: StateSnapshot,
  checkpointer: Checkpointer,
): Promise<StateSnapshot> {
  if (!snapshot.tasks.some((task) => task.interrupts.length > 0)) return snapshot
  const { threadId, checkpointId, checkpointNs } = snapshot.checkpoint
  const tuple = await checkpointer.getTuple(configOf({ threadId, checkpointId, checkpointNs }))
  const answered = answeredTasks(tuple?.pendingWrites ?? [])
  const tasks = snapshot.tasks.map(async (task) => ({
    ...task,
    interrupts: answered.has(task.id) ? [] : task.interrupts,
    state: task.state && (await withoutAnswered(task.state, checkpointer)),
  }))
  return { ...snapshot, tasks: await Promise.all(tasks) }
}
