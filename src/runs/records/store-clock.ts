import type { Store } from '../../storage/store/store.ts'

/** For how long the difference to a store's clock is kept, in milliseconds. */
const KEPT_MS = 10_000

/**
 * The clock of a store, in milliseconds since 1970, for what need not be read with a partition. A store of other processes
 * too is asked now and then; one of this process every time.
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
