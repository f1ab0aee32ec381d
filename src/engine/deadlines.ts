import { inTime, Late } from '../storage/deadline.ts'
import { UnavailableError } from '../storage/errors.ts'

interface Patience {
  /** How long calls are retried while the store is unavailable, in milliseconds. */
  readonly retryForMs: number
}

/** How long the engine waits for a store or checkpointer, in milliseconds, if the lease is not longer. */
const DEADLINE_MS = 10_000

export const deadlineOf = ({ retryForMs }: Patience): number => Math.max(retryForMs, DEADLINE_MS)

/** Limits the time of a checkpointer call, which may never settle. Throws `UnavailableError`. */
export const saverInTime = <T>(patience: Patience, call: Promise<T>): Promise<T> =>
  orUnavailable(deadlineOf(patience), 'The checkpointer did not respond in time.', call)

/**
 * Limits the time of a command, which makes several calls. Work that it started may still take effect. Throws
 * `UnavailableError`.
 */
export const commandInTime = <T>(patience: Patience, command: Promise<T>): Promise<T> =>
  orUnavailable(
    deadlineOf(patience) * 2,
    'The store did not respond in time. The command may have taken effect: check, or send it again with its idempotency key.',
    command,
  )

async function orUnavailable<T>(ms: number, message: string, work: Promise<T>): Promise<T> {
  try {
    return await inTime(ms, undefined, work)
  } catch (error) {
    if (error instanceof Late) throw new UnavailableError(message, { written: 'unknown', cause: error })
    throw error
  }
}
