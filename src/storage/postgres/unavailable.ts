import { UnavailableError } from '../errors.ts'

/** SQLSTATEs after which another try of the same statement makes sense at once: nothing was written. */
const RETRY = new Set(['40001', '40P01'])
/** The server went away, perhaps after it had committed. */
const AFTER_COMMIT = /^(08|57P0[1245]|58|XX)/

/** What a statement failed with. `mutates`: whether it would have written something. */
export function toUnavailable(error: unknown, mutates: boolean): UnavailableError {
  const state = sqlStateOf(error)
  if (state === undefined) {
    const written = mutates ? 'unknown' : 'no'
    return new UnavailableError('Postgres did not answer.', { written, cause: error })
  }
  const written = mutates && AFTER_COMMIT.test(state) ? 'unknown' : 'no'
  return new UnavailableError(`Postgres returned the error ${state}.`, { written, cause: error })
}

export function isRetriable(error: unknown): boolean {
  const state = sqlStateOf(error)
  return state !== undefined && RETRY.has(state)
}

/** Whether the connection can be used again after this error. */
export function isUsable(error: unknown): boolean {
  return sqlStateOf(error) !== undefined && (error as { severity?: unknown }).severity === 'ERROR'
}

/** What the server refused a statement with. Undefined where it did not answer. */
export function sqlStateOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  // Errors of sockets have a code too, but no severity.
  const { code, severity } = error as { code?: unknown; severity?: unknown }
  return typeof code === 'string' && typeof severity === 'string' ? code : undefined
}
