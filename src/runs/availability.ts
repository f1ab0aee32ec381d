import { UnavailableError } from '../storage/errors.ts'
import type { Store } from '../storage/store/store.ts'
import type { ServerEvent } from './observe.ts'

/** Wraps a store to report when it becomes unavailable and when it is available again. */
export function observedStore(store: Store, observe: (event: ServerEvent) => void): Store {
  let awaySince: number | undefined

  async function watched<Result>(call: Promise<Result>): Promise<Result> {
    try {
      const result = await call
      if (awaySince !== undefined) markAvailable()
      return result
    } catch (error) {
      if (error instanceof UnavailableError) wentAway(error)
      throw error
    }
  }

  function wentAway(error: unknown): void {
    if (awaySince !== undefined) return
    awaySince = Date.now()
    observe({ type: 'store.unavailable', error, at: awaySince })
  }

  function markAvailable(): void {
    const at = Date.now()
    const awayMs = at - awaySince!
    awaySince = undefined
    observe({ type: 'store.recovered', awayMs, at })
  }

  // All other calls go to the store itself, including the marker that identifies a checkpointer on the same
  // database.
  return new Proxy(store, {
    get(_, key) {
      const member: unknown = Reflect.get(store, key)
      if (typeof member !== 'function') return member
      return SYNCHRONOUS.has(key)
        ? member.bind(store)
        : (...args: unknown[]) => watched(member.apply(store, args) as Promise<unknown>)
    },
  })
}

const SYNCHRONOUS: ReadonlySet<PropertyKey> = new Set(['watch', 'close'])
