import { createHash } from 'node:crypto'
import { sleep } from '../../../time.ts'
import { inTime } from '../../deadline.ts'
import { keepConnected, type ListeningConnection } from '../../store/keep-connected.ts'
import { changeOf, createListeners, EVERYTHING, markOf } from '../../store/listeners.ts'
import type { PartitionChange, PartitionListener } from '../../store/store.ts'
import type { Database } from '../database.ts'
import type { PostgresClient, PostgresQuery } from '../pool.ts'

/**
 * Notifies the listeners of this process, on one connection outside the pool: LISTEN for the commits of
 * others, NOTIFY for our own. Notifications are sent after the commit, because Postgres serializes commits
 * that notify. A lost notification does no harm, because readers have a timer.
 */
export interface Notifier {
  watch(partition: string, listener: PartitionListener): () => void
  /** After a commit of this process. */
  notify(partition: string, change: PartitionChange): void
  close(): Promise<void>
}

/** Between two notifications. A commit after a pause is sent at once, and commits in a row are sent together. */
const GAP_MS = 5
/** Names with their marks in one payload, which must be shorter than 8,000 bytes. */
const MAX_NAMES = 400
const MAX_UNSENT = 10_000

export function createNotifier(database: Database): Notifier {
  const { channel } = database.names
  /** Notifications come back to their sender, which has notified its own listeners already. */
  const sender = crypto.randomUUID().slice(0, 8)
  const listeners = createListeners()
  const unsent = new Map<string, PartitionChange>()
  let connection: Connection | undefined
  let sending: Promise<void> | undefined
  let closed = false

  const kept = keepConnected({
    create: async () => toConnection(await database.createClient(), database.deadlineMs, receive),
    async open(made) {
      await made.listen(channel)
      connection = made
      // Any notification may have been missed until now.
      for (const name of listeners.keys()) listeners.notify(name, EVERYTHING)
      flush()
    },
    ping: (made) => made.run({ text: 'SELECT 1' }),
    deadlineMs: database.deadlineMs,
    warning: 'no LISTEN connection to Postgres. Events of other processes come late.',
  })

  function receive(payload: string): void {
    const [from, ...marked] = payload.split(' ')
    if (from === sender) return
    for (const item of marked) listeners.notify(item.slice(1), changeOf(item[0]!))
  }

  function leaveUnsent(name: string, { log, docs }: PartitionChange): void {
    const known = unsent.get(name)
    if (!known && unsent.size >= MAX_UNSENT) return
    unsent.set(name, { log: log || known?.log === true, docs: docs || known?.docs === true })
  }

  function flush(): void {
    if (!sending && connection?.isListening && unsent.size > 0) sending = send(connection)
  }

  /** Changes committed while a notification is in flight, or right after it, are sent with the next. */
  async function send(on: Connection): Promise<void> {
    while (on.isListening && unsent.size > 0) {
      const marked = [...unsent].slice(0, MAX_NAMES)
      for (const [name] of marked) unsent.delete(name)
      const payload = [sender, ...marked.map(([name, change]) => markOf(change) + name)].join(' ')
      try {
        await on.run({ text: 'SELECT pg_notify($1, $2)', values: [channel, payload] })
      } catch {
        // The failure has closed the connection, so these go with the next one.
        for (const [name, change] of marked) leaveUnsent(name, change)
      }
      if (!closed) await sleep(GAP_MS)
    }
    sending = undefined
  }

  return {
    watch(partition, listener) {
      kept.start()
      return listeners.add(nameOf(partition), listener)
    },
    notify(partition, change) {
      const name = nameOf(partition)
      listeners.notify(name, change)
      kept.start()
      leaveUnsent(name, change)
      flush()
    },
    async close() {
      closed = true
      listeners.clear()
      await sending
      await kept.close()
    },
  }
}

/** A short name for a partition on a channel that every user of the database can listen to. */
function nameOf(partition: string): string {
  return createHash('sha256').update(partition).digest('base64url').slice(0, 11)
}

/** It closes itself when the server does not answer in time. */
interface Connection extends ListeningConnection {
  /** Connects and listens. */
  listen(channel: string): Promise<void>
  readonly isListening: boolean
  run(query: PostgresQuery): Promise<void>
}

function toConnection(
  client: PostgresClient,
  deadlineMs: number,
  receive: (payload: string) => void,
): Connection {
  let isListening = false
  let isOver = false
  let finish = () => {}
  const ended = new Promise<void>((resolve) => {
    finish = resolve
  })
  client.on('notification', ({ payload = '' }) => receive(payload))
  client.on('end', close)
  client.on('error', close)

  function close(): void {
    if (isOver) return
    isOver = true
    isListening = false
    finish()
    // It is not awaited, because it would not settle on a dead link.
    client.end().catch(() => {})
  }

  async function run(work: Promise<unknown>): Promise<void> {
    try {
      await inTime(deadlineMs, undefined, Promise.race([work, ended]))
      if (isOver) throw new Error('The LISTEN connection has ended.')
    } catch (error) {
      close()
      throw error
    }
  }

  return {
    ended,
    get isListening() {
      return isListening
    },
    async listen(channel) {
      await run(client.connect())
      await run(client.query({ text: `LISTEN "${channel}"` }))
      isListening = true
    },
    run: (query) => run(client.query(query)),
    close,
  }
}
