import { addressOf } from '../checkpointer/config.ts'
import { DATABASE } from '../checkpointer/fenced.ts'
import { beforeWrites, hooked, type SaverHook } from '../checkpointer/hooks.ts'
import { fencedError } from '../store/commit.ts'
import type { Store } from '../store/store.ts'
import type { MemoryCheckpointer, MemoryThreads } from './checkpointer.ts'

/** See `CheckpointTables.put`. */
const onParents = (threads: MemoryThreads): SaverHook => ({
  async put(put, config, checkpoint, ...rest) {
    const { threadId = '', namespace = '', checkpointId: parentId } = addressOf(config)
    const kept = threads.get(threadId)?.get(namespace)?.kept
    if (parentId !== undefined && !kept?.has(parentId) && !kept?.has(checkpoint.id))
      throw fencedError(threadId)
    return put(config, checkpoint, ...rest)
  },
})

/**
 * Connects a store and a saver in memory as if they shared a database: each write of the saver checks its
 * lease.
 */
export function asOneDatabase<Saver extends MemoryCheckpointer>(
  store: Store,
  saver: Saver,
  threads?: MemoryThreads,
): { readonly store: Store; readonly checkpointer: Saver } {
  const database = { isDurable: false }
  return {
    store: { ...store, [DATABASE]: database } as Store,
    checkpointer: {
      ...saver,
      [DATABASE]: database,
      withFence: (partition: string, token: number) =>
        hooked(saver, [
          beforeWrites(() => store.assertFence(partition, token)),
          threads && onParents(threads),
        ]),
    } as Saver,
  }
}
