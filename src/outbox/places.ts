/** Places for what may go on at once, of which each key gets only some. */
export interface Places {
  /** Settles with the function that frees the place. Rejects when the signal aborts first. */
  take(key: string, signal: AbortSignal): Promise<() => void>
  /** How many wait for a place. */
  readonly waiting: number
}

export function createPlaces(most: number, mostOfKey: number): Places {
  const taken = new Map<string, number>()
  const waiting = new Map<() => void, string>()
  let total = 0

  const fits = (key: string) => total < most && (taken.get(key) ?? 0) < mostOfKey

  function occupy(key: string): () => void {
    total++
    taken.set(key, (taken.get(key) ?? 0) + 1)
    return () => {
      total--
      const left = taken.get(key)! - 1
      if (left > 0) taken.set(key, left)
      else taken.delete(key)
      for (const [start, wanted] of waiting) if (fits(wanted)) return start()
    }
  }

  return {
    get waiting() {
      return waiting.size
    },
    async take(key, signal) {
      signal.throwIfAborted()
      if (fits(key)) return occupy(key)
      return new Promise((resolve, reject) => {
        const start = () => {
          waiting.delete(start)
          signal.removeEventListener('abort', leave)
          resolve(occupy(key))
        }
        const leave = () => {
          waiting.delete(start)
          reject(signal.reason)
        }
        waiting.set(start, key)
        signal.addEventListener('abort', leave, { once: true })
      })
    },
  }
}
