/** A number of places, which their owners share fairly. */
export interface Slots {
  /** Settles with the function that frees the place. Rejects when the signal aborts first. */
  take(owner: string | null, signal: AbortSignal): Promise<() => void>
}

/**
 * An owner alone may have all places. What it has beyond its share does not count while others wait, so that none of them is kept waiting by
 * it: then up to `2 * size - 1` places are taken. Of those who wait, the one that has the fewest is next, and then the one that has waited
 * longest.
 */
export function createSlots(size: number): Slots {
  const held = new Map<string | null, number>()
  const waiting = new Set<{ readonly owner: string | null; readonly start: () => void }>()

  const heldBy = (owner: string | null): number => held.get(owner) ?? 0

  function isFreeFor(owner: string | null): boolean {
    const owners = new Set([...held.keys(), ...[...waiting].map((one) => one.owner)])
    const share = Math.max(1, Math.floor(size / owners.size))
    const counts = [...held.values()]
    const most = heldBy(owner) < share ? share : Number.POSITIVE_INFINITY
    return counts.reduce((sum, count) => sum + Math.min(count, most), 0) < size
  }

  function startNext(): void {
    for (;;) {
      const [next] = [...waiting]
        .filter(({ owner }) => isFreeFor(owner))
        .sort((a, b) => heldBy(a.owner) - heldBy(b.owner))
      if (!next) return
      waiting.delete(next)
      held.set(next.owner, heldBy(next.owner) + 1)
      next.start()
    }
  }

  function free(owner: string | null): void {
    const left = heldBy(owner) - 1
    if (left > 0) held.set(owner, left)
    else held.delete(owner)
    startNext()
  }

  return {
    take: (owner, signal) =>
      new Promise((resolve, reject) => {
        signal.throwIfAborted()
        const abort = () => {
          waiting.delete(place)
          reject(signal.reason)
        }
        let isFreed = false
        const place = {
          owner,
          start() {
            signal.removeEventListener('abort', abort)
            resolve(() => {
              if (isFreed) return
              isFreed = true
              free(owner)
            })
          },
        }
        signal.addEventListener('abort', abort, { once: true })
        waiting.add(place)
        startNext()
      }),
  }
}
