import { createListeners } from '../../store/listeners.ts'
import type { PartitionChange, PartitionListener } from '../../store/store.ts'
import { fromText, toText } from '../../text.ts'
import type { Row } from '../connection.ts'
import type { Database } from '../database.ts'

/** The counters of a partition at its listeners' last notification, if known. */
interface Counters {
  readonly head?: number | undefined
  readonly docsChanged?: number | undefined
}

const COUNTERS = `SELECT name, head, first_retained, docs_changed FROM {partitions}
  WHERE name IN (SELECT value FROM json_each(?))`

export type Notifier = ReturnType<typeof createNotifier>

/**
 * Notifies this process's listeners. Its own commits are notified immediately. Commits of other processes are
 * found by polling while something is watched: first whether there were any, then the counters of the watched
 * partitions.
 */
export function createNotifier(database: Database, pollMs: number) {
  const known = new Map<string, Counters>()
  const listeners = createListeners((partition) => {
    known.delete(partition)
    if (listeners.keys().length === 0) stopPolling()
  })
  let timer: ReturnType<typeof setInterval> | undefined
  /** It stays the same until another connection commits. */
  let dataVersion: unknown

  function poll(): void {
    const { connection } = database
    const version = connection?.get('PRAGMA data_version')?.data_version
    if (version === dataVersion) return
    dataVersion = version
    for (const row of connection?.all(COUNTERS, JSON.stringify(listeners.keys().map(toText))) ?? []) {
      const name = fromText(row.name as string)
      const change = changeSince(known.get(name), row)
      known.set(name, { head: Number(row.head), docsChanged: Number(row.docs_changed) })
      if (change.log || change.docs) listeners.notify(name, change)
    }
  }

  function tick(): void {
    try {
      poll()
    } catch {
      // A notification may be lost. Readers have a timer, and their next read then fails with a reason.
    }
  }

  function stopPolling(): void {
    clearInterval(timer)
    timer = undefined
    dataVersion = undefined
  }

  return {
    watch(partition: string, listener: PartitionListener): () => void {
      timer ??= setInterval(tick, pollMs)
      return listeners.add(partition, listener)
    },
    /**
     * Called after a commit of this process that resulted in these counters. Undefined stands for one it did
     * not touch.
     */
    notify(
      partition: string,
      change: PartitionChange,
      head: number,
      docsChanged = known.get(partition)?.docsChanged,
    ): void {
      if (!listeners.has(partition)) return
      known.set(partition, { head, docsChanged })
      listeners.notify(partition, change)
    },
    close(): void {
      listeners.clear()
      known.clear()
      stopPolling()
    },
  }
}

function changeSince(before: Counters | undefined, row: Row): PartitionChange {
  const head = Number(row.head)
  const docs = Number(row.docs_changed) !== before?.docsChanged
  // A clear does not change the head.
  return { docs, log: head !== before?.head || (docs && Number(row.first_retained) > head) }
}
