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
    observe({ type: 'store.unavailable', error, at: awaySince })
  }

  function cameBack(): void {
    const at = Date.now()
    const awayMs = at - awaySince!
    awaySince = undefined
    observe({ type: 'store.recovered', awayMs, at })
  }

  // Everything else runs on the store itself, with the mark by which a saver over the same database is known.
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
