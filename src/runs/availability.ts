import { UnavailableError } from '../storage/errors.ts'
import type { Store } from '../storage/store/store.ts'
import type { ServerEvent } from './observe.ts'

/** Wraps a store to report when it stops answering and when it answers again. */
export function observedStore(store: Store, observe: (event: ServerEvent) => void): Store {
  let awaySince: number | undefined

  async function watched<Result>(call: Promise<Result>): Promise<Result> {
    try {
      const result = await call
      if (awaySince !== undefined) cameBack()
      return result
    } catch (error) {
      if (error instanceof UnavailableError) wentAway(error)
      throw error
    }
  }

  function wentAway(error: unknown): void {
    if (awaySince !== undefined) return
    awaySince = Date.now()
    observe({ type: 'store.away', error, at: awaySince })
  }

  function cameBack(): void {
    const at = Date.now()
    const awayMs = at - awaySince!
    awaySince = undefined
    observe({ type: 'store.back', awayMs, at })
  }

  return {
    // Copies the symbol by which a saver over the same database is recognized.
    ...Object.fromEntries(Object.getOwnPropertySymbols(store).map((key) => [key, store[key as never]])),
    capabilities: store.capabilities,
    get: (...args) => watched(store.get(...args)),
    list: (...args) => watched(store.list(...args)),
    commit: (...args) => watched(store.commit(...args)),
    read: (...args) => watched(store.read(...args)),
    inspect: (...args) => watched(store.inspect(...args)),
    assertFence: (...args) => watched(store.assertFence(...args)),
    expired: (...args) => watched(store.expired(...args)),
    trim: (...args) => watched(store.trim(...args)),
    sweep: (...args) => watched(store.sweep(...args)),
    setup: (...args) => watched(store.setup(...args)),
    watch: (partition, listener) => store.watch(partition, listener),
    close: () => store.close(),
  }
}
