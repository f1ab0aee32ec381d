import type { CheckpointConfig } from '../../storage/checkpointer/checkpointer.ts'
import type { CheckpointRef, SnapshotTask, StateSnapshot } from '../agent.ts'
import { toJson } from '../to-json.ts'
import type { GraphState, GraphTask } from './graph.ts'

/** A `StateSnapshot` of LangGraph as ours, or undefined where there is no checkpoint. */
export function toSnapshot(state: GraphState): StateSnapshot | undefined {
  if (state.createdAt === undefined) return undefined
  return {
    values: toValues(state.values),
    next: [...state.next],
    tasks: state.tasks.map(toTask),
    metadata: toJson(state.metadata ?? {}) as Record<string, unknown>,
    createdAt: state.createdAt,
    checkpoint: toRef(state.config),
    parentCheckpoint: state.parentConfig ? toRef(state.parentConfig) : null,
  }
}

/** State that is no object, as of an `entrypoint`, goes under LangGraph's name for it. */
export function toValues(values: unknown): Record<string, unknown> {
  const json = toJson(values)
  if (typeof json === 'object' && json !== null && !Array.isArray(json))
    return json as Record<string, unknown>
  return json === null ? {} : { __root__: json }
}

export function toRef({ configurable = {} }: CheckpointConfig): CheckpointRef {
  return {
    threadId: String(configurable.thread_id),
    checkpointId: String(configurable.checkpoint_id ?? ''),
    checkpointNs: String(configurable.checkpoint_ns ?? ''),
    checkpointMap: (toJson(configurable.checkpoint_map) as Record<string, string> | null) ?? null,
  }
}

function toTask({ id, name, path, error, interrupts, state, result }: GraphTask): SnapshotTask {
  const nested = state !== undefined && 'values' in state
  return {
    id,
    name,
    path: toJson(path ?? []) as unknown[],
    error: error === undefined || error === null ? null : messageOf(error),
    interrupts: (interrupts ?? []).map((one) => ({ id: one.id ?? '', value: toJson(one.value) })),
    checkpoint: state === undefined || nested ? null : toRef(state),
    state: nested ? (toSnapshot(state) ?? null) : null,
    result: toJson(result),
  }
}

export function messageOf(error: unknown): string {
  if (typeof error === 'object' && error !== null && 'message' in error) return String(error.message)
  return typeof error === 'string' ? error : JSON.stringify(toJson(error))
}
