import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { AgentwireError } from '../../core/errors.ts'
import { checkOptions, type OptionTable } from '../../core/options.ts'
import type { DurableStorage, DurableStorageOptions, StorageReport } from '../durable.ts'
import {
  createDurableStorage,
  DEADLINE_MS,
  DURABLE_OPTIONS,
  EMPTY_COUNTS,
  PREFIX,
  readCounts,
} from '../durable-storage.ts'
import { type Connection, openFile, pathOf, type SqliteDatabase, toUnavailable } from './connection.ts'
import { createDatabase, type Database } from './database.ts'
import { migrations, type Synchronous, versionOf } from './migrate.ts'
import { createTables } from './saver/tables.ts'
import { createNotifier } from './store/notifier.ts'
import { createStore } from './store/store.ts'

export type * from '../durable.ts'
export type { SqliteDatabase, SqliteStatement } from './connection.ts'
export type { Synchronous } from './migrate.ts'

export interface SqliteStorageOptions extends DurableStorageOptions {
  /**
   * A database of `better-sqlite3`, `libsql` or `node:sqlite`. Do not use it for anything else, because its
   * `busy_timeout` is changed. `close` leaves it open. Either `database` or `url` is required.
   */
  readonly database?: SqliteDatabase | undefined
  /**
   * `file:…` or a path, opened with `node:sqlite` if the runtime has it, otherwise with the package `libsql`.
   */
  readonly url?: string | undefined
  /**
   * `normal`: commits survive the end of the process; a power failure may lose the last ones. `full`: commits
   * survive that too, but each waits for the disk. Default `normal`.
   */
  readonly synchronous?: Synchronous | undefined
  /**
   * How often to check for commits of other connections while there are listeners, in milliseconds. Default
   * 15.
   */
  readonly pollMs?: number | undefined
}

const SQLITE_OPTIONS: OptionTable<Omit<SqliteStorageOptions, keyof DurableStorageOptions>> = {
  database: 'object',
  url: 'string',
  synchronous: 'string',
  pollMs: 'number',
}

const COALESCE_MS = 10
const POLL_MS = 15
const FIT = /^[A-Za-z_][A-Za-z0-9_]*$/

/**
 * A store and a saver in one SQLite file in WAL mode. Any number of processes on one machine can share it. A
 * call blocks the event loop while its statements run, but not while it waits for another process. Within one
 * process, open a file with one SQLite library only: two libraries do not see each other's locks
 * (https://www.sqlite.org/howtocorrupt.html).
 *
 * Every call throws `UnavailableError` if the file cannot be read or written.
 */
export function sqliteStorage(options: SqliteStorageOptions): DurableStorage {
  checkOptions('sqliteStorage', options, DURABLE_OPTIONS, SQLITE_OPTIONS)
  const { database: given, url, prefix = PREFIX, serde } = options
  const { deadlineMs = DEADLINE_MS, pollMs = POLL_MS, synchronous = 'normal' } = options
  if ((given === undefined) === (url === undefined)) {
    throw new AgentwireError('invalid_argument', 'Pass sqliteStorage either a database or a url.')
  }
  if (!FIT.test(prefix)) {
    throw new AgentwireError(
      'invalid_argument',
      'The prefix of sqliteStorage must be letters, digits and underscores.',
    )
  }
  const path = url === undefined ? undefined : pathOf(url)
  const open = async () => (path === undefined ? given! : openFile(path))
  const database = createDatabase({ open, owned: given === undefined, prefix, synchronous, deadlineMs })
  const notifier = createNotifier(database, pollMs)
  return createDurableStorage({
    name: 'sqlite',
    coalesceMs: COALESCE_MS,
    database,
    notifier,
    calls: createStore(database, notifier, options),
    tables: createTables(database),
    serde,
    report: () => reportOf(database, path),
    close() {
      notifier.close()
      return database.close()
    },
  })
}

/** `path`: the file, if this library opens it. */
async function reportOf(database: Database, path: string | undefined): Promise<StorageReport> {
  database.assertOpen()
  const newest = migrations.length
  const about = { name: 'sqlite', reachable: true, durable: true } as const
  if (path !== undefined && isMissing(path)) {
    const warnings = ['The file does not exist yet.']
    return { ...about, schema: { version: 0, newest }, warnings, counts: EMPTY_COUNTS, bytes: 0 }
  }
  return database.peek((connection) => {
    const version = versionOf(connection, database.prefix)
    const counts = version === 0 ? EMPTY_COUNTS : countAll(connection)
    return { ...about, schema: { version, newest }, warnings: [], counts, bytes: bytesOf(connection) }
  })
}

/**
 * Whether the file is missing. Throws if it could not be created either. Called first, because SQLite creates
 * a file that it opens.
 */
function isMissing(path: string): boolean {
  if (existsSync(path)) return false
  try {
    accessSync(dirname(path), constants.W_OK)
    return true
  } catch (error) {
    throw toUnavailable(error, false)
  }
}

function countAll({ get }: Connection) {
  const row = get(
    `SELECT count(*) AS partitions, sum(head - first_retained + 1) AS events, sum(lease_until > ?) AS leases,
        (SELECT count(*) FROM {documents}) AS documents, (SELECT count(*) FROM {checkpoints}) AS checkpoints
      FROM {partitions}`,
    Date.now(),
  )
  return readCounts(row as Parameters<typeof readCounts>[0])
}

/** The size of the file and its write-ahead log. */
function bytesOf({ get }: Connection): number {
  const file = get(`SELECT file FROM pragma_database_list WHERE name = 'main'`)?.file as string
  const sizes = [file, `${file}-wal`].map((path) => statSync(path, { throwIfNoEntry: false })?.size ?? 0)
  return sizes.reduce((sum, size) => sum + size, 0)
}
