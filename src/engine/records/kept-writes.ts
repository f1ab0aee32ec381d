import { toJson } from '../../agents/to-json.ts'
import type { CheckpointTuple } from '../../storage/checkpointer/checkpointer.ts'
import type { SaverHook } from '../../storage/checkpointer/hooks.ts'
import type { KeptWrite, ThreadRecord } from './records.ts'

/** The channels of questions and their answers. A later write of the same task replaces an earlier one. */
const REPLACED: ReadonlySet<string> = new Set(['__interrupt__', '__resume__'])

type Writes = NonNullable<CheckpointTuple['pendingWrites']>

const keptWrite = (taskId: string, channel: string, value: unknown): KeptWrite => ({
  taskId,
  channel,
  ...(REPLACED.has(channel) && { value: toJson(value) }),
})

/** The pending writes of a checkpoint, to be read again after those of a later run were undone. */
export const keepWrites = (writes: Writes = []): readonly KeptWrite[] =>
  writes.map(([taskId, channel, value]) => keptWrite(taskId, channel, value))

/** The questions and answers that a task has written, in place of its earlier ones. Undefined if there are none. */
export function withTaskWrites(
  kept: readonly KeptWrite[],
  taskId: string,
  writes: readonly (readonly [channel: string, value: unknown])[],
): readonly KeptWrite[] | undefined {
  const replacing = writes.filter(([channel]) => REPLACED.has(channel))
  if (replacing.length === 0) return undefined
  const others = kept.filter(
    (write) => write.taskId !== taskId || !replacing.some(([channel]) => channel === write.channel),
  )
  return [...others, ...replacing.map(([channel, value]) => keptWrite(taskId, channel, value))]
}

/**
 * The checkpoint that a rollback restored has the pending writes that it had before. Savers cannot delete
 * those of the run that was undone: its answers would be given to the next one.
 */
export function withoutUndone({
  restoredCheckpointId,
  restoredWrites,
}: Pick<ThreadRecord, 'restoredCheckpointId' | 'restoredWrites'>): SaverHook | undefined {
  if (restoredCheckpointId === null || !restoredWrites) return undefined
  return {
    async getTuple(getTuple, config) {
      const tuple = await getTuple(config)
      if (tuple?.checkpoint.id !== restoredCheckpointId || config.configurable?.checkpoint_ns) return tuple
      return { ...tuple, pendingWrites: restored(tuple.pendingWrites ?? [], restoredWrites) }
    },
  }
}

function restored(present: Writes, kept: readonly KeptWrite[]): Writes {
  const left = [...present]
  return kept.flatMap((write): Writes => {
    const { taskId, channel } = write
    if ('value' in write) return [[taskId, channel, write.value]]
    const at = left.findIndex(([id, of]) => id === taskId && of === channel)
    return at < 0 ? [] : left.splice(at, 1)
  })
}
