import { DATABASE } from '../checkpointer/fenced.ts'
import { beforeWrites } from '../checkpointer/overlay.ts'
import type { Store } from '../store/store.ts'
import type { MemoryCheckpointer } from './checkpointer.ts'

/** A store and a saver in memory that know each other, as those of one database do: a lease is checked with each write of the saver. */
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
