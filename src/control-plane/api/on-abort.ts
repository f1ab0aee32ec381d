const listeners = /* @__PURE__ */ new WeakMap<AbortSignal, Set<() => void>>()

/**
 * Calls `listener` when the signal aborts, or immediately if it has aborted, until the returned function is
 * called. Each signal has one listener, because Node reports many as a leak.
 */
export function onAbort(signal: AbortSignal | undefined, listener: () => void): () => void {
  if (!signal) return () => {}
  if (signal.aborted) {
    listener()
    return () => {}
  }
  const own = () => listener() // The same function may be added twice.
  const all = listeners.get(signal) ?? new Set()
  if (!listeners.has(signal)) {
    listeners.set(signal, all)
    signal.addEventListener('abort', () => {
      for (const one of all) one()
    })
  }
  all.add(own)
  return () => void all.delete(own)
}
