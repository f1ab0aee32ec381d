import type { StorageReport } from '../store/report.ts'
import type { Store } from '../store/store.ts'
import { type MemoryCheckpointer, type MemoryThreads, memoryCheckpointerIn } from './checkpointer.ts'
import { countCheckpoints } from './counts.ts'
import { type MemoryStoreOptions, memoryStore } from './store.ts'

export interface MemoryStorage {
  readonly store: Store
  readonly checkpointer: MemoryCheckpointer
  setup(): Promise<void>
  report(): Promise<StorageReport>
  close(): Promise<void>
}

/**
 * A store and a saver in this process, in the shape of the other storages. Everything is lost when it ends.
 *
 * @example
 * ```ts
 * const storage = memoryStorage()
 * const server = createAgentServer({ agents, ...storage })
 * ```
 */
export function memoryStorage(options?: MemoryStoreOptions): MemoryStorage {
  const store = memoryStore(options)
  const threads: MemoryThreads = new Map()
  return {
    store,
    checkpointer: memoryCheckpointerIn(threads),
    setup: () => store.setup(),
    async report() {
      const { counts, ...about } = await store.report!()
      return { ...about, counts: { ...counts, checkpoints: countCheckpoints(threads) } }
    },
    close: () => store.close(),
  }
}
