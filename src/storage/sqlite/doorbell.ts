import type { Bell, Ring } from '../store.ts'
import type { Database } from './database.ts'
import type { Row } from './driver.ts'
import { fromText, toText } from './text.ts'

/**
 * The bells of this process. What is committed here rings at once; what others commit is found by looking, at a fixed pace,
 * whether anybody did, and then at the counters of what is watched. Nobody looks while nobody watches.
 */
export interface Doorbell {
  watch(partition: string, bell: Bell): () => void
  /** After a commit of this connection that left the partition's counters so; undefined where it did not touch one. */
  ring(partition: string, ring: Ring, head: number, docsChanged: number | undefined): void
  close(): void
}

interface Watched {
  readonly bells: Set<Bell>
  /** The counters that were rung for; undefined while they are not known. */
  head: number | undefined
  docsChanged: number | undefined
}

export function createDoorbell(database: Database, pollMs: number): Doorbell {
  const watched = new Map<string, Watched>()
  let timer: ReturnType<typeof setInterval> | undefined
  /** Stays the same as long as nobody else commits. */
  let dataVersion: unknown

  function ringAll({ bells }: Watched, ring: Ring): void {
    for (const bell of [...bells]) {
      try {
        bell(ring)
      } catch (error) {
        console.error('agentwire: a bell of store.watch threw.', error)
      }
    }
  }

  function countersOf(names: readonly string[]): readonly Row[] {
    const sql = `SELECT name, head, first_retained, docs_changed FROM ${database.of('partitions')} WHERE name IN (SELECT value FROM json_each(?))`
    return database.connection?.all(sql, JSON.stringify(names.map(toText))) ?? []
  }

  function look(): void {
    const { connection } = database
    const version = connection?.get('PRAGMA data_version')?.data_version
    if (version === dataVersion) return
    dataVersion = version
    for (const row of countersOf([...watched.keys()])) {
      const known = watched.get(fromText(row.name as string))!
      const head = Number(row.head)
      const docsChanged = Number(row.docs_changed)
      const docs = docsChanged !== known.docsChanged
      // A clear leaves the head where it was.
      const log = head !== known.head || (docs && Number(row.first_retained) > head)
      known.head = head
      known.docsChanged = docsChanged
      if (log || docs) ringAll(known, { log, docs })
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
      let known = watched.get(partition)
      if (!known) {
        known = { bells: new Set(), head: undefined, docsChanged: undefined }
        watched.set(partition, known)
      }
      const { bells } = known
      // A wrapper, so that one function may watch twice and each stop its own.
      const own: Bell = (ring) => bell(ring)
      bells.add(own)
      timer ??= setInterval(tick, pollMs)
      return () => {
        bells.delete(own)
        if (bells.size === 0 && watched.get(partition)?.bells === bells) watched.delete(partition)
        if (watched.size === 0) rest()
      }
    },
    ring(partition, ring, head, docsChanged) {
      const known = watched.get(partition)
      if (!known) return
      known.head = head
      known.docsChanged = docsChanged ?? known.docsChanged
      ringAll(known, ring)
    },
    close() {
      watched.clear()
      rest()
    },
  }
}
