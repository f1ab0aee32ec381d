import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Checkpointer } from '../../src/storage/checkpointer.ts'
import { memoryCheckpointer } from '../../src/storage/memory-checkpointer.ts'
import { type MemoryStoreOptions, memoryStore } from '../../src/storage/memory-store.ts'
import { sqliteStorage } from '../../src/storage/sqlite.ts'
import type { Store } from '../../src/storage/store.ts'

/** What one instance of a server stands on. */
export interface Place {
  readonly store: Store
  readonly checkpointer: Checkpointer
}

/** A database that several instances share. Each call opens it once more; all is closed when the test ends. */
export type Shared = () => Place

/** The memory of this process, told to be shared. */
export function sharedMemory(options?: MemoryStoreOptions): Shared {
  const inner = memoryStore(options)
  const checkpointer = memoryCheckpointer()
  return () => ({
    store: { ...inner, capabilities: { ...inner.capabilities, shared: true } },
    checkpointer,
  })
}

/** One file, opened anew by each. */
export function sharedFile(): Shared {
  const directory = mkdtempSync(join(tmpdir(), 'agentwire-shared-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return () => {
    const storage = sqliteStorage({ url: join(directory, 'agents.db') })
    onTestFinished(() => storage.close())
    return storage
  }
}

export const SHARED = { memory: () => sharedMemory(), sqlite: sharedFile } as const
