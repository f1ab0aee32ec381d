import {
  applyRetention,
  type Retained,
  type RetainedLog,
  type RetentionOptions,
} from '../../store/retention.ts'
import type { Connection } from '../connection.ts'
import type { Database } from '../database.ts'

interface Log extends RetainedLog {
  /** The id of its partition's row. */
  readonly id: number
}

/** Partitions per statement, and rows dropped per transaction: each blocks the event loop. */
const PAGE = 500

export function expireLogs({ read, write }: Database, options: RetentionOptions): Promise<void> {
  return applyRetention(options, {
    async *pages() {
      for (let after = 0; ; ) {
        const logs = await read((connection) => readLogs(connection, 'id > ?', after))
        yield { now: Date.now(), logs }
        if (logs.length < PAGE) return
        after = logs.at(-1)!.id
      }
    },
    async drop(seen: Log, retained) {
      for (let starts = seen.starts; ; ) {
        const { log, isMore } = await write((connection) => {
          const [before] = readLogs(connection, 'id = ?', seen.id)
          if (!before || before.isLeased || before.starts !== starts) return { log: before, isMore: false }
          const isMore = dropPage(connection, before.id, retained)
          return { log: readLogs(connection, 'id = ?', seen.id)[0], isMore }
        })
        if (!log || !isMore) return log
        starts = log.starts
      }
    },
  })
}

function readLogs({ all }: Connection, condition: string, value: number): Log[] {
  const at = (column: string, order: string) =>
    `(SELECT ${column} FROM {log} WHERE partition = p.id ORDER BY last ${order} LIMIT 1)`
  const rows = all(
    `SELECT id, bytes, lease_token, ${at('starts', 'ASC')} AS starts, ${at('at', 'ASC')} AS oldest_at,
        ${at('at', 'DESC')} AS newest_at
      FROM {partitions} AS p WHERE ${condition} AND head >= first_retained ORDER BY id LIMIT ?`,
    value,
    PAGE,
  )
  return rows.map((row) => ({
    id: Number(row.id),
    starts: Number(row.starts),
    ends: Number(row.bytes),
    oldestAt: Number(row.oldest_at),
    newestAt: Number(row.newest_at),
    isLeased: row.lease_token !== null,
  }))
}

/** Returns whether there may be more to drop. */
function dropPage(connection: Connection, id: number, { since, from, keepsLast }: Retained): boolean {
  const head = Number(connection.get('SELECT head FROM {partitions} WHERE id = ?', id)!.head)
  const rows = connection.all(
    'SELECT first, last, starts, at FROM {log} WHERE partition = ? ORDER BY last LIMIT ?',
    id,
    PAGE + 1,
  )
  const kept = rows.findIndex(({ at, starts, last }) => {
    return Number(at) >= since && (Number(starts) >= from || (keepsLast && Number(last) === head))
  })
  const end = kept === -1 ? Math.min(rows.length, PAGE) : kept
  if (end > 0) dropBefore(connection, id, end < rows.length ? Number(rows[end]!.first) : head + 1)
  return kept === -1 && rows.length > PAGE
}

/** Keeps the events from `first` on. */
export function dropBefore({ run }: Connection, id: number, first: number): void {
  run('DELETE FROM {log} WHERE partition = ? AND last < ?', id, first)
  run('UPDATE {partitions} SET first_retained = ? WHERE id = ?', first, id)
}
