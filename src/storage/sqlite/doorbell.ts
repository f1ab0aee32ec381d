import type { Bell, Ring } from '../store.ts'
import type { Database } from './database.ts'
import { fromText } from './text.ts'

/**
 * The bells of this process. What is committed here rings at once; what others commit is found by looking, at a fixed pace, for
 * partitions with a newer commit. Nobody looks while nobody watches.
 */
export interface Doorbell {
  watch(partition: string, bell: Bell): () => void
  /** After commit number `changed` of this connection. */
  ring(partition: string, ring: Ring, changed: number): void
  close(): void
}

const EVERYTHING: Ring = { log: true, docs: true }

export function createDoorbell(database: Database, pollMs: number): Doorbell {
  const bells = new Map<string, Set<Bell>>()
  const partitions = database.of('partitions')
  let timer: ReturnType<typeof setInterval> | undefined
  /** The newest commit that was rung for. */
  let seen: number | undefined

  function ringHere(partition: string, ring: Ring): void {
    for (const bell of [...(bells.get(partition) ?? [])]) {
      try {
        bell(ring)
      } catch (error) {
        console.error('agentwire: a bell of store.watch threw.', error)
      }
    }
  }

  function look(): void {
    const { connection } = database
    if (!connection) return
    const known = seen
    if (known === undefined) {
      seen = Number(connection.get(`SELECT max(changed) AS newest FROM ${partitions}`)!.newest ?? 0)
      // Whatever was committed between the watch and now.
      for (const partition of [...bells.keys()]) ringHere(partition, EVERYTHING)
      return
    }
    const rows = connection.all(
      `SELECT name, changed, log_changed, docs_changed FROM ${partitions} WHERE changed > ? ORDER BY changed`,
      known,
    )
    for (const { name, changed, log_changed: log, docs_changed: docs } of rows) {
      seen = Number(changed)
      ringHere(fromText(name as string), { log: Number(log) > known, docs: Number(docs) > known })
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
    seen = undefined
  }

  return {
    watch(partition, bell) {
      if (timer === undefined) {
        timer = setInterval(tick, pollMs)
        // Before the bell hangs: nobody expects it to ring within this call.
        tick()
      }
      const watching = bells.get(partition) ?? new Set()
      bells.set(partition, watching)
      // A wrapper, so that one function may watch twice and each stop its own.
      const own: Bell = (ring) => bell(ring)
      watching.add(own)
      return () => {
        watching.delete(own)
        if (watching.size === 0 && bells.get(partition) === watching) bells.delete(partition)
        if (bells.size === 0) rest()
      }
    },
    ring(partition, ring, changed) {
      // Where nobody else committed in between, there is nothing to look for.
      if (seen === changed - 1) seen = changed
      ringHere(partition, ring)
    },
    close() {
      bells.clear()
      rest()
    },
  }
}
