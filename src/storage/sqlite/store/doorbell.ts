import { createListeners, type PartitionListeners } from '../../store/listeners.ts'
import type { PartitionChange, PartitionListener } from '../../store/store.ts'
import { fromText, toText } from '../../text.ts'
import type { Database } from '../database.ts'
import type { Row } from '../driver.ts'

/**
 * The bells of this process. What is committed here rings at once; what others commit is found by looking, at a fixed pace,
 * whether anybody did, and then at the counters of what is watched. Nobody looks while nobody watches.
 */
export interface Doorbell {
  watch(partition: string, bell: PartitionListener): () => void
  /** After a commit of this connection that left the partition's counters so; undefined where it did not touch one. */
  ring(partition: string, ring: PartitionChange, head: number, docsChanged: number | undefined): void
  close(): void
}

/** Of a partition that is watched: those that were rung for, as far as they are known. */
interface Counters {
  readonly head?: number | undefined
  readonly docsChanged?: number | undefined
}

export function createDoorbell(database: Database, pollMs: number): Doorbell {
  const known = new Map<string, Counters>()
  const bells: PartitionListeners = createListeners((partition) => {
    known.delete(partition)
    if (bells.keys().length === 0) rest()
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
    for (const row of countersOf(bells.keys())) {
      const name = fromText(row.name as string)
      const before = known.get(name)
      const head = Number(row.head)
      const docsChanged = Number(row.docs_changed)
      known.set(name, { head, docsChanged })
      const docs = docsChanged !== before?.docsChanged
      // A clear leaves the head where it was.
      const log = head !== before?.head || (docs && Number(row.first_retained) > head)
      if (log || docs) bells.notify(name, { log, docs })
    }
  }

  function tick(): void {
    try {
      look()
    } catch {
      // A bell may be lost. Readers have a timer, and what they read then fails with a reason.
    }
  }

  function rest(): void {
    clearInterval(timer)
    timer = undefined
    dataVersion = undefined
  }

  return {
    watch(partition, bell) {
      timer ??= setInterval(tick, pollMs)
      return bells.add(partition, bell)
    },
    ring(partition, ring, head, docsChanged = known.get(partition)?.docsChanged) {
      if (!bells.has(partition)) return
      known.set(partition, { head, docsChanged })
      bells.notify(partition, ring)
    },
    close() {
      bells.clear()
      known.clear()
      rest()
    },
  }
}
