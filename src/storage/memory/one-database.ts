import { DATABASE } from '../checkpointer/fenced.ts'
import { beforeWrites } from '../checkpointer/overlay.ts'
import type { Store } from '../store/store.ts'
import type { MemoryCheckpointer } from './checkpointer.ts'

/**
 * Connects a store and a saver in memory as if they shared a database: each write of the saver checks its
 * lease.
 */
export function asOneDatabase<Saver extends MemoryCheckpointer>(
  store: Store,
  saver: Saver,
): { readonly store: Store; readonly checkpointer: Saver } {
  const database = { isDurable: false }
  return {
    store: { ...store, [DATABASE]: database } as Store,
    checkpointer: {
      ...saver,
      [DATABASE]: database,
      withFence: (partition: string, token: number) =>
        beforeWrites(saver, () => store.assertFence(partition, token)),
    } as Saver,
  }
}
