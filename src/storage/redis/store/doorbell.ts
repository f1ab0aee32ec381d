import { changeOf, createListeners, EVERYTHING, markOf } from '../../store/listeners.ts'
import type { PartitionChange, PartitionListener } from '../../store/store.ts'
import type { Database } from '../database.ts'
import { inTime } from '../deadline.ts'
import type { Line } from '../line.ts'

/**
 * The bells of this process, on one connection that subscribes to a channel for each partition that is watched. What is
 * committed here rings without it. One message that gets lost is no loss: readers have a timer.
 */
export interface Doorbell {
  watch(partition: string, bell: PartitionListener): () => void
  /** For a commit of this process. */
  ring(partition: string, ring: PartitionChange): void
  /** What the script of a commit publishes. */
  message(ring: PartitionChange): string
  close(): Promise<void>
}

const RETRY_MS = 50
const MAX_RETRY_MS = 500
/** Outages shorter than these attempts, about three seconds, are not worth a word. */
const QUIET_ATTEMPTS = 8
/** Deadlines between two pings: a link that died in silence is noticed by them. */
const PING_EVERY = 2

export function createDoorbell(database: Database): Doorbell {
  const channelOf = (partition: string) => database.keys.partition(partition).channel
  /** Messages come back to their sender, who has rung before. */
  const sender = crypto.randomUUID().slice(0, 8)
  /** By channel. */
  const bells = createListeners((channel) => {
    const on = line
    if (on) onLine(on, on.unsubscribe(channel)).catch(() => {})
  })
  let line: Line | undefined
  let keeping: Promise<void> | undefined
  let closed = false
  let wake = () => {}

  function receive(channel: string, message: string): void {
    if (!message.startsWith(sender)) bells.notify(channel, changeOf(message.at(-1)!))
  }

  /** A line that does not answer in time is over. */
  async function onLine(on: Line, work: Promise<unknown>): Promise<void> {
    try {
      await inTime(database.deadlineMs, undefined, work)
    } catch (error) {
      on.close()
      throw error
    }
  }

  async function listen(on: Line, channels: readonly string[]): Promise<void> {
    if (channels.length === 0) return
    await onLine(on, on.subscribe(channels))
    // Whatever was committed before.
    for (const channel of channels) bells.notify(channel, EVERYTHING)
  }

  async function keep(): Promise<void> {
    for (let attempt = 1; !closed; attempt++) {
      let ping: ReturnType<typeof setInterval> | undefined
      try {
        const made = await database.createLine(receive)
        if (closed) return made.close()
        opened = made
        await onLine(made, made.connect())
        line = made
        await listen(made, bells.keys())
        attempt = 0
        // Its failure closes the line.
        ping = setInterval(() => onLine(made, made.ping()).catch(() => {}), PING_EVERY * database.deadlineMs)
        await made.ended
      } catch (error) {
        if (attempt === QUIET_ATTEMPTS && !closed) {
          console.error(
            'agentwire: Redis cannot be subscribed to. Events of other processes come late.',
            error,
          )
        }
      } finally {
        clearInterval(ping)
        line = undefined
      }
      if (!closed) await pause(Math.min(RETRY_MS * 2 ** attempt, MAX_RETRY_MS))
    }
  }
  let opened: Line | undefined

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
      const channel = channelOf(partition)
      const isFirst = !bells.has(channel)
      const stop = bells.add(channel, bell)
      // Its failure closes the line, and the next one listens to it.
      if (isFirst && line) listen(line, [channel]).catch(() => {})
      keeping ??= keep()
      return stop
    },
    ring: (partition, ring) => bells.notify(channelOf(partition), ring),
    message: (ring) => sender + markOf(ring),
    async close() {
      closed = true
      bells.clear()
      opened?.close()
      wake()
      await keeping
    },
  }
}
