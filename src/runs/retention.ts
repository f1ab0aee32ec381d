import { RunError } from './errors.ts'

/**
 * What is kept of a thread's events when its runs are over. The state is kept in any case, and clients whose events are gone
 * are given it. Events of a run that has not ended are never dropped.
 */
export interface Retention {
  /**
   * In milliseconds. Older events go when the thread's next run starts, or when nothing has happened on the thread for this
   * long. Default: no bound.
   */
  readonly maxAgeMs?: number | undefined
  /** Events of earlier runs that are kept when the next one starts. Default: no bound. */
  readonly maxEvents?: number | undefined
}

/** Throws `invalid_argument` for bounds that are none. */
export function checkRetention({ maxAgeMs, maxEvents }: Retention): void {
  for (const [name, bound] of Object.entries({ maxAgeMs, maxEvents })) {
    if (bound === undefined || (Number.isSafeInteger(bound) && bound >= 0)) continue
    throw new RunError('invalid_argument', `retention.${name} must be a whole number from 0.`)
  }
}
