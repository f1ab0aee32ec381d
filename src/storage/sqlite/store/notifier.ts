import { createListeners, type PartitionListeners } from '../../store/listeners.ts'
import type { PartitionChange, PartitionListener } from '../../store/store.ts'
import { fromText, toText } from '../../text.ts'
import type { Database } from '../database.ts'
import type { Row } from '../driver.ts'

/**
 * Notifies the listeners of this process. Commits of this process are notified at once. Commits of others are found by polling:
 * first whether there was any, and then the counters of what is watched. Nothing is polled while nothing is watched.
 */
export interface Notifier {
  watch(partition: string, listener: PartitionListener): () => void
  /** After a commit of this connection that left the counters of the partition so. Undefined stands for a counter it did not touch. */
  notify(partition: string, change: PartitionChange, head: number, docsChanged: number | undefined): void
  close(): void
}

/** The counters of a partition that its listeners were last notified of, as far as they are known. */
interface Counters {
  readonly head?: number | undefined
  readonly docsChanged?: number | undefined
}

export function createNotifier(database: Database, pollMs: number): Notifier {
  const known = new Map<string, Counters>()
  const listeners: PartitionListeners = createListeners((partition) => {
    known.delete(partition)
    if (listeners.keys().length === 0) stopPolling()
  })
  let timer: ReturnType<typeof setInterval> | undefined
  /** It stays the same as long as no other connection commits. */
  let dataVersion: unknown

  function countersOf(names: readonly string[]): readonly Row[] {
    const sql = `SELECT name, head, first_retained, docs_changed FROM ${database.of('partitions')}
      WHERE name IN (SELECT value FROM json_each(?))`
    return database.connection?.all(sql, JSON.stringify(names.map(toText))) ?? []
  }

  function poll(): void {
    const version = database.connection?.get('PRAGMA data_version')?.data_version
    if (version === dataVersion) return
    dataVersion = version
    for (const row of countersOf(listeners.keys())) {
      const name = fromText(row.name as string)
      const before = known.get(name)
      const head = Number(row.head)
      const docsChanged = Number(row.docs_changed)
      known.set(name, { head, docsChanged })
      const docs = docsChanged !== before?.docsChanged
      // A clear leaves the head where it was.
      const log = head !== before?.head || (docs && Number(row.first_retained) > head)
      if (log || docs) listeners.notify(name, { log, docs })
    }
  }

  function tick(): void {
    try {
      poll()
    } catch {
      // A notification may be lost. Readers have a timer, and what they read then fails with a reason.
    }
  }

  function stopPolling(): void {
    clearInterval(timer)
    timer = undefined
    dataVersion = undefined
  }

  return {
    watch(partition, listener) {
      timer ??= setInterval(tick, pollMs)
      return listeners.add(partition, listener)
    },
    notify(partition, change, head, docsChanged = known.get(partition)?.docsChanged) {
      if (!listeners.has(partition)) return
      known.set(partition, { head, docsChanged })
      listeners.notify(partition, change)
    },
    close() {
      listeners.clear()
      known.clear()
      stopPolling()
    },
  }
}
