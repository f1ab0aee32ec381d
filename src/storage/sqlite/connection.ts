import { fileURLToPath } from 'node:url'
import { AgentwireError } from '../../core/errors.ts'
import { UnavailableError } from '../errors.ts'

/** A column or a parameter. Drivers return bytes as Uint8Array, Buffer or ArrayBuffer. */
export type SqliteValue = null | number | bigint | string | Uint8Array | ArrayBuffer

/** Structurally a database of `better-sqlite3`, `libsql` or `node:sqlite`. */
export interface SqliteDatabase {
  prepare(sql: string): SqliteStatement
  exec(sql: string): unknown
  close(): unknown
}

/** Structurally a prepared statement of one of them. Each has its own parameter type. */
export interface SqliteStatement {
  run(...parameters: unknown[]): unknown
  get(...parameters: unknown[]): unknown
  all(...parameters: unknown[]): unknown[]
}

export type Row = Readonly<Record<string, SqliteValue>>

/** A view of a blob's bytes. */
export function bytesOf(value: SqliteValue | undefined): Uint8Array {
  if (value instanceof Uint8Array) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
  return value instanceof ArrayBuffer ? new Uint8Array(value) : new Uint8Array(0)
}

/**
 * A database with its statements, each prepared once. `{documents}` in a statement is the table with that
 * name. Every call is synchronous and throws the driver's errors.
 */
export interface Connection {
  run(sql: string, ...parameters: SqliteValue[]): void
  get(sql: string, ...parameters: SqliteValue[]): Row | undefined
  all(sql: string, ...parameters: SqliteValue[]): Row[]
  exec(sql: string): void
}

/** More than this library's distinct statements, except for lists with many kinds of conditions. */
const MAX_STATEMENTS = 200

export function createConnection(database: SqliteDatabase, prefix: string): Connection {
  const statements = new Map<string, SqliteStatement>()

  function statement(sql: string): SqliteStatement {
    let known = statements.get(sql)
    if (!known) {
      known = database.prepare(sql.replace(/\{(\w+)\}/g, `${prefix}$1`))
      if (statements.size >= MAX_STATEMENTS) statements.clear()
      statements.set(sql, known)
    }
    return known
  }

  return {
    run: (sql, ...parameters) => void statement(sql).run(...parameters),
    // node:sqlite and better-sqlite3 return undefined if there is no row.
    get: (sql, ...parameters) => (statement(sql).get(...parameters) ?? undefined) as Row | undefined,
    all: (sql, ...parameters) => statement(sql).all(...parameters) as Row[],
    exec: (sql) => void database.exec(sql),
  }
}

const BUSY = 5
const LOCKED = 6
const IO_ERROR = 10

/** Whether another connection holds the lock, so that a retry makes sense. */
export function isBusy(error: unknown): boolean {
  const code = resultCode(error)
  return code === BUSY || code === LOCKED
}

/** A driver's error as the caller sees it. `committing`: it came from COMMIT. */
export function toUnavailable(error: unknown, committing: boolean): UnavailableError {
  const detail = error instanceof Error ? error.message : String(error)
  // After any other COMMIT error, the transaction is rolled back.
  const written = committing && resultCode(error) === IO_ERROR ? 'unknown' : 'no'
  return new UnavailableError(`SQLite: ${detail}.`, { written, cause: error })
}

const NAMES: readonly [name: string, code: number][] = [
  ['SQLITE_BUSY', BUSY],
  ['SQLITE_LOCKED', LOCKED],
  ['SQLITE_IOERR', IO_ERROR],
]

/** The primary result code (https://www.sqlite.org/rescode.html), if it matters here. */
function resultCode(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined
  const { code, errcode } = error as { code?: unknown; errcode?: unknown }
  // node:sqlite returns the extended code, whose lower byte is the primary one; the others return its name.
  if (typeof errcode === 'number') return errcode & 0xff
  return typeof code === 'string' ? NAMES.find(([name]) => code.startsWith(name))?.[1] : undefined
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
