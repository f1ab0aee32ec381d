import { UnavailableError } from '../storage/errors.ts'
import type { Store } from '../storage/store/store.ts'
import type { ServerEvent } from './observe.ts'

/** A store, and whether this process could reach it. */
export interface WatchedStore {
  readonly store: Store
  /**
   * Whether a call failed or was slow within the last `ms` milliseconds, so that other processes may not have
   * reached the store either.
   */
  wasAway(ms: number): boolean
}

/**
 * Wraps a store to report when it becomes unavailable and when it is available again. A call that takes
 * `slowMs` milliseconds is slow.
 */
export function watchStore(
  store: Store,
  slowMs: number,
  observe: (event: ServerEvent) => void,
): WatchedStore {
  let awaySince: number | undefined
  let lastAway = Number.NEGATIVE_INFINITY

  async function watched<Result>(call: Promise<Result>): Promise<Result> {
    const askedAt = performance.now()
    try {
      const result = await call
      const now = performance.now()
      if (now - askedAt >= slowMs) lastAway = now
      if (awaySince !== undefined) markAvailable()
      return result
    } catch (error) {
      if (error instanceof UnavailableError) wentAway(error)
      throw error
    }
  }

  function wentAway(error: unknown): void {
    lastAway = performance.now()
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
  const proxy = new Proxy(store, {
    get(_, key) {
      const member: unknown = Reflect.get(store, key)
      if (typeof member !== 'function') return member
      return SYNCHRONOUS.has(key)
        ? member.bind(store)
        : (...args: unknown[]) => watched(member.apply(store, args) as Promise<unknown>)
    },
  })
  return { store: proxy, wasAway: (ms) => performance.now() - lastAway <= ms }
}

const SYNCHRONOUS: ReadonlySet<PropertyKey> = new Set(['watch', 'close'])
