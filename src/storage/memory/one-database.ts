import type { Checkpointer } from '../checkpointer/checkpointer.ts'
import { addressOf } from '../checkpointer/config.ts'
import { DATABASE } from '../checkpointer/fenced.ts'
import { beforeWrites, overlay } from '../checkpointer/overlay.ts'
import { fencedError } from '../store/commit.ts'
import type { Store } from '../store/store.ts'
import type { MemoryCheckpointer, MemoryThreads } from './checkpointer.ts'

/** See `CheckpointTables.put`. */
const savingOnParents = (saver: Checkpointer, threads: MemoryThreads): Checkpointer =>
  overlay(saver, (inner) => ({
    async put(config, checkpoint, ...rest) {
      const { threadId = '', namespace = '', checkpointId: parentId } = addressOf(config)
      const kept = threads.get(threadId)?.get(namespace)?.kept
      if (parentId !== undefined && !kept?.has(parentId) && !kept?.has(checkpoint.id))
        throw fencedError(threadId)
      return inner.put(config, checkpoint, ...rest)
    },
  }))

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
        beforeWrites(threads ? savingOnParents(saver, threads) : saver, () =>
          store.assertFence(partition, token),
        ),
    } as Saver,
  }
}
