import { onTestFinished } from 'vitest'
import { openStorage } from '../../src/storage/open.ts'
import { BACKENDS } from './backends.ts'
import { type Place, type Shared, sharedMemory } from './shared.ts'

/** An empty database, opened once for each instance of the test. */
export const DATABASES: Readonly<Record<string, () => Promise<Shared | (() => Promise<Place>)>>> = {
  ...(process.env.STORAGES !== 'servers' && { memory: async () => sharedMemory() }),
  ...Object.fromEntries(
    BACKENDS.filter((backend) => backend.installed()).map((backend) => [
      backend.name,
      async () => {
        const database = await backend.create()
        onTestFinished(() => database.remove())
        return async () => {
          const storage = await openStorage(database.url)
          await storage.setup()
          onTestFinished(() => storage.close())
          return storage
        }
      },
    ]),
  ),
}

/** The same for tests of one instance. */
export const PLACES: readonly { readonly name: string; open(): Promise<Place> }[] = Object.entries(
  DATABASES,
).map(([name, create]) => ({ name, open: async () => (await create())() }))
