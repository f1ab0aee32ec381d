/** What a value of a column or a parameter can be here. Drivers give bytes as Uint8Array, Buffer or ArrayBuffer. */
export type SqliteValue = null | number | bigint | string | Uint8Array | ArrayBuffer

/** Structurally a database of `better-sqlite3`, `libsql` or `node:sqlite`. */
export interface SqliteDatabase {
  prepare(sql: string): SqliteStatement
  exec(sql: string): unknown
  close(): unknown
}

/** Structurally a prepared statement of one of them. Each has a type of its own for parameters. */
export interface SqliteStatement {
  run(...parameters: unknown[]): unknown
  get(...parameters: unknown[]): unknown
  all(...parameters: unknown[]): unknown[]
}

export type Row = Readonly<Record<string, SqliteValue>>

/** A view of the bytes of a blob. */
export function bytesOf(value: SqliteValue | undefined): Uint8Array {
  if (value instanceof Uint8Array) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
  return value instanceof ArrayBuffer ? new Uint8Array(value) : new Uint8Array(0)
}
