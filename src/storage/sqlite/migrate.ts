import { AgentwireError } from '../../core/errors.ts'
import type { Connection } from './connection.ts'
import { migrations } from './migrations.ts'

/** The modes of https://www.sqlite.org/pragma.html#pragma_synchronous that are safe in WAL mode. */
export type Synchronous = 'normal' | 'full'

/** WAL is a property of the file, the other settings of the connection. */
export function configure({ get, exec }: Connection, busyMs: number, synchronous: Synchronous): void {
  exec(`PRAGMA busy_timeout = ${busyMs}`)
  const mode = get('PRAGMA journal_mode = WAL')?.journal_mode
  if (mode !== 'wal') {
    throw unfit(
      `The database must be a file that several connections can share in WAL mode; it is in mode ${mode}.`,
    )
  }
  exec(`PRAGMA synchronous = ${synchronous.toUpperCase()}`)
  if (get('PRAGMA encoding')?.encoding !== 'UTF-8') throw unfit('The database must be encoded in UTF-8.')
}

/** Migrates the tables to this library's version, in a transaction with the write lock. */
export function migrate(connection: Connection, prefix: string): void {
  const { exec, get, run } = connection
  // Another process may have migrated already, possibly to a newer version.
  if (isMigrated(connection, prefix)) return
  exec(`CREATE TABLE IF NOT EXISTS ${prefix}schema_version (version INTEGER NOT NULL)`)
  const version = get('SELECT version FROM {schema_version}')?.version
  if (version === undefined) run('INSERT INTO {schema_version} VALUES (0)')
  for (const migration of migrations.slice(Number(version ?? 0))) exec(migration(prefix))
  run('UPDATE {schema_version} SET version = ?', migrations.length)
}

/** Without a lock. */
export function isMigrated(connection: Connection, prefix: string): boolean {
  const version = versionOf(connection, prefix)
  if (version <= migrations.length) return version === migrations.length
  throw unfit('A newer version of this library has migrated the database: update this one too.')
}

/** 0 if nothing is installed. */
export function versionOf({ get }: Connection, prefix: string): number {
  const sql = `SELECT name FROM sqlite_master WHERE type = 'table' AND name = ?`
  if (get(sql, `${prefix}schema_version`) === undefined) return 0
  return Number(get('SELECT version FROM {schema_version}')?.version ?? 0)
}

const unfit = (message: string): AgentwireError => new AgentwireError('unfit_database', message)
