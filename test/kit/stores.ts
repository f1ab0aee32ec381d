import { describe } from 'vitest'
import { DATABASES } from './databases.ts'
import type { Place } from './shared.ts'

interface KindOfStore {
  readonly name: string
  /** Makes an empty storage, of which each call of the result opens one more handle. Everything is closed with the test. */
  create(): Promise<() => Promise<Place>>
}

/** The four storages, as far as they are installed. */
export const STORES: readonly KindOfStore[] = Object.entries(DATABASES).map(([name, create]) => ({
  name,
  async create() {
    const open = await create()
    return async () => open()
  },
}))

export const describeStores = describe.each(STORES)
