import { backoff, pause } from '../../core/time.ts'
import { inTime } from '../deadline.ts'

/** A connection that receives notifications of other processes. It ends once, by itself or by `close`. */
export interface ListeningConnection {
  readonly ended: Promise<void>
  close(): void
}

interface KeepConnectedOptions<Connection extends ListeningConnection> {
  /** Creates a connection that is not open yet. */
  create(): Promise<Connection>
  /** Opens the connection and listens. */
  open(connection: Connection): Promise<void>
  /** Closes the connection if it does not respond in time. */
  ping(connection: Connection): Promise<unknown>
  readonly deadlineMs: number
  /** Printed once in a long outage. */
  readonly warning: string
}

const RETRY_MS = 50
const MAX_RETRY_MS = 500
/** Outages shorter than this many attempts, about three seconds, print nothing. */
const QUIET_ATTEMPTS = 8
/** The interval of pings in multiples of `deadlineMs`. They detect a connection that died without closing. */
export const PING_EVERY = 2

/** Keeps one connection open, from the first `start` until `close`. */
export function keepConnected<Connection extends ListeningConnection>(
  options: KeepConnectedOptions<Connection>,
) {
  let connection: Connection | undefined
  let keeping: Promise<void> | undefined
  const closing = new AbortController()

  async function keep(): Promise<void> {
    for (let attempt = 1; !closing.signal.aborted; attempt++) {
      try {
        const made = await options.create()
        connection = made
        if (closing.signal.aborted) break
        await options.open(made)
        attempt = 0
        // A failure closes the connection.
        const ping = setInterval(() => options.ping(made).catch(() => {}), PING_EVERY * options.deadlineMs)
        await made.ended
        clearInterval(ping)
      } catch (error) {
        if (attempt === QUIET_ATTEMPTS && !closing.signal.aborted)
          console.error(`agentwire: ${options.warning}`, error)
      }
      await pause(backoff(attempt, RETRY_MS, MAX_RETRY_MS), closing.signal)
    }
    connection?.close()
  }

  return {
    start(): void {
      keeping ??= keep()
    },
    async close(): Promise<void> {
      closing.abort()
      connection?.close()
      await keeping
    },
  }
}

/** The result of `work` on a connection, which is closed if it does not respond in time. */
export async function during<T>(
  connection: ListeningConnection,
  deadlineMs: number,
  work: Promise<T>,
): Promise<T> {
  try {
    return await inTime(deadlineMs, undefined, work)
  } catch (error) {
    connection.close()
    throw error
  }
}
