import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { AgentwireError } from '../../core/errors.ts'
import type { StorageReport } from '../durable.ts'
import { EMPTY_COUNTS, readCounts } from '../durable-storage.ts'
import { type Connection, type SqliteDatabase, toUnavailable } from './connection.ts'
import type { Database } from './database.ts'
import { migrations, versionOf } from './migrate.ts'

/** `path`: the file, if this library opens it. */
export async function reportOf(database: Database, path: string | undefined): Promise<StorageReport> {
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

interface DatabaseConstructor {
  new (path: string): SqliteDatabase
}

/** Opens the file with `node:sqlite` in Node 22 or newer, otherwise with the package `libsql`. */
export async function openFile(path: string): Promise<SqliteDatabase> {
  const Database = builtIn() ?? (await libsql())
  return new Database(path)
}

/** Undefined before Node 22.13. Not an import, which would fail there and which bundlers would follow. */
function builtIn(): DatabaseConstructor | undefined {
  const sqlite = globalThis.process?.getBuiltinModule?.('node:sqlite') as
    | { readonly DatabaseSync: DatabaseConstructor }
    | undefined
  return sqlite?.DatabaseSync
}

async function libsql(): Promise<DatabaseConstructor> {
  try {
    return (await import('libsql')).default as unknown as DatabaseConstructor
  } catch (cause) {
    throw new AgentwireError(
      'missing_package',
      'This runtime has no node:sqlite: npm install libsql, or pass sqliteStorage a database from better-sqlite3.',
      { cause },
    )
  }
}

/**
 * Accepts `file:` URLs and plain paths. Rejects databases in memory, which a second connection would not see.
 */
export function pathOf(url: string): string {
  const path = url.startsWith('file://') ? fileURLToPath(url) : url.replace(/^file:/, '')
  if (path === '' || path.startsWith(':memory:')) {
    throw new AgentwireError(
      'invalid_argument',
      'sqliteStorage needs a file. For a store in memory use memoryStore and memoryCheckpointer.',
    )
  }
  if (/^[a-z][a-z0-9+.-]+:/i.test(path) || path.includes('?')) {
    throw new AgentwireError(
      'invalid_argument',
      'sqliteStorage takes a path or a file: URL without parameters.',
    )
  }
  return path
}
