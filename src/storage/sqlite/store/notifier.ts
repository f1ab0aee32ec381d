import { createListeners, type PartitionListeners } from '../../store/listeners.ts'
import type { PartitionChange, PartitionListener } from '../../store/store.ts'
import { fromText, toText } from '../../text.ts'
import type { Database } from '../database.ts'
import type { Row } from '../driver.ts'

/**
 * Notifies the listeners of this process. What is committed here is told at once. What others commit is found by looking, at a
 * fixed pace, whether anybody did, and then at the counters of what is watched. Nobody looks while nothing is watched.
 */
export interface Notifier {
  watch(partition: string, listener: PartitionListener): () => void
  /** After a commit of this connection that left the partition's counters so; undefined where it did not touch one. */
  notify(partition: string, change: PartitionChange, head: number, docsChanged: number | undefined): void
  close(): void
}

/** Those that listeners of a partition were told of, as far as they are known. */
interface Counters {
  readonly head?: number | undefined
  readonly docsChanged?: number | undefined
}

export function createNotifier(database: Database, pollMs: number): Notifier {
  const known = new Map<string, Counters>()
  const listeners: PartitionListeners = createListeners((partition) => {
    known.delete(partition)
    if (listeners.keys().length === 0) stopLooking()
  })
  let timer: ReturnType<typeof setInterval> | undefined
  /** Stays the same as long as nobody else commits. */
  let dataVersion: unknown

  function countersOf(names: readonly string[]): readonly Row[] {
    const sql = `SELECT name, head, first_retained, docs_changed FROM ${database.of('partitions')}
      WHERE name IN (SELECT value FROM json_each(?))`
    return database.connection?.all(sql, JSON.stringify(names.map(toText))) ?? []
  }

  function look(): void {
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
      look()
    } catch {
      // A notification may be lost. Readers have a timer, and what they read then fails with a reason.
    }
  }

  function stopLooking(): void {
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
      stopLooking()
    },
  }
}
