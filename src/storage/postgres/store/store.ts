import { DATABASE } from '../../checkpointer/fenced.ts'
import { listStatement } from '../../sql/list-documents.ts'
import { changeBy, checkFence, leaseOf, prepareOps } from '../../store/commit.ts'
import { toPage } from '../../store/cursor.ts'
import type { RetentionOptions } from '../../store/retention.ts'
import type { PartitionState, Store } from '../../store/store.ts'
import { type Database, numbered, type Row, readNumbers } from '../database.ts'
import { fromText, keyOf, namesOf, readNames } from '../text.ts'
import { encodeAppend, encodeChange, throwRefusal } from './change.ts'
import { documentSchema, toDoc } from './list.ts'
import type { Notifier } from './notifier.ts'
import { createReader } from './read.ts'
import { expireLogs } from './retention.ts'
import { NOW_ONCE } from './sql-store.ts'

interface PostgresStore extends Store {
  readonly [DATABASE]: object
}

/** Long enough to spare the server most commits of a token stream, short enough not to be seen. */
const COALESCE_MS = 15
const SWEEP_BATCH = 1_000

export function createStore(
  database: Database,
  notifier: Notifier,
  retention: RetentionOptions,
  close: () => Promise<void>,
): PostgresStore {
  const { of } = database.names
  const schema = documentSchema(database.names)
  const read = createReader(database)

  async function load(partition: string): Promise<PartitionState> {
    const [row] = await database.run({
      text: `SELECT head, first_retained, token, lease_owner, lease_token, lease_until, ${NOW_ONCE} AS now
        FROM (SELECT $1::text AS wanted) AS w LEFT JOIN ${of('partitions')} ON partition = wanted`,
      values: [keyOf(partition)],
    })
    return toState(partition, row!)
  }

  return {
    [DATABASE]: database,
    capabilities: { name: 'postgres', shared: true, durable: true, coalesceMs: COALESCE_MS },
    async get(partition, collection, id) {
      const [row] = await database.run({
        text: `SELECT partition, id, names, version, value, fields FROM ${of('documents')}
          WHERE partition = $1 AND collection = $2 AND id = $3 AND (expires_at IS NULL OR expires_at > ${NOW_ONCE})`,
        values: [keyOf(partition), keyOf(collection), keyOf(id)],
      })
      return row && toDoc(row)
    },
    async list(collection, query = {}) {
      const rows = await database.run(numbered(listStatement(schema, collection, query)))
      return toPage(rows.map(toDoc), query)
    },
    async count(collection, field) {
      const where = 'WHERE collection = $1 AND field = $2'
      const [row] = await database.run({
        text: `SELECT coalesce((SELECT n FROM ${of('counts')} ${where}), 0)
          + coalesce((SELECT sum(n) FROM ${of('count_changes')} ${where}), 0) AS n`,
        values: [keyOf(collection), keyOf(field)],
      })
      return Number(row!.n)
    },
    async commit(partition, change) {
      database.assertOpen()
      const { guards = [], signal } = change
      const prepared = prepareOps(change)
      const append = encodeAppend(partition, guards, prepared)
      if (append) {
        const text = `SELECT head FROM ${of('append')}($1, $2, $3, $4, $5, $6)`
        const [row] = await database.run({ text, values: append, mutates: true, signal })
        if (row!.head !== null) {
          notifier.notify(partition, changeBy(prepared))
          return { head: Number(row!.head), versions: [] }
        }
      }
      // The commit is more than one append, or a guard does not hold and `commit` determines which.
      const encoded = encodeChange(partition, guards, prepared)
      const [row] = await database.run({
        text: `SELECT refused, place, seen, head, versions FROM ${of('commit')}($1, $2, $3, $4, $5)`,
        values: [keyOf(partition), namesOf(partition), encoded.guards, encoded.ops, encoded.data],
        mutates: true,
        signal,
      })
      const { refused, head, versions } = row!
      if (refused !== null) throwRefusal(partition, guards, prepared, row!)
      if (prepared.length > 0) notifier.notify(partition, changeBy(prepared))
      return { head: Number(head), versions: readNumbers(versions!) }
    },
    async read(partition, query) {
      database.assertOpen()
      return read(partition, query)
    },
    inspect: load,
    async assertFence(partition, token) {
      const { lease, now } = await load(partition)
      checkFence(partition, token, lease, now)
    },
    watch(partition, listener) {
      database.assertOpen()
      return notifier.watch(partition, listener)
    },
    async expired({ limit = 100 } = {}) {
      const rows = await database.run({
        text: `SELECT partition, names, lease_owner, lease_token, lease_until FROM ${of('partitions')}
          WHERE lease_until <= ${NOW_ONCE} ORDER BY lease_until LIMIT $1`,
        values: [limit],
      })
      return rows.map((row) => {
        const [partition] = readNames(row.names!, row.partition!)
        return toLease(partition, row)
      })
    },
    async trim(partition, bound) {
      const keep = 'keepLast' in bound ? bound.keepLast : null
      const older = 'keepLast' in bound ? null : Math.ceil(bound.olderThanMs)
      await database.run({
        text: `SELECT ${of('trim')}($1, $2, $3)`,
        values: [keyOf(partition), keep, older],
        mutates: true,
      })
    },
    async sweep() {
      for (let swept = SWEEP_BATCH; swept === SWEEP_BATCH; ) {
        const text = `SELECT ${of('sweep')}($1) AS swept`
        const [row] = await database.run({ text, values: [SWEEP_BATCH], mutates: true })
        swept = Number(row!.swept)
      }
      await database.run({ text: `SELECT ${of('fold_counts')}()`, values: [], mutates: true })
      await expireLogs(database, retention)
    },
    setup: () => database.setup(),
    close,
  }
}

function toState(partition: string, row: Row): PartitionState {
  return {
    head: Number(row.head ?? 0),
    firstRetained: Number(row.first_retained ?? 1),
    token: Number(row.token ?? 0),
    lease: row.lease_token === null ? undefined : toLease(partition, row),
    now: Number(row.now),
  }
}

function toLease(partition: string, row: Row) {
  return leaseOf(partition, fromText(row.lease_owner!), Number(row.lease_token), Number(row.lease_until))
}
