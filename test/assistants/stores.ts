import { onTestFinished } from 'vitest'
import { memoryStore } from '../../src/storage/memory/store.ts'
import { openStorage } from '../../src/storage/open.ts'
import type { Store } from '../../src/storage/store/store.ts'
import { BACKENDS } from '../kit/backends.ts'

/** An empty store of each kind that is installed. It goes with the test. */
export const STORES: readonly { readonly name: string; readonly open: () => Promise<Store> }[] = [
  { name: 'memory', open: async () => memoryStore() },
  ...BACKENDS.filter((backend) => backend.installed()).map((backend) => ({
    name: backend.name,
    async open() {
      const database = await backend.create()
      const { store, setup, close } = await openStorage(database.url)
      onTestFinished(async () => {
        await close()
        await database.remove()
      })
      await setup()
      return store
    },
  })),
]
