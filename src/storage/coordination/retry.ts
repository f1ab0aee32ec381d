import { backoff, pause, sleep } from '../../core/time.ts'
import { ConflictError, UnavailableError } from '../errors.ts'

const MAX_CONFLICTS = 100

/**
 * Repeats `attempt` while other writers commit first. The attempt must read again each time. After about ten
 * seconds of conflicts, it throws what `giveUp` makes of the last one.
 */
export async function retryOnConflict<T>(
  attempt: () => Promise<T>,
  giveUp: (conflict: ConflictError) => Error = (conflict) => conflict,
): Promise<T> {
  for (let conflicts = 0; ; conflicts++) {
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error
      if (conflicts >= MAX_CONFLICTS) throw giveUp(error)
      // The first retries need no wait: within one process, the winner has already committed.
      if (conflicts > 3) await sleep(Math.random() * Math.min(conflicts * 4, 200))
    }
  }
}

export interface RetryOptions {
  readonly isRetryable: (error: unknown) => boolean
  /** How long failures may continue after the first one, in milliseconds. */
  readonly forMs: number
  /** The delays between attempts, see `backoff`. */
  readonly firstMs: number
  readonly maxMs: number
  /** When one of them aborts, there is one more attempt, immediately. */
  readonly signals?: readonly AbortSignal[]
}

/** Repeats `attempt` with back-off while it fails with a temporary error. Throws its last error. */
export async function retry<T>(
  attempt: () => T | Promise<T>,
  { isRetryable, forMs, firstMs, maxMs, signals = [] }: RetryOptions,
): Promise<T> {
  let deadline: number | undefined
  for (let failures = 0; ; failures++) {
    try {
      return await attempt()
    } catch (error) {
      deadline ??= performance.now() + forMs
      const isOver = performance.now() >= deadline || signals.some(({ aborted }) => aborted)
      if (isOver || !isRetryable(error)) throw error
      await pause(backoff(failures, firstMs, maxMs), ...signals)
    }
  }
}

/** Retries idempotent `work` while the backend is unavailable, for up to `patienceMs` milliseconds. */
export const retryUnavailable = <T>(patienceMs: number, work: () => T | Promise<T>): Promise<T> =>
  retry(work, {
    isRetryable: (error) => error instanceof UnavailableError,
    forMs: patienceMs,
    firstMs: 20,
    maxMs: 1_000,
  })
