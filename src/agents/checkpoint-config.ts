import type { CheckpointConfig, CheckpointTuple } from '../storage/checkpointer/checkpointer.ts'
import type { CheckpointRef, HistoryOptions, StateAddress } from './agent.ts'
import { toJson } from './to-json.ts'

/** A state address as the config that a checkpointer takes. */
export function configOf({
  threadId,
  checkpointId,
  checkpointNs = '',
}: Omit<StateAddress, 'checkpointer'>): CheckpointConfig {
  return {
    configurable: {
      thread_id: threadId,
      checkpoint_ns: checkpointNs,
      ...(checkpointId !== undefined && { checkpoint_id: checkpointId }),
    },
  }
}

/** A checkpoint's config as the reference that clients see. */
export function refOf({ configurable = {} }: CheckpointConfig): CheckpointRef {
  return {
    threadId: String(configurable.thread_id),
    checkpointId: String(configurable.checkpoint_id ?? ''),
    checkpointNs: String(configurable.checkpoint_ns ?? ''),
    checkpointMap: toJson(configurable.checkpoint_map) as Record<string, string> | null,
  }
}

/**
 * History options as a checkpointer takes them. A history that begins at a checkpoint skips the newer ones while it is read, so
 * the checkpointer gets the limit only where nothing is skipped.
 */
export function listOptionsOf(at: StateAddress, { limit, before, filter }: HistoryOptions) {
  return {
    ...(limit !== undefined && Number.isFinite(limit) && at.checkpointId === undefined && { limit }),
    ...(before !== undefined && { before: configOf({ ...at, checkpointId: before }) }),
    ...(filter !== undefined && { filter: { ...filter } }),
  }
}

/** The checkpoints of a namespace from the address on, newest first. */
export async function* listTuples(
  at: StateAddress,
  options: HistoryOptions,
): AsyncGenerator<CheckpointTuple, void, undefined> {
  let left = options.limit ?? Number.POSITIVE_INFINITY
  if (left <= 0) return
  const namespace = configOf({ ...at, checkpointId: undefined })
  for await (const tuple of at.checkpointer.list(namespace, listOptionsOf(at, options))) {
    if (at.checkpointId !== undefined && tuple.checkpoint.id > at.checkpointId) continue
    yield tuple
    if (--left <= 0) return
  }
}
