/** A number of places, given in the order in which they were asked for. */
export interface Slots {
  /** Settles with the function that frees the place. Rejects when the signal aborts first. */
  take(signal: AbortSignal): Promise<() => void>
}

export function createSlots(size: number): Slots {
  const waiting = new Set<() => void>()
  let free = size

  function give(): () => void {
    let isFreed = false
    return () => {
      if (isFreed) return
      isFreed = true
      const [next] = waiting
      if (next) next()
      else free++
    }
  }

  return {
    take: (signal) =>
      new Promise((resolve, reject) => {
        signal.throwIfAborted()
        if (free > 0) {
          free--
          resolve(give())
          return
        }
        const abort = () => {
          waiting.delete(start)
          reject(signal.reason)
        }
        const start = () => {
          waiting.delete(start)
          signal.removeEventListener('abort', abort)
          resolve(give())
        }
        waiting.add(start)
        signal.addEventListener('abort', abort, { once: true })
      }),
  }
}
