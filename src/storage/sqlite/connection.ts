import type { Row, SqliteDatabase, SqliteStatement, SqliteValue } from './driver.ts'

/** A database with its statements: each is prepared once. Every call is synchronous and throws what the driver throws. */
export interface Connection {
  run(sql: string, ...parameters: SqliteValue[]): void
  get(sql: string, ...parameters: SqliteValue[]): Row | undefined
  all(sql: string, ...parameters: SqliteValue[]): Row[]
  exec(sql: string): void
}

/** Beyond the distinct statements of this library, but for lists with many kinds of conditions. */
const MAX_STATEMENTS = 200

export function createConnection(database: SqliteDatabase): Connection {
  const statements = new Map<string, SqliteStatement>()

  function statement(sql: string): SqliteStatement {
    let known = statements.get(sql)
    if (!known) {
      known = database.prepare(sql)
      if (statements.size >= MAX_STATEMENTS) statements.clear()
      statements.set(sql, known)
    }
    return known
  }

  return {
    run: (sql, ...parameters) => void statement(sql).run(...parameters),
    // node:sqlite and better-sqlite3 give undefined for no row.
    get: (sql, ...parameters) => (statement(sql).get(...parameters) ?? undefined) as Row | undefined,
    all: (sql, ...parameters) => statement(sql).all(...parameters) as Row[],
    exec: (sql) => void database.exec(sql),
  }
}
