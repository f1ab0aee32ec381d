/** An interval timer that many callbacks share. */
export interface Ticker {
  /** Calls `beat` at every interval, until the returned function is called or `beat` throws. */
  add(beat: () => unknown): () => void
}

/** A ticker whose timer runs only while it has callbacks, and does not keep the process alive. */
export function createTicker(intervalMs: number): Ticker {
  const callbacks = new Set<() => unknown>()
  let timer: ReturnType<typeof setInterval> | undefined

  const remove = (beat: () => unknown) => {
    if (callbacks.delete(beat) && callbacks.size === 0) clearInterval(timer)
  }

  const tick = () => {
    for (const beat of callbacks) {
      try {
        beat()
      } catch {
        remove(beat) // It would fail every time, and must not stop the others.
      }
    }
  }

  return {
    add(beat) {
      const own = () => beat() // The same function may be added twice.
      callbacks.add(own)
      if (callbacks.size === 1) timer = unref(setInterval(tick, intervalMs))
      return () => remove(own)
    },
  }
}

function unref<T>(timer: T): T {
  // Only some runtimes have it; in others a timer is a number.
  ;(timer as { unref?: () => void }).unref?.()
  return timer
}
