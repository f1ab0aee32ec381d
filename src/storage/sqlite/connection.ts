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
