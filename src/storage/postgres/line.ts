import { createDeadline } from './deadline.ts'
import type { PostgresClient, PostgresQuery } from './pool.ts'

/** A connection that listens. It ends by itself when the server does not answer in time, and is not opened again. */
export interface Line {
  /** Connects and listens. */
  listen(channel: string): Promise<void>
  readonly isListening: boolean
  run(query: PostgresQuery): Promise<void>
  /** Settles when it is over. */
  readonly ended: Promise<void>
  close(): void
}

/** Deadlines between two pings: a link that died in silence is noticed by them. */
const PING_EVERY = 2

export function openLine(
  client: PostgresClient,
  deadlineMs: number,
  receive: (payload: string) => void,
): Line {
  let isListening = false
  let isOver = false
  let finish = () => {}
  let ping: ReturnType<typeof setInterval> | undefined
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
    clearInterval(ping)
    finish()
    // Without waiting: on a dead link it would not settle.
    client.end().catch(() => {})
  }

  async function inTime(work: Promise<unknown>): Promise<void> {
    const deadline = createDeadline(deadlineMs)
    try {
      await deadline.race(Promise.race([work, ended]))
      if (isOver) throw new Error('The LISTEN connection has ended.')
    } catch (error) {
      close()
      throw error
    } finally {
      deadline.end()
    }
  }

  return {
    ended,
    get isListening() {
      return isListening
    },
    async listen(channel) {
      await inTime(client.connect())
      await inTime(client.query({ text: `LISTEN "${channel}"` }))
      isListening = true
      // Its failure closes the line.
      ping = setInterval(
        () => inTime(client.query({ text: 'SELECT 1' })).catch(() => {}),
        PING_EVERY * deadlineMs,
      )
    },
    run: (query) => inTime(client.query(query)),
    close,
  }
}
