import type { StoreCalls } from '../../durable-storage.ts'
import { listStatement } from '../../sql/list-documents.ts'
import { changeBy, prepareOps } from '../../store/commit.ts'
import { toPage } from '../../store/cursor.ts'
import type { RetentionOptions } from '../../store/retention.ts'
import { fromText, toText } from '../../text.ts'
import type { Database } from '../database.ts'
import { commit } from './commit.ts'
import { documentSchema, loadDocument, removeDocuments, toDoc } from './documents.ts'
import type { Notifier } from './notifier.ts'
import { loadPartition, toLease } from './partitions.ts'
import { readLog } from './read.ts'
import { dropBefore, expireLogs } from './retention.ts'

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
      await write((connection) => {
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
      })
    },
    async sweep() {
      const condition = 'expires_at <= ? LIMIT ?'
      for (let swept = SWEEP_BATCH; swept === SWEEP_BATCH; )
        swept = await write((connection) => removeDocuments(connection, condition, Date.now(), SWEEP_BATCH))
      await expireLogs(database, retention)
    },
  }
}
