import { createHash } from 'node:crypto'
import { sleep } from '../../../core/time.ts'
import { during, keepConnected, type ListeningConnection, PING_EVERY } from '../../store/keep-connected.ts'
import { changeOf, createListeners, markOf } from '../../store/listeners.ts'
import type { PartitionChange, PartitionListener } from '../../store/store.ts'
import type { Database } from '../database.ts'
import type { PostgresClient } from '../pool.ts'

/**
 * Milliseconds between two notifications. A commit after a pause is sent immediately, and consecutive commits
 * are sent together.
 */
const GAP_MS = 5
/** Names with their marks in one payload, which must be shorter than 8,000 bytes. */
const MAX_NAMES = 400
const MAX_UNSENT = 10_000
/** The number of pings that a listener may miss, counting its first, before it counts as gone. */
const PINGS = 3

export type Notifier = ReturnType<typeof createNotifier>

/**
 * Notifies this process's listeners, over one connection outside the pool: LISTEN for the commits of others,
 * NOTIFY for our own. Notifications are sent after the commit, because Postgres serializes commits that
 * notify. None are sent while no other process listens. A lost notification is harmless, because readers have
 * a timer.
 */
export function createNotifier({ names, deadlineMs, createClient }: Database) {
  /** Notifications also return to their sender, which has already notified its own listeners. */
  const sender = crypto.randomUUID().slice(0, 8)
  const presence = createPresence(sender, PINGS * PING_EVERY * deadlineMs)
  const listeners = createListeners()
  const outbox = createOutbox(tell)
  let connection: Connection | undefined

  const kept = keepConnected({
    create: async () => toConnection(await createClient(), deadlineMs, receive),
    async open(made) {
      await made.run((client) => client.connect())
      presence.opened()
      const asks = `NOTIFY "${names.channel}", '${sender} ${presence.asks}'`
      await made.run((client) => client.query({ text: `LISTEN "${names.channel}"; ${asks}` }))
      connection = made
      // Any notification may have been missed before this point.
      listeners.notifyMissed()
      outbox.flush(connection)
    },
    ping: (made) => tell(made, presence.asks),
    deadlineMs,
    warning: 'no LISTEN connection to Postgres. Events from other processes arrive late.',
  })

  function tell(on: Connection, items: string): Promise<void> {
    const values = [names.channel, `${sender} ${items}`]
    return on.run((client) => client.query({ text: 'SELECT pg_notify($1, $2)', values }))
  }

  function receive(payload: string): void {
    const [from, ...items] = payload.split(' ')
    const { answer, missed } = presence.heard(from!, items)
    // A failure closes the connection, and the next connection asks again.
    if (answer && connection?.isOver === false) tell(connection, answer).catch(() => {})
    if (missed) listeners.notifyMissed()
    if (from === sender) return
    for (const item of items) listeners.notify(item.slice(1), changeOf(item[0]!))
  }

  return {
    watch(partition: string, listener: PartitionListener): () => void {
      kept.start()
      return listeners.add(nameOf(partition), listener)
    },
    notify(partition: string, change: PartitionChange): void {
      const name = nameOf(partition)
      listeners.notify(name, change)
      kept.start()
      if (connection?.isOver === false && presence.isAlone()) return
      outbox.add(name, change)
      outbox.flush(connection)
    },
    async close(): Promise<void> {
      listeners.clear()
      await outbox.close()
      await kept.close()
    },
  }
}

/** What is not sent yet. */
function createOutbox(tell: (on: Connection, items: string) => Promise<void>) {
  const unsent = new Map<string, PartitionChange>()
  let sending: Promise<void> | undefined
  let closed = false

  function add(name: string, { log, docs }: PartitionChange): void {
    const known = unsent.get(name)
    if (!known && unsent.size >= MAX_UNSENT) return
    unsent.set(name, { log: log || known?.log === true, docs: docs || known?.docs === true })
  }

  /** Changes committed while a notification is in flight, or right after it, are sent with the next one. */
  async function send(on: Connection): Promise<void> {
    while (!on.isOver && unsent.size > 0) {
      const marked = [...unsent].slice(0, MAX_NAMES)
      for (const [name] of marked) unsent.delete(name)
      try {
        await tell(on, marked.map(([name, change]) => markOf(change) + name).join(' '))
      } catch {
        // The failure has closed the connection, so these are sent over the next one.
        for (const [name, change] of marked) add(name, change)
      }
      if (!closed) await sleep(GAP_MS)
    }
    sending = undefined
  }

  return {
    add,
    flush(on: Connection | undefined): void {
      if (!sending && on?.isOver === false && unsent.size > 0) sending = send(on)
    },
    /** Resolves when everything is sent, or cannot be. */
    async close(): Promise<void> {
      closed = true
      await sending
    },
  }
}

