import { during, keepConnected } from '../../store/keep-connected.ts'
import { changeOf, createListeners, markOf } from '../../store/listeners.ts'
import type { PartitionChange, PartitionListener } from '../../store/store.ts'
import type { Connection } from '../connection.ts'
import type { Database } from '../database.ts'

export type Notifier = ReturnType<typeof createNotifier>

/**
 * Notifies this process's listeners, over one connection that subscribes to a channel for each watched
 * partition. Commits of this process do not need it. A lost message is harmless, because readers have a
 * timer.
 */
export function createNotifier({ keys, createConnection, deadlineMs }: Database) {
  const channelOf = (partition: string) => keys.partition(partition).channel
  /** Messages also return to their sender, which has already notified its own listeners. */
  const sender = crypto.randomUUID().slice(0, 8)
  /** Keyed by channel. */
  const listeners = createListeners((channel) => {
    const on = connection
    if (on) during(on, deadlineMs, on.unsubscribe(channel)).catch(() => {})
  })
  let connection: Connection | undefined

  const kept = keepConnected<Connection>({
    create: () => createConnection(receive),
    async open(made) {
      void made.ended.then(() => {
        if (connection === made) connection = undefined
      })
      await during(made, deadlineMs, made.connect())
      connection = made
      await subscribe(made, listeners.keys())
    },
    ping: (made) => during(made, deadlineMs, made.ping()),
    deadlineMs,
    warning: 'cannot subscribe to Redis. Events from other processes arrive late.',
  })

  function receive(channel: string, message: string): void {
    if (!message.startsWith(sender)) listeners.notify(channel, changeOf(message.at(-1)!))
  }

  async function subscribe(on: Connection, channels: readonly string[]): Promise<void> {
    if (channels.length === 0) return
    await during(on, deadlineMs, on.subscribe(channels))
    // Commits before the subscription may have been missed.
    listeners.notifyMissed(channels)
  }

  return {
    watch(partition: string, listener: PartitionListener): () => void {
      const channel = channelOf(partition)
      const isFirst = !listeners.has(channel)
      const stop = listeners.add(channel, listener)
      // A failure closes the connection, and the next connection subscribes to the channel.
      if (isFirst && connection) subscribe(connection, [channel]).catch(() => {})
      kept.start()
      return stop
    },
    notify: (partition: string, change: PartitionChange) => listeners.notify(channelOf(partition), change),
    /** The message that a commit's script publishes. */
    message: (change: PartitionChange) => sender + markOf(change),
    async close() {
      listeners.clear()
      await kept.close()
    },
  }
}
