import { EMPTY_COUNTS, readCounts, type StorageReport } from '../durable.ts'
import type { Database, Row } from './database.ts'
import { migrations } from './migrate.ts'
import type { Names } from './names.ts'
import { NOW_ONCE } from './store/sql-store.ts'

const TABLES = ['partitions', 'documents', 'fields', 'events', 'checkpoints', 'channel_values', 'writes']
/** Larger tables would take long to count, so the estimate of the planner is reported. */
const EXACT = 100_000

export async function reportOf(database: Database): Promise<StorageReport> {
  const { names } = database
  const [server] = await database.peek({
    text: `SELECT to_regclass($1)::text AS installed, current_setting('fsync') AS fsync,
      current_setting('synchronous_commit') AS synchronous_commit, current_setting('full_page_writes') AS full_page_writes,
      pg_is_in_recovery()::text AS standby`,
    values: [names.of('schema_version')],
  })
  const version = server!.installed === null ? 0 : await versionOf(database)
  const [held] = version === 0 ? [] : await database.peek({ text: countText(names), values: [] })
  return {
    name: 'postgres',
    reachable: true,
    schema: { version, newest: migrations.length },
    durable: server!.synchronous_commit !== 'off',
    warnings: [...warningsOf(server!)],
    counts: held ? readCounts(held as Parameters<typeof readCounts>[0]) : EMPTY_COUNTS,
    bytes: Number(held?.bytes ?? 0),
  }
}

async function versionOf(database: Database): Promise<number> {
  const [row] = await database.peek({
    text: `SELECT version FROM ${database.names.of('schema_version')}`,
    values: [],
  })
  return Number(row?.version ?? 0)
}

function* warningsOf({ synchronous_commit, fsync, full_page_writes, standby }: Row): Generator<string> {
  if (synchronous_commit === 'off') {
    yield 'synchronous_commit is off: a crash of the server loses what was acknowledged last.'
  }
  if (fsync === 'off' || full_page_writes === 'off') {
    yield 'fsync or full_page_writes is off: a crash of the machine may destroy the whole database.'
  }
  if (standby === 'true') yield 'The server is a standby: nothing can be written.'
}

function countText({ of }: Names): string {
  const count = (table: string) =>
    `(SELECT CASE WHEN reltuples > ${EXACT} THEN reltuples::bigint ELSE (SELECT count(*) FROM ${of(table)}) END
      FROM pg_class WHERE oid = '${of(table)}'::regclass) AS ${table}`
  const sizes = TABLES.map((table) => `pg_total_relation_size('${of(table)}')`)
  return `SELECT count(*) AS partitions, sum(head - first_retained + 1) AS events,
      count(*) FILTER (WHERE lease_until > ${NOW_ONCE}) AS leases,
      ${count('documents')}, ${count('checkpoints')}, ${sizes.join(' + ')} AS bytes
    FROM ${of('partitions')}`
}
