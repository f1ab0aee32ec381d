import { DATABASE } from '../../checkpointer/fenced.ts'
import { listStatement } from '../../sql/list-documents.ts'
import { changeBy, checkFence, prepareOps } from '../../store/commit.ts'
import { toPage } from '../../store/cursor.ts'
import type { RetentionOptions } from '../../store/retention.ts'
import type { PartitionState, Store } from '../../store/store.ts'
import { fromText, toText } from '../../text.ts'
import type { Database } from '../database.ts'
import { commit } from './commit.ts'
import { removeExpired } from './documents.ts'
import { documentSchema, toDoc } from './list.ts'
import type { Notifier } from './notifier.ts'
import { loadPartition, toLease } from './partitions.ts'
import { readLog } from './read.ts'
import { dropBefore, expireLogs } from './retention.ts'

/** Long enough to spare the file most commits of a token stream, short enough not to be seen. */
const COALESCE_MS = 10
const SWEEP_BATCH = 500

interface SqliteStore extends Store {
  readonly [DATABASE]: object
}

export function createStore(
  database: Database,
  notifier: Notifier,
  retention: RetentionOptions,
  close: () => Promise<void>,
): SqliteStore {
  const { of } = database
  const schema = documentSchema(of)

  async function inspect(name: string): Promise<PartitionState> {
    const partition = await database.read((connection) => loadPartition(connection, of('partitions'), name))
    const { head, firstRetained, token, lease } = partition
    return { head, firstRetained, token, lease, now: Date.now() }
  }

  return {
    [DATABASE]: database,
    capabilities: { name: 'sqlite', shared: true, durable: true, coalesceMs: COALESCE_MS },
    async get(partition, collection, id) {
      const row = await database.read(({ get }) =>
        get(
          `SELECT partition, id, version, fields, value FROM ${of('documents')}
            WHERE collection = ? AND partition = ? AND id = ? AND (expires_at IS NULL OR expires_at > ?)`,
          ...[toText(collection), toText(partition), toText(id), Date.now()],
        ),
      )
      return row && toDoc(row)
    },
    async list(collection, query = {}) {
      const { text, values } = listStatement(schema, collection, query)
      const rows = await database.read(({ all }) => all(text, ...values))
      return toPage(rows.map(toDoc), query)
    },
    async count(collection, field) {
      const row = await database.read(({ get }) =>
        get(
          `SELECT n FROM ${of('counts')} WHERE collection = ? AND field = ?`,
          toText(collection),
          toText(field),
        ),
      )
      return Number(row?.n ?? 0)
    },
    async commit(partition, change) {
      database.assertOpen()
      const { guards = [], signal } = change
      const prepared = prepareOps(change)
      const work = (connection: Parameters<typeof commit>[0]) =>
        commit(connection, of, partition, guards, prepared)
      // A holder whose renewal waits behind other writes would lose what it holds.
      const isUrgent = change.ops.length > 0 && change.ops.every(({ op }) => op === 'renew')
      const { head, versions, docsChanged } = await database.write(work, { signal, isUrgent })
      if (prepared.length > 0) notifier.notify(partition, changeBy(prepared), head, docsChanged)
      return { head, versions }
    },
    read: (partition, query) => database.read((connection) => readLog(connection, of, partition, query)),
    inspect,
    async assertFence(partition, token) {
      const { lease, now } = await inspect(partition)
      checkFence(partition, token, lease, now)
    },
    watch(partition, listener) {
      database.assertOpen()
      return notifier.watch(partition, listener)
    },
    async expired({ limit = 100 } = {}) {
      const rows = await database.read(({ all }) =>
        all(
          `SELECT name, lease_owner, lease_token, lease_until FROM ${of('partitions')}
            WHERE lease_until <= ? ORDER BY lease_until LIMIT ?`,
          Date.now(),
          limit,
        ),
      )
      return rows.map((row) => toLease(fromText(row.name as string), row))
    },
    async trim(name, bound) {
      await database.write((connection) => {
        const { id, head, firstRetained } = loadPartition(connection, of('partitions'), name)
        if (id === undefined) return
        let first: number
        if ('keepLast' in bound) {
          first = Math.max(firstRetained, head - bound.keepLast + 1)
        } else {
          // Whole rows only: an old event goes when its row is old.
          const kept = connection.get(
            `SELECT first FROM ${of('log')} WHERE partition = ? AND at >= ? ORDER BY last LIMIT 1`,
            id,
            Date.now() - bound.olderThanMs,
          )
          first = Math.max(firstRetained, kept ? Number(kept.first) : head + 1)
        }
        dropBefore(connection, of, id, first)
      })
    },
    async sweep() {
      for (let swept = SWEEP_BATCH; swept === SWEEP_BATCH; ) {
        swept = await database.write((connection) => removeExpired(connection, of, Date.now(), SWEEP_BATCH))
      }
      await expireLogs(database, retention)
    },
    setup: () => database.setup(),
    close,
  }
}
