import { UnavailableError } from '../errors.ts'

const BUSY = 5
const LOCKED = 6
const IO_ERROR = 10

/** Whether another connection holds the lock, so that a retry makes sense. */
export function isBusy(error: unknown): boolean {
  const code = resultCode(error)
  return code === BUSY || code === LOCKED
}

/** A driver's error as the caller sees it. `committing`: it came from COMMIT. */
export function toUnavailable(error: unknown, committing: boolean): UnavailableError {
  const detail = error instanceof Error ? error.message : String(error)
  // After any other COMMIT error, the transaction is rolled back.
  const written = committing && resultCode(error) === IO_ERROR ? 'unknown' : 'no'
  return new UnavailableError(`SQLite: ${detail}.`, { written, cause: error })
}

const NAMES: readonly [name: string, code: number][] = [
  ['SQLITE_BUSY', BUSY],
  ['SQLITE_LOCKED', LOCKED],
  ['SQLITE_IOERR', IO_ERROR],
]

/** The primary result code (https://www.sqlite.org/rescode.html), if it matters here. */
function resultCode(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined
  const { code, errcode } = error as { code?: unknown; errcode?: unknown }
  // node:sqlite returns the extended code, whose lower byte is the primary one; the others return its name.
  if (typeof errcode === 'number') return errcode & 0xff
  return typeof code === 'string' ? NAMES.find(([name]) => code.startsWith(name))?.[1] : undefined
}
