import { inTime } from '../../deadline.ts'
import { keepConnected } from '../../store/keep-connected.ts'
import { changeOf, createListeners, EVERYTHING, markOf } from '../../store/listeners.ts'
import type { PartitionChange, PartitionListener } from '../../store/store.ts'
import type { Connection } from '../connection.ts'
import type { Database } from '../database.ts'

/**
 * Notifies the listeners of this process, on one connection that subscribes to a channel for each partition that is watched. Commits
 * of this process do not need it. A lost message does no harm, because readers have a timer.
 */
export interface Notifier {
  watch(partition: string, listener: PartitionListener): () => void
  /** After a commit of this process. */
  notify(partition: string, change: PartitionChange): void
  /** What the script of a commit publishes. */
  message(change: PartitionChange): string
  close(): Promise<void>
}

export function createNotifier(database: Database): Notifier {
  const channelOf = (partition: string) => database.keys.partition(partition).channel
  /** Messages come back to their sender, which has notified its own listeners already. */
  const sender = crypto.randomUUID().slice(0, 8)
  /** Keyed by channel. */
  const listeners = createListeners((channel) => {
    const on = connection
    if (on) during(on, on.unsubscribe(channel)).catch(() => {})
  })
  /** The connection that is open, if any. */
  let connection: Connection | undefined

  const kept = keepConnected<Connection>({
    create: () => database.createConnection(receive),
    async open(made) {
      void made.ended.then(() => {
        if (connection === made) connection = undefined
      })
      await during(made, made.connect())
      connection = made
      await subscribe(made, listeners.keys())
    },
    ping: (made) => during(made, made.ping()),
    deadlineMs: database.deadlineMs,
    warning: 'Redis cannot be subscribed to. Events of other processes come late.',
  })

  function receive(channel: string, message: string): void {
    if (!message.startsWith(sender)) listeners.notify(channel, changeOf(message.at(-1)!))
  }

  /** A connection that does not answer in time is closed. */
  async function during(on: Connection, work: Promise<unknown>): Promise<void> {
    try {
      await inTime(database.deadlineMs, undefined, work)
    } catch (error) {
      on.close()
      throw error
    }
  }

  async function subscribe(on: Connection, channels: readonly string[]): Promise<void> {
    if (channels.length === 0) return
    await during(on, on.subscribe(channels))
    // Commits before the subscription were not heard of.
    for (const channel of channels) listeners.notify(channel, EVERYTHING)
  }

  return {
    watch(partition, listener) {
      const channel = channelOf(partition)
      const isFirst = !listeners.has(channel)
      const stop = listeners.add(channel, listener)
      // A failure closes the connection, and the next one subscribes to the channel.
      if (isFirst && connection) subscribe(connection, [channel]).catch(() => {})
      kept.start()
      return stop
    },
    notify: (partition, change) => listeners.notify(channelOf(partition), change),
    message: (change) => sender + markOf(change),
    async close() {
      listeners.clear()
      await kept.close()
    },
  }
}
