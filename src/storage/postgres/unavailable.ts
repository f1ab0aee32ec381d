import { UnavailableError } from '../errors.ts'

/** SQLSTATEs after which the same statement can be retried immediately: nothing was written. */
const RETRY = new Set(['40001', '40P01'])
/** The server disconnected, possibly after it had committed. */
const AFTER_COMMIT = /^(08|57P0[1245]|58|XX)/

/** The error of a statement. `mutates`: whether it would have written something. */
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

/** The SQLSTATE with which the server rejected a statement. Undefined if it did not respond. */
export function sqlStateOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  // Socket errors have a code too, but no severity.
  const { code, severity } = error as { code?: unknown; severity?: unknown }
  return typeof code === 'string' && typeof severity === 'string' ? code : undefined
}
