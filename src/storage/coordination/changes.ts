import { pause } from '../../core/time.ts'
import type { PartitionChange, Store } from '../store/store.ts'

/**
 * How long a change in a shared store may go unnoticed, in milliseconds, because its notification may be
 * lost.
 */
const RECHECK_MS = 1_000

export type Changes = ReturnType<typeof watchChanges>

const ofDocs = ({ docs }: PartitionChange): boolean => docs === true

/**
 * Watches partitions for changes of their documents, or only for those that `isRelevant` selects. It misses
 * no change between a read and the next wait.
 */
export function watchChanges(store: Store, partition: string, isRelevant = ofDocs) {
  const watches = new Map<string, () => void>()
  let isClosed = false
  let changed = new AbortController()

  function watch(added: string): void {
    if (isClosed || watches.has(added)) return
    watches.set(
      added,
      store.watch(added, (change) => isRelevant(change) && changed.abort()),
    )
  }

  function unwatch(removed: string): void {
    watches.get(removed)?.()
    watches.delete(removed)
  }

  watch(partition)
  return {
    watch,
    unwatch,
    /**
     * Resolves when something may have changed since it last resolved, after `ms` milliseconds, or when a
     * signal aborts.
     */
    async next(ms: number, ...signals: readonly AbortSignal[]): Promise<void> {
      const recheckMs = store.capabilities.shared ? Math.min(ms, RECHECK_MS) : ms
      await pause(recheckMs, changed.signal, ...signals)
      if (!isClosed) changed = new AbortController()
    },
    /** Stops watching. `next` then resolves immediately. */
    close(): void {
      isClosed = true
      for (const watched of [...watches.keys()]) unwatch(watched)
      changed.abort()
    },
  }
}

/**
 * Resolves at the next change of a document in the partition, after `ms` milliseconds, or when a signal
 * aborts.
 */
export async function changedWithin(
  store: Store,
  partition: string,
  ms: number,
  ...signals: readonly AbortSignal[]
): Promise<void> {
  const changed = new AbortController()
  const unwatch = store.watch(partition, (change) => ofDocs(change) && changed.abort())
  try {
    await pause(ms, changed.signal, ...signals)
  } finally {
    unwatch()
  }
}
