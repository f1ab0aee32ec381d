import { inTime, Late } from '../storage/deadline.ts'
import { UnavailableError } from '../storage/errors.ts'

interface Patience {
  /** How long calls are repeated while the store is away, in milliseconds. */
  readonly retryForMs: number
}

/** How long the engine waits for a store or a saver, in milliseconds, where the lease is no longer than this. */
const DEADLINE_MS = 10_000

export const deadlineOf = ({ retryForMs }: Patience): number => Math.max(retryForMs, DEADLINE_MS)

/** Bounds a call of a saver, which may never settle. Throws `UnavailableError`. */
export const saverInTime = <T>(patience: Patience, call: Promise<T>): Promise<T> =>
  orUnavailable(deadlineOf(patience), 'The checkpointer did not respond in time.', call)

/** Bounds a command, which makes several calls. What it has begun may still take effect. Throws `UnavailableError`. */
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
