import { concatBytes } from '../../../core/bytes.ts'
import type { StoreCalls } from '../../durable-storage.ts'
import { listStatement } from '../../sql/list-documents.ts'
import { changeBy, prepareOps } from '../../store/commit.ts'
import { toPage } from '../../store/cursor.ts'
import { type Layout, readBounds, toBatch } from '../../store/log-layout.ts'
import {
  applyRetention,
  type Retained,
  type RetainedLog,
  type RetentionOptions,
} from '../../store/retention.ts'
import type { LogBatch, ReadQuery, TrimBound } from '../../store/store.ts'
import { fromText, toText } from '../../text.ts'
import { bytesOf, type Connection } from '../connection.ts'
import type { Database } from '../database.ts'
import { commit } from './commit.ts'
import { documentSchema, loadDocument, loadPartition, removeDocuments, toDoc, toLease } from './documents.ts'
import type { Notifier } from './notifier.ts'

const SWEEP_BATCH = 500

export function createStore(database: Database, notifier: Notifier, retention: RetentionOptions): StoreCalls {
  const { read, snapshot, write } = database
  return {
    get: (partition, collection, id) =>
      read((connection) => loadDocument(connection, partition, { collection, id }, Date.now())),
    getMany: (collection, places) =>
      snapshot((connection) => {
        const now = Date.now()
        return places.map(({ partition, id }) => loadDocument(connection, partition, { collection, id }, now))
      }),
    async list(collection, query = {}) {
      const { text, values } = listStatement(documentSchema, collection, query)
      const rows = await read(({ all }) => all(text, ...values))
      return toPage(rows.map(toDoc), query)
    },
    async count(collection, field) {
      const sql = 'SELECT n FROM {counts} WHERE collection = ? AND field = ?'
      const row = await read(({ get }) => get(sql, toText(collection), toText(field)))
      return Number(row?.n ?? 0)
    },
    async commit(partition, change) {
      database.assertOpen()
      const { guards = [], signal } = change
      const prepared = prepareOps(change)
      // A lease whose renewal waits behind other writes could expire.
      const isUrgent = change.ops.length > 0 && change.ops.every(({ op }) => op === 'renew')
      const { head, versions, docsChanged } = await write(
        (connection) => commit(connection, partition, guards, prepared),
        { signal, isUrgent },
      )
      if (prepared.length > 0) notifier.notify(partition, changeBy(prepared), head, docsChanged)
      return { head, versions }
    },
    read: (partition, query) => read((connection) => readLog(connection, partition, query)),
    inspect: (name, keys = []) =>
      (keys.length === 0 ? read : snapshot)((connection) => {
        const { head, firstRetained, token, lease } = loadPartition(connection, name)
        const now = Date.now()
        const docs = keys.map((key) => loadDocument(connection, name, key, now))
        return { head, firstRetained, token, lease, now, docs }
      }),
    async expired({ limit = 100 } = {}) {
      const sql = `SELECT name, lease_owner, lease_token, lease_until FROM {partitions}
        WHERE lease_until <= ? ORDER BY lease_until LIMIT ?`
      const rows = await read(({ all }) => all(sql, Date.now(), limit))
      return rows.map((row) => toLease(fromText(row.name as string), row))
    },
    async trim(name, bound) {
      await write((connection) => trimLog(connection, name, bound))
    },
    async sweep() {
      const condition = 'expires_at <= ? LIMIT ?'
      for (let swept = SWEEP_BATCH; swept === SWEEP_BATCH; )
        swept = await write((connection) => removeDocuments(connection, condition, Date.now(), SWEEP_BATCH))
      await expireLogs(database, retention)
    },
  }
}

const MAX_ATTEMPTS = 20

/** Two statements. If another process drops the events between them, they run again. */
export function readLog({ get, all }: Connection, partition: string, query: ReadQuery): LogBatch {
  const { limit, maxBytes } = readBounds(query)
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const row = get('SELECT id, head, first_retained FROM {partitions} WHERE name = ?', toText(partition))
    const head = Number(row?.head ?? 0)
    const firstRetained = Number(row?.first_retained ?? 1)
    const first = Math.max(query.after + 1, firstRetained)
    if (row === undefined || first > head) {
      return toBatch({ head, firstRetained, first, layouts: [], bytes: () => new Uint8Array(0) }, query)
    }
    const id = Number(row.id)
    // Up to the row that reaches the limit.
    const rows = all(
      `SELECT first, layout, data FROM {log} WHERE partition = ? AND last >= ? AND last <= min(?, coalesce((
          SELECT last FROM {log} WHERE partition = ? AND last >= ? AND ends >= ? + (
            SELECT starts FROM {log} WHERE partition = ? AND last >= ? ORDER BY last LIMIT 1
          ) ORDER BY last LIMIT 1
        ), ?)) ORDER BY last LIMIT ?`,
      ...[id, first, head, id, first, maxBytes, id, first, head, limit],
    )
    if (rows.length === 0 || Number(rows[0]!.first) > first) continue
    const layouts = rows.map(({ layout }) => JSON.parse(layout as string) as Layout)
    const data = concatBytes(rows.map(({ data }) => bytesOf(data)))
    const bytes = (start: number, end: number) => data.subarray(start, end)
    return toBatch({ head, firstRetained, first: Number(rows[0]!.first), layouts, bytes }, query)
  }
  throw new Error(`The log of ${partition} has a gap after ${query.after}.`)
}

interface Log extends RetainedLog {
  /** The id of its partition's row. */
  readonly id: number
}

/** Partitions per statement, and rows dropped per transaction: each blocks the event loop. */
const PAGE = 500

function expireLogs({ read, write }: Database, options: RetentionOptions): Promise<void> {
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

function trimLog(connection: Connection, name: string, bound: TrimBound): void {
  const { id, head, firstRetained } = loadPartition(connection, name)
  if (id === undefined) return
  let first: number
  if ('keepLast' in bound) {
    first = head - bound.keepLast + 1
  } else {
    // Only whole rows: an old event is dropped when its row is old.
    const sql = 'SELECT first FROM {log} WHERE partition = ? AND at >= ? ORDER BY last LIMIT 1'
    const kept = connection.get(sql, id, Date.now() - bound.olderThanMs)
    first = kept ? Number(kept.first) : head + 1
  }
  dropBefore(connection, id, Math.max(firstRetained, first))
}

/** Keeps the events from `first` on. */
function dropBefore({ run }: Connection, id: number, first: number): void {
  run('DELETE FROM {log} WHERE partition = ? AND last < ?', id, first)
  run('UPDATE {partitions} SET first_retained = ? WHERE id = ?', first, id)
}
