import type { RetentionOptions } from '../../store/retention.ts'
import type { Connection } from '../connection.ts'
import type { Database } from '../database.ts'
import type { Row } from '../driver.ts'

type Of = (table: string) => string

/** Partitions that one statement looks at, and rows that one transaction drops: each blocks the event loop. */
const PAGE = 500

/** A log with events, and without the lease of a run. */
interface Idle {
  readonly id: number
  /** Where its first row begins among all bytes of the partition. */
  readonly starts: number
  readonly bytes: number
  readonly newestAt: number
}

/** Which rows of a log may stay: those with all of it. */
interface Kept {
  readonly since: number
  readonly from: number
  /** Whether the last row stays whatever `from` says. */
  readonly last: boolean
}

export async function expireLogs(database: Database, options: RetentionOptions, now: number): Promise<void> {
  const { maxThreadBytes = Infinity, maxTotalBytes = Infinity, maxAgeMs = Infinity } = options
  if (maxThreadBytes === Infinity && maxTotalBytes === Infinity && maxAgeMs === Infinity) return
  const since = now - maxAgeMs
  const idle: Idle[] = []
  let total = 0
  for await (const row of logs(database)) {
    const [id, ends] = [Number(row.id), Number(row.bytes)]
    const from = ends - maxThreadBytes
    if (row.lease_token === null && (Number(row.oldest_at) < since || Number(row.starts) < from)) {
      await dropRows(database, id, { since, from, last: true })
    }
    const starts = await database.read((connection) => startOf(connection, database.of, id))
    if (starts === undefined) continue
    total += ends - starts
    if (row.lease_token !== null || maxTotalBytes === Infinity) continue
    idle.push({ id, starts, bytes: ends - starts, newestAt: Number(row.newest_at) })
  }
  idle.sort((a, b) => a.newestAt - b.newestAt)
  for (const { id, starts, bytes } of idle) {
    const excess = total - maxTotalBytes
    if (excess <= 0) return
    // Another process sweeps too, and has counted what it drops.
    if ((await database.read((connection) => startOf(connection, database.of, id))) !== starts) return
    await dropRows(database, id, { since, from: starts + Math.min(excess, bytes), last: false })
    total -= Math.min(excess, bytes)
  }
}

/** Every log with events. */
async function* logs({ of, read }: Database): AsyncGenerator<Row> {
  const at = (column: string, order: string) =>
    `(SELECT ${column} FROM ${of('log')} WHERE partition = p.id ORDER BY last ${order} LIMIT 1)`
  let after = 0
  for (;;) {
    const rows = await read(({ all }) =>
      all(
        `SELECT id, bytes, lease_token, ${at('starts', 'ASC')} AS starts, ${at('at', 'ASC')} AS oldest_at, ${at('at', 'DESC')} AS newest_at
          FROM ${of('partitions')} AS p WHERE id > ? AND head >= first_retained ORDER BY id LIMIT ?`,
        after,
        PAGE,
      ),
    )
    yield* rows
    if (rows.length < PAGE) return
    after = Number(rows.at(-1)!.id)
  }
}

function startOf({ get }: Connection, of: Of, id: number): number | undefined {
  const row = get(`SELECT starts FROM ${of('log')} WHERE partition = ? ORDER BY last LIMIT 1`, id)
  return row && Number(row.starts)
}

/** Page by page, as long as no run begins on the partition. */
async function dropRows({ of, write }: Database, id: number, kept: Kept): Promise<void> {
  for (let isMore = true; isMore; ) {
    isMore = await write((connection) => {
      const partition = connection.get(
        `SELECT head FROM ${of('partitions')} WHERE id = ? AND lease_token IS NULL`,
        id,
      )
      if (partition === undefined) return false
      const head = Number(partition.head)
      const rows = connection.all(
        `SELECT first, last, starts, at FROM ${of('log')} WHERE partition = ? ORDER BY last LIMIT ?`,
        id,
        PAGE + 1,
      )
      const stays = rows.findIndex(({ at, starts, last }) => {
        return (
          Number(at) >= kept.since && (Number(starts) >= kept.from || (kept.last && Number(last) === head))
        )
      })
      const end = stays === -1 ? Math.min(rows.length, PAGE) : stays
      if (end > 0) dropBefore(connection, of, id, end < rows.length ? Number(rows[end]!.first) : head + 1)
      return stays === -1 && rows.length > PAGE
    })
  }
}

/** The events from `first` on stay. */
export function dropBefore({ run }: Connection, of: Of, id: number, first: number): void {
  run(`DELETE FROM ${of('log')} WHERE partition = ? AND last < ?`, id, first)
  run(`UPDATE ${of('partitions')} SET first_retained = ? WHERE id = ?`, first, id)
}
