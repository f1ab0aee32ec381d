import { pause } from '../../time.ts'
import type { PartitionChange, Store } from '../store/store.ts'

/** How long a change in a shared store may go unnoticed, in milliseconds: notifications of it may be lost. */
const RECHECK_MS = 1_000

/**
 * Changes of partitions since watching began, so that none is missed between a read and the wait after it.
 */
export interface Changes {
  watch(partition: string): void
  unwatch(partition: string): void
  /**
   * Settles when something may have changed since it last settled, after `ms` milliseconds, or when a signal
   * aborts.
   */
  next(ms: number, ...signals: readonly AbortSignal[]): Promise<void>
  /** Watches nothing any more. `next` settles at once. */
  close(): void
}

const ofDocs = ({ docs }: PartitionChange): boolean => docs === true

/** Watches a partition for changes of its documents, or for those that `isRelevant` picks. */
export function watchChanges(store: Store, partition: string, isRelevant = ofDocs): Changes {
  const watches = new Map<string, () => void>()
  let isClosed = false
  let changed = new AbortController()
  const changes: Changes = {
    watch(added) {
      if (isClosed || watches.has(added)) return
      watches.set(
        added,
        store.watch(added, (change) => isRelevant(change) && changed.abort()),
      )
    },
    unwatch(removed) {
      watches.get(removed)?.()
      watches.delete(removed)
    },
    async next(ms, ...signals) {
      const recheckMs = store.capabilities.shared ? Math.min(ms, RECHECK_MS) : ms
      await pause(recheckMs, changed.signal, ...signals)
      if (!isClosed) changed = new AbortController()
    },
    close() {
      isClosed = true
      for (const watched of [...watches.keys()]) changes.unwatch(watched)
      changed.abort()
    },
  }
  changes.watch(partition)
  return changes
}

/**
 * Settles when a document of the partition next changes, after `ms` milliseconds, or when a signal aborts.
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
