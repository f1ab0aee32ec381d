import { changeOf, createListeners, EVERYTHING, markOf } from '../../store/listeners.ts'
import type { PartitionChange, PartitionListener } from '../../store/store.ts'
import type { Database } from '../database.ts'
import { type Line, openLine } from '../line.ts'
import { bellName } from '../names.ts'

/**
 * The bells of this process, on one connection beside the pool: LISTEN for what others commit, NOTIFY for what is committed
 * here. Notifications are sent after the commit and not with it, because Postgres lets transactions that notify commit only
 * one after the other. One that gets lost is no loss: readers have a timer.
 */
export interface Doorbell {
  watch(partition: string, bell: PartitionListener): () => void
  ring(partition: string, ring: PartitionChange): void
  close(): Promise<void>
}

/** Between two notifications. A commit after a pause is told at once; what commits in a row is told together. */
const GAP_MS = 5
const RETRY_MS = 50
const MAX_RETRY_MS = 500
/** Outages shorter than these attempts, about three seconds, are not worth a word. */
const QUIET_ATTEMPTS = 8
/** Names with their marks in one payload, which must be shorter than 8,000 bytes. */
const MAX_NAMES = 400
const MAX_UNSENT = 10_000

export function createDoorbell(database: Database): Doorbell {
  const { channel } = database.names
  /** Notifications come back to their sender, who has rung before. */
  const sender = crypto.randomUUID().slice(0, 8)
  const bells = createListeners()
  const unsent = new Map<string, PartitionChange>()
  let line: Line | undefined
  let sending: Promise<void> | undefined
  let keeping: Promise<void> | undefined
  let closed = false
  let wake = () => {}

  function receive(payload: string): void {
    const [from, ...marked] = payload.split(' ')
    if (from === sender) return
    for (const item of marked) bells.notify(item.slice(1), changeOf(item[0]!))
  }

  function leaveUnsent(name: string, { log, docs }: PartitionChange): void {
    const known = unsent.get(name)
    if (!known && unsent.size >= MAX_UNSENT) return
    unsent.set(name, { log: log || known?.log === true, docs: docs || known?.docs === true })
  }

  function flush(): void {
    if (!sending && line?.isListening && unsent.size > 0) sending = send(line)
  }

  /** What is committed while one notification is under way, or right after it, goes with the next. */
  async function send(on: Line): Promise<void> {
    while (on.isListening && unsent.size > 0) {
      const marked = [...unsent].slice(0, MAX_NAMES)
      for (const [name] of marked) unsent.delete(name)
      const payload = [sender, ...marked.map(([name, ring]) => markOf(ring) + name)].join(' ')
      try {
        await on.run({ text: 'SELECT pg_notify($1, $2)', values: [channel, payload] })
      } catch {
        // The line is closed by it. They go with the next one.
        for (const [name, ring] of marked) leaveUnsent(name, ring)
      }
      if (!closed) await gap()
    }
    sending = undefined
  }

  async function keep(): Promise<void> {
    for (let attempt = 1; !closed; attempt++) {
      try {
        line = openLine(await database.createClient(), database.deadlineMs, receive)
        if (closed) break
        await line.listen(channel)
        attempt = 0
        // Whatever was missed until now.
        for (const name of bells.keys()) bells.notify(name, EVERYTHING)
        flush()
        await line.ended
      } catch (error) {
        if (attempt === QUIET_ATTEMPTS && !closed) {
          console.error(
            'agentwire: no LISTEN connection to Postgres. Events of other processes come late.',
            error,
          )
        }
      }
      if (!closed) await pause(Math.min(RETRY_MS * 2 ** attempt, MAX_RETRY_MS))
    }
    line?.close()
  }

  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  return {
    watch(partition, bell) {
      keeping ??= keep()
      return bells.add(bellName(partition), bell)
    },
    ring(partition, ring) {
      const name = bellName(partition)
      bells.notify(name, ring)
      keeping ??= keep()
      leaveUnsent(name, ring)
      flush()
    },
    async close() {
      closed = true
      bells.clear()
      await sending
      line?.close()
      wake()
      await keeping
    },
  }
}

function gap(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, GAP_MS)
  })
}
