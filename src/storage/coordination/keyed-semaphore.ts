export type KeyedSemaphore<Key> = ReturnType<typeof createKeyedSemaphore<Key>>

/** Decides which keys may get another slot. */
export interface SlotPolicy<Key> {
  isFree(key: Key, slots: Slots<Key>): boolean
  /** Among the waiting keys that may get a slot, the lowest rank is next, then first come, first served. */
  rank?(key: Key, slots: Slots<Key>): number
}

export interface Slots<Key> {
  readonly total: number
  heldBy(key: Key): number
  /** The number of slots that each key holds, without keys that hold none. */
  readonly held: ReadonlyMap<Key, number>
  readonly waiting: ReadonlySet<{ readonly key: Key }>
}

/** At most `total` slots, and at most `ofKey` of them for one key. */
export const atMost = <Key>(total: number, ofKey: (key: Key) => number): SlotPolicy<Key> => ({
  isFree: (key, slots) => slots.total < total && slots.heldBy(key) < ofKey(key),
})

/**
 * A single key may hold all slots. The slots beyond its share do not count while others wait, so that it does
 * not delay them: up to `2 * size - 1` slots are then held. The key that holds the fewest is next.
 */
export const fairShare = <Key>(size: number): SlotPolicy<Key> => ({
  isFree(key, { held, heldBy, waiting }) {
    const keys = new Set([...held.keys(), ...[...waiting].map((waiter) => waiter.key)])
    const share = Math.max(1, Math.floor(size / keys.size))
    const most = heldBy(key) < share ? share : Number.POSITIVE_INFINITY
    return [...held.values()].reduce((sum, count) => sum + Math.min(count, most), 0) < size
  },
  rank: (key, { heldBy }) => heldBy(key),
})

interface Waiter<Key> {
  readonly key: Key
  readonly start: () => void
}

/** Resolves when the waiter is started. Rejects with the signal's reason if it aborts first. */
function waitIn<Key>(waiting: Set<Waiter<Key>>, key: Key, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const leave = () => {
      waiting.delete(waiter)
      reject(signal.reason)
    }
    const waiter: Waiter<Key> = {
      key,
      start() {
        signal.removeEventListener('abort', leave)
        resolve()
      },
    }
    signal.addEventListener('abort', leave, { once: true })
    waiting.add(waiter)
  })
}

/** The first of the waiters with the lowest rank that may get a slot. */
function nextOf<Key>(
  { isFree, rank = () => 0 }: SlotPolicy<Key>,
  slots: Slots<Key>,
  waiting: Iterable<Waiter<Key>>,
): Waiter<Key> | undefined {
  let next: Waiter<Key> | undefined
  for (const waiter of waiting) {
    if (!isFree(waiter.key, slots)) continue
    if (!next || rank(next.key, slots) > rank(waiter.key, slots)) next = waiter
  }
  return next
}

/** A process's slots, each held for a key. */
export function createKeyedSemaphore<Key>(policy: SlotPolicy<Key>) {
  const held = new Map<Key, number>()
  const waiting = new Set<Waiter<Key>>()
  let total = 0
  const heldBy = (key: Key): number => held.get(key) ?? 0
  const slots: Slots<Key> = {
    get total() {
      return total
    },
    heldBy,
    held,
    waiting,
  }
  const isFree = (key: Key): boolean => policy.isFree(key, slots)

  function take(key: Key): void {
    total++
    held.set(key, heldBy(key) + 1)
  }

  function release(key: Key): void {
    total--
    if (heldBy(key) > 1) held.set(key, heldBy(key) - 1)
    else held.delete(key)
    startWaiting()
  }

  function startWaiting(): void {
    for (let next = nextOf(policy, slots, waiting); next; next = nextOf(policy, slots, waiting)) {
      waiting.delete(next)
      take(next.key)
      next.start()
    }
  }

  return {
    /** The number of waiting `acquire` calls. */
    get waiting(): number {
      return waiting.size
    },
    isFree,
    /** Takes a slot if one is free. `release` frees it. */
    tryAcquire(key: Key): boolean {
      if (!isFree(key)) return false
      take(key)
      return true
    },
    /** Takes a slot even if none is free. `release` frees it. */
    forceAcquire: take,
    /** Resolves with a function that frees the slot. Rejects with the signal's reason if it aborts first. */
    async acquire(key: Key, signal: AbortSignal): Promise<() => void> {
      const started = waitIn(waiting, key, signal)
      startWaiting()
      await started
      let isHeld = true
      return () => {
        if (isHeld) release(key)
        isHeld = false
      }
    },
    release,
  }
}
