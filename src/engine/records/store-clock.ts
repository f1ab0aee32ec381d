import type { Store } from '../../storage/store/store.ts'

/** How long the offset of a store's clock is cached, in milliseconds. */
const KEPT_MS = 10_000

/**
 * The clock of a store, in milliseconds since 1970, for values that need not be read with a partition. A
 * shared store is asked from time to time, a store of this process on every call.
 */
export function createStoreClock(store: Store): (partition: string) => Promise<number> {
  let known: { readonly now: number; readonly at: number } | undefined
  return async (partition) => {
    const passed = known ? performance.now() - known.at : KEPT_MS
    if (known && passed < KEPT_MS) return known.now + Math.round(passed)
    const { now } = await store.inspect(partition)
    if (store.capabilities.shared) known = { now, at: performance.now() }
    return now
  }
}
