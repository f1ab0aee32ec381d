import type { DurableStorage } from '../durable.ts'
import { type MemoryCheckpointer, type MemoryThreads, memoryCheckpointerIn } from './checkpointer.ts'
import { asOneDatabase } from './one-database.ts'
import { type MemoryStoreOptions, memoryStore } from './store.ts'

export interface MemoryStorage extends Omit<DurableStorage, 'checkpointer'> {
  readonly checkpointer: MemoryCheckpointer
}

/**
 * A store and a saver in this process's memory, with the shape of the other storages. All data is lost when
 * the process ends.
 *
 * @example
 * ```ts
 * const storage = memoryStorage()
 * const server = createAgentServer({ agents, ...storage })
 * ```
 */
export function memoryStorage(options?: MemoryStoreOptions): MemoryStorage {
  const threads: MemoryThreads = new Map()
  const { store, checkpointer } = asOneDatabase(memoryStore(options), memoryCheckpointerIn(threads), threads)
  return {
    store,
    checkpointer,
    setup: () => store.setup(),
    async report() {
      const { counts, ...about } = await store.report!()
      const { countCheckpoints } = await import('./counts.ts')
      return { ...about, counts: { ...counts, checkpoints: countCheckpoints(threads) } }
    },
    close: () => store.close(),
  }
}
