import { nextTurn } from '../../core/time.ts'
import { UnavailableError } from '../errors.ts'
import type { Row } from './pool.ts'

/** The result columns of the writing functions. */
const COLUMNS = {
  refused: 'text',
  place: 'integer',
  seen: 'bigint',
  head: 'bigint',
  versions: 'bigint[]',
  fenced: 'boolean',
  ambiguous: 'integer[]',
}

const FUNCTIONS = {
  append: ['head'],
  commit: ['refused', 'place', 'seen', 'head', 'versions'],
  put_checkpoint: ['fenced', 'ambiguous'],
  put_writes: ['fenced'],
} as const satisfies Record<string, readonly (keyof typeof COLUMNS)[]>

/** A function that writes to one partition, or to the checkpoints of one thread. */
export type WritingFunction = keyof typeof FUNCTIONS

const ORDER = Object.keys(FUNCTIONS)

/** Calls per statement. */
const MOST = 16
/** Larger statements have too many combinations to prepare each of them. */
const MOST_PREPARED = 4

interface Call {
  readonly name: WritingFunction
  readonly values: readonly unknown[]
  /** When its time limit ends, by `performance.now()`. */
  readonly end: number
  resolve(row: Row): void
  reject(error: unknown): void
}

type Send = (
  text: string,
  values: readonly unknown[],
  options: { readonly mutates: true; readonly prepared: boolean; readonly ms: number },
) => Promise<Row[]>

/**
 * Calls functions that write to a place: a partition, or a thread's checkpoints. Calls that arrive while one
 * is active are sent together in one statement after it, because the server would make them wait for each
 * other, and each waits for the disk. The statement writes all of them or none, but a rejected call does not
 * affect the others.
 */
export function createWrites(send: Send, deadlineMs: number) {
  /** The waiting calls of places with an active statement. */
  const places = new Map<string, Call[]>()

  async function perform(calls: readonly Call[]): Promise<void> {
    const now = performance.now()
    const late = calls.filter(({ end }) => end <= now)
    for (const { reject } of late)
      reject(new UnavailableError('Timed out before this call was sent to Postgres.', { written: 'no' }))
    const due = calls.filter(({ end }) => end > now)
    if (due.length === 0) return
    due.sort((a, b) => ORDER.indexOf(a.name) - ORDER.indexOf(b.name))
    const ms = due.reduce((least, { end }) => Math.min(least, end), Number.POSITIVE_INFINITY) - now
    const values = due.flatMap((call) => call.values)
    try {
      const prepared = due.length <= MOST_PREPARED
      const rows = await send(textOf(due), values, { mutates: true, prepared, ms })
      for (const [i, { resolve }] of due.entries()) resolve(rows[i]!)
    } catch (error) {
      // If the server rejects the statement, a single call may be the reason.
      const isRefused = error instanceof UnavailableError && error.written === 'no' && sqlStateOf(error.cause)
      if (due.length > 1 && isRefused) for (const call of due) await perform([call])
      else for (const { reject } of due) reject(error)
    }
  }

  async function drain(place: string, first: Call): Promise<void> {
    const waiting = [first]
    places.set(place, waiting)
    while (waiting.length > 0) {
      // The writers of the statement that has ended may have more to write.
      await nextTurn()
      await perform(waiting.splice(0, MOST))
    }
    places.delete(place)
  }

  return (place: string, name: WritingFunction, values: readonly unknown[]): Promise<Row> =>
    new Promise((resolve, reject) => {
      const call = { name, values, end: performance.now() + deadlineMs, resolve, reject }
      const waiting = places.get(place)
      if (waiting) waiting.push(call)
      else void drain(place, call)
    })
}

/** A row for each call, in order. */
function textOf(calls: readonly Call[]): string {
  let count = 0
  return calls
    .map(({ name, values }, at) => {
      const given: readonly string[] = FUNCTIONS[name]
      const columns = Object.entries(COLUMNS).map(([column, type]) =>
        given.includes(column) ? column : `NULL::${type} AS ${column}`,
      )
      return `SELECT ${at} AS at, ${columns.join(', ')} FROM {${name}}(${values.map(() => `$${++count}`)})`
    })
    .join(' UNION ALL ')
}

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
function sqlStateOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  // Socket errors have a code too, but no severity.
  const { code, severity } = error as { code?: unknown; severity?: unknown }
  return typeof code === 'string' && typeof severity === 'string' ? code : undefined
}
