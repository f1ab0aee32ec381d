import { AgentwireError } from '../../core/errors.ts'
import { checkOptions, type OptionTable } from '../../core/options.ts'
import type { DurableStorage, DurableStorageOptions } from '../durable.ts'
import { createDurableStorage, DEADLINE_MS, DURABLE_OPTIONS, PREFIX } from '../durable-storage.ts'
import { createDatabase } from './database.ts'
import { createNames } from './names.ts'
import { fromPool, fromUrl, type PostgresPool } from './pool.ts'
import { createTables } from './saver/tables.ts'
import { createNotifier } from './store/notifier.ts'
import { createStore } from './store/store.ts'

export type * from '../durable.ts'
export type { PostgresPool, PostgresPoolClient, PostgresQuery } from './pool.ts'

export interface PostgresStorageOptions extends DurableStorageOptions {
  /** A `Pool` from the package `pg`, which `close` leaves open. Either `pool` or `url` is required. */
  readonly pool?: PostgresPool | undefined
  /** `postgres://…`: opens its own pool with the package `pg`, which must be installed. */
  readonly url?: string | undefined
  /**
   * The schema of the tables, created if missing. Default: the first schema in the connection's
   * `search_path`.
   */
  readonly schema?: string | undefined
}

const POSTGRES_OPTIONS: OptionTable<Omit<PostgresStorageOptions, keyof DurableStorageOptions>> = {
  pool: 'object',
  url: 'string',
  schema: 'string',
}

const COALESCE_MS = 15

/**
 * A store and a saver in one Postgres database, version 13 or newer. It opens one connection in addition to
 * the pool's, for LISTEN. LISTEN does not work through a pooler in transaction mode: there, events of other
 * processes arrive up to a second late.
 *
 * Every call throws `UnavailableError` if the database does not respond within `deadlineMs`.
 */
export function postgresStorage(options: PostgresStorageOptions): DurableStorage {
  checkOptions('postgresStorage', options, DURABLE_OPTIONS, POSTGRES_OPTIONS)
  const { pool, url, schema, prefix = PREFIX, deadlineMs = DEADLINE_MS, serde } = options
  if ((pool === undefined) === (url === undefined)) {
    throw new AgentwireError('invalid_argument', 'Pass postgresStorage either a pool or a url.')
  }
  const database = createDatabase({
    names: createNames(schema, prefix),
    deadlineMs,
    connect: async () => (pool ? fromPool(pool, deadlineMs) : fromUrl(url!, deadlineMs)),
  })
  const notifier = createNotifier(database)
  return createDurableStorage({
    name: 'postgres',
    coalesceMs: COALESCE_MS,
    database,
    notifier,
    calls: createStore(database, notifier, options),
    tables: createTables(database),
    serde,
    report: async () => (await import('./report.ts')).reportOf(database),
    async close() {
      await database.close()
      await notifier.close()
      await database.end()
    },
  })
}
