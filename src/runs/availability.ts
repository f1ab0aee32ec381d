import { UnavailableError } from '../storage/errors.ts'
import type { Store } from '../storage/store/store.ts'
import type { ServerEvent } from './observe.ts'

/** Wraps a store to report when it stops answering and when it answers again. */
export function observedStore(store: Store, observe: (event: ServerEvent) => void): Store {
  let awaySince: number | undefined

  const watched =
    <Args extends readonly unknown[], Result>(call: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      try {
        const result = await call.apply(store, args as never)
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
    get: watched(store.get),
    list: watched(store.list),
    commit: watched(store.commit),
    read: watched(store.read),
    inspect: watched(store.inspect),
    assertFence: watched(store.assertFence),
    expired: watched(store.expired),
    trim: watched(store.trim),
    sweep: watched(store.sweep),
    setup: watched(store.setup),
    watch: (partition, listener) => store.watch(partition, listener),
    close: () => store.close(),
  }
}