/** A short name for a partition, on a channel that every database user can listen to. */
function nameOf(partition: string): string {
  return createHash('sha256').update(partition).digest('base64url').slice(0, 11)
}

interface Connection extends ListeningConnection {
  readonly isOver: boolean
  /** Closes the connection if the work fails or times out. */
  run(work: (client: PostgresClient) => Promise<unknown>): Promise<void>
}

function toConnection(
  client: PostgresClient,
  deadlineMs: number,
  receive: (payload: string) => void,
): Connection {
  let finish = () => {}
  const ended = new Promise<void>((resolve) => {
    finish = resolve
  })
  client.on('notification', ({ payload = '' }) => receive(payload))
  const connection = {
    ended,
    isOver: false,
    close() {
      if (connection.isOver) return
      connection.isOver = true
      finish()
      // Not awaited, because it would never settle on a dead connection.
      client.end().catch(() => {})
    },
    async run(work: (client: PostgresClient) => Promise<unknown>) {
      await during(connection, deadlineMs, Promise.race([work(client), ended]))
      if (connection.isOver) throw new Error('The LISTEN connection has ended.')
    },
  }
  client.on('end', connection.close)
  client.on('error', connection.close)
  return connection
}

/** How long other processes may take to answer before none counts as present, in milliseconds. */
const ANSWER_MS = 1_000
/**
 * How long a process counts as listening if it reports no time, in milliseconds. Earlier versions report
 * none.
 */
const UNTOLD_MS = 30_000

/**
 * `?30000`: listens for this long, and asks which others do. `.30000` answers. `!30000` also answers, from a
 * process that has not notified.
 */
const PRESENCE = /^([?.!])(\d+)$/

/**
 * Tracks which processes listen to the notification channel, so that nothing is sent while none does. Each
 * process reports when it starts to listen, and again with each ping. A process that does not receive its own
 * messages, for example behind a pooler, does not treat silence as absence.
 */
export function createPresence(self: string, lastsMs: number) {
  const others = new Map<string, number>()
  /** When the others were asked. */
  let since = Number.POSITIVE_INFINITY
  let hearsUntil = 0

  function isAlone(): boolean {
    const now = performance.now()
    for (const [name, until] of others) if (until <= now) others.delete(name)
    return others.size === 0 && hearsUntil > now && since + ANSWER_MS <= now
  }

  return {
    isAlone,
    asks: `?${lastsMs}`,
    /** A connection is about to listen and to ask. */
    opened(): void {
      since = Number.POSITIVE_INFINITY
      hearsUntil = 0
    },
    /**
     * Reads the items of a message. Returns the answer, if any, and whether its sender may have skipped
     * notifications until now.
     */
    heard(from: string, items: readonly string[]): { readonly answer?: string; readonly missed: boolean } {
      const [, kind, told] = PRESENCE.exec(items[0] ?? '') ?? []
      const until = performance.now() + (told === undefined ? UNTOLD_MS : Number(told))
      if (from === self) {
        if (kind !== '?') return { missed: false }
        since = Math.min(since, performance.now())
        hearsUntil = until
        return { missed: false }
      }
      const wasAlone = isAlone()
      const isNew = !others.has(from)
      others.set(from, until)
      const answer = !isNew ? '' : wasAlone ? `!${lastsMs}` : kind === '?' ? `.${lastsMs}` : ''
      return { ...(answer && { answer }), missed: kind === '!' }
    },
  }
}
