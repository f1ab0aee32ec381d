import type { StorageReport } from '../durable.ts'
import { EMPTY_COUNTS, readCounts } from '../durable-storage.ts'
import type { Database } from './database.ts'
import { migrations } from './migrate.ts'
import type { Row } from './pool.ts'
import { NOW_ONCE } from './store/sql-store.ts'

const TABLES = ['partitions', 'documents', 'fields', 'events', 'checkpoints', 'channel_values', 'writes']
const SIZES = TABLES.map((table) => `pg_total_relation_size('{${table}}')`)
/** Counting a larger table would take long, so the planner's estimate is reported. */
const EXACT = 100_000

const count = (table: string): string =>
  `(SELECT CASE WHEN reltuples > ${EXACT} THEN reltuples::bigint ELSE (SELECT count(*) FROM {${table}}) END
    FROM pg_class WHERE oid = '{${table}}'::regclass) AS ${table}`

const COUNTS = `SELECT count(*) AS partitions, sum(head - first_retained + 1) AS events,
    count(*) FILTER (WHERE lease_until > ${NOW_ONCE}) AS leases,
    ${count('documents')}, ${count('checkpoints')}, ${SIZES.join(' + ')} AS bytes
  FROM {partitions}`

export async function reportOf({ peek, names }: Database): Promise<StorageReport> {
  const [server] = await peek(
    `SELECT to_regclass($1)::text AS installed, current_setting('fsync') AS fsync,
      current_setting('synchronous_commit') AS synchronous_commit, current_setting('full_page_writes') AS full_page_writes,
      pg_is_in_recovery()::text AS standby`,
    [names.of('schema_version')],
  )
  const [known] = server!.installed === null ? [] : await peek('SELECT version FROM {schema_version}')
  const version = Number(known?.version ?? 0)
  const [held] = version === 0 ? [] : await peek(COUNTS)
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

function* warningsOf({ synchronous_commit, fsync, full_page_writes, standby }: Row): Generator<string> {
  if (synchronous_commit === 'off') {
    yield 'synchronous_commit is off: a crash of the server loses the last acknowledged writes.'
  }
  if (fsync === 'off' || full_page_writes === 'off') {
    yield 'fsync or full_page_writes is off: a crash of the machine can corrupt the whole database.'
  }
  if (standby === 'true') yield 'The server is a standby: nothing can be written.'
}
