import { nextVersion } from '../checkpointer/config.ts'
import { type FindsNewest, NEWEST } from '../checkpointer/newest-checkpoint.ts'
import type { CheckpointSaver } from '../checkpointer/saver.ts'
import type { Store } from '../store/store.ts'
import { MEMORY } from './capabilities.ts'
import { asOneDatabase } from './one-database.ts'
import type { MemoryStorage } from './storage.ts'

type Saver = CheckpointSaver & FindsNewest
type Serde = CheckpointSaver['serde']

/**
 * A storage in this process's memory that is loaded with its first call, so that the bundle of a server over
 * a database does not contain it. Arguments of earlier calls must not change until those calls have settled.
 */
export function memoryOnDemand(): { readonly store: Store; readonly checkpointer: Saver } {
  let loading: Promise<MemoryStorage> | undefined
  let storage: MemoryStorage | undefined

  /** Calls keep their order: once the first has run, all other waiting calls come before later ones. */
  function use<Result>(call: (loaded: MemoryStorage) => Promise<Result>): Promise<Result> {
    if (storage) return call(storage)
    loading ??= import('./storage.ts').then(({ memoryStorage }) => memoryStorage())
    return loading.then((loaded) => {
      storage = loaded
      return call(loaded)
    })
  }

  /** A method of a part of the storage. */
  const of =
    <Part>(partOf: (loaded: MemoryStorage) => Part) =>
    <Name extends keyof Part>(name: Name): Part[Name] =>
      ((...asked: unknown[]) =>
        use((loaded) => {
          const part = partOf(loaded)
          return (part[name] as (...asked: unknown[]) => Promise<unknown>).apply(part, asked)
        })) as Part[Name]

  const ofStore = of(({ store }) => store)
  const ofSaver = of(({ checkpointer }) => checkpointer as Saver)
  const ofSerde = of(({ checkpointer }): Serde => checkpointer.serde)
  const store: Store = {
    capabilities: MEMORY,
    get: ofStore('get'),
    getMany: ofStore('getMany'),
    list: ofStore('list'),
    count: ofStore('count'),
    commit: ofStore('commit'),
    read: ofStore('read'),
    inspect: ofStore('inspect'),
    assertFence: ofStore('assertFence'),
    watch(partition, listener) {
      if (storage) return storage.store.watch(partition, listener)
      let isWatching = true
      let unwatch: (() => void) | undefined
      const watch = async ({ store }: MemoryStorage): Promise<void> => {
        if (isWatching) unwatch = store.watch(partition, listener)
      }
      // Readers get the error if it cannot be loaded.
      use(watch).catch(() => {})
      return () => {
        isWatching = false
        unwatch?.()
      }
    },
    expired: ofStore('expired'),
    trim: ofStore('trim'),
    sweep: ofStore('sweep'),
    setup: ofStore('setup'),
    report: ofStore('report'),
    close: ofStore('close'),
  }
  const saver: Saver = {
    serde: { dumpsTyped: ofSerde('dumpsTyped'), loadsTyped: ofSerde('loadsTyped') },
    get: ofSaver('get'),
    getTuple: ofSaver('getTuple'),
    [NEWEST]: ofSaver(NEWEST),
    async *list(...asked) {
      yield* await use(async ({ checkpointer }) => checkpointer.list(...asked))
    },
    put: ofSaver('put'),
    putWrites: ofSaver('putWrites'),
    deleteThread: ofSaver('deleteThread'),
    keepLatest: ofSaver('keepLatest'),
    getNextVersion: nextVersion,
    getDeltaChannelHistory: ofSaver('getDeltaChannelHistory'),
    toJSON: () => '[memoryCheckpointer]',
  }
  return asOneDatabase(store, saver)
}
