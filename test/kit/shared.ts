import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Checkpointer } from '../../src/storage/checkpointer/checkpointer.ts'
import { UnavailableError } from '../../src/storage/errors.ts'
import { memoryCheckpointer } from '../../src/storage/memory/checkpointer.ts'
import { type MemoryStoreOptions, memoryStore } from '../../src/storage/memory/store.ts'
import { sqliteStorage } from '../../src/storage/sqlite/sqlite.ts'
import type { RetentionOptions } from '../../src/storage/store/retention.ts'
import type { Change, Store } from '../../src/storage/store/store.ts'
import { databaseFolder } from './folder.ts'

/** The store and the checkpointer of one instance of a server. */
export interface Place {
  readonly store: Store
  readonly checkpointer: Checkpointer
}

/** A database that several instances share. Each call opens it once more, and everything is closed when the test ends. */
export type Shared = () => Place

/** The memory of this process, which says that it is shared. */
export function sharedMemory(options?: MemoryStoreOptions): Shared {
  const inner = memoryStore(options)
  const checkpointer = memoryCheckpointer()
  return () => ({
    store: { ...inner, capabilities: { ...inner.capabilities, shared: true } },
    checkpointer,
  })
}

/** One file that each instance opens for itself. */
export function sharedFile(bounds: RetentionOptions = {}): Shared {
  const directory = databaseFolder()
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return () => {
    const storage = sqliteStorage({ ...bounds, url: join(directory, 'agents.db') })
    onTestFinished(() => storage.close())
    return storage
  }
}

/** Called for each call to the storage, before it is made and after it was done. It may kill the process. */
export type OnCall = (name: string, moment: 'before' | 'after', args: readonly unknown[]) => void

/** The storage of a process that can be killed at any call. Afterwards no call reaches the storage, and no answer comes back. */
export function killable({ store, checkpointer }: Place, onCall: OnCall = () => {}) {
  let dead = false
  const assertAlive = () => {
    if (dead) throw new UnavailableError('The process is gone.', { written: 'unknown' })
  }
  const wrap =
    <Args extends unknown[], Result>(name: string, method: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      onCall(name, 'before', args)
      assertAlive()
      const result = await method(...args)
      onCall(name, 'after', args)
      assertAlive()
      return result
    }
  const place: Place = {
    store: {
      ...store,
      get: wrap('get', store.get),
      getMany: wrap('getMany', store.getMany),
      list: wrap('list', store.list),
      commit: wrap('commit', store.commit),
      read: wrap('read', store.read),
      inspect: wrap('inspect', store.inspect),
      assertFence: wrap('assertFence', store.assertFence),
      expired: wrap('expired', store.expired),
      trim: wrap('trim', store.trim),
    },
    checkpointer: {
      ...checkpointer,
      // Such views would reach the storage after the kill.
      withFence: undefined as never,
      withSerde: undefined as never,
      getTuple: wrap('getTuple', checkpointer.getTuple),
      put: wrap('put', checkpointer.put),
      putWrites: wrap('putWrites', checkpointer.putWrites),
      deleteThread: wrap('deleteThread', checkpointer.deleteThread),
    },
  }
  const kill = () => {
    dead = true
  }
  return { place, kill }
}

/** The storage of a process that is lost as soon as it has marked a thread as being deleted. */
export function lostInDeletion(place: Place): Place {
  const { place: doomed, kill } = killable(place, (name, moment, [, change]) => {
    if (name !== 'commit' || moment === 'before') return
    const { ops } = change as Change
    if (ops.some((op) => op.op === 'put' && op.collection === 'threads' && isDeleting(op.value))) kill()
  })
  return doomed
}

const isDeleting = (thread: unknown): boolean => (thread as { readonly deleting: boolean }).deleting

/** The storages that instances in one process can share. */
export const SHARED = {
  memory: (bounds?: RetentionOptions) => sharedMemory(bounds),
  sqlite: sharedFile,
} as const
