/** A value with change notifications, for React's `useSyncExternalStore`. */
export interface Observable<Value> {
  get(): Value
  set(value: Value): void
  subscribe(listener: () => void): () => void
}

/**
 * `onUsed` runs when the first listener subscribes. The function it returns runs when the last one
 * unsubscribes.
 */
export function observable<Value>(first: Value, onUsed?: () => () => void): Observable<Value> {
  const listeners = new Set<() => void>()
  let value = first
  let onUnused: (() => void) | undefined
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return
      value = next
      for (const listener of listeners) listener()
    },
    subscribe(listener) {
      // A caller may pass the same function twice.
      const own = (): void => listener()
      listeners.add(own)
      if (listeners.size === 1) onUnused = onUsed?.()
      return () => {
        if (listeners.delete(own) && listeners.size === 0) onUnused?.()
      }
    },
  }
}
