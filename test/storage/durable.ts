import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import type { Serde } from '../../src/storage/checkpointer/serde.ts'
import type { DurableStorage } from '../../src/storage/durable.ts'
import { postgresStorage } from '../../src/storage/postgres/postgres.ts'
import { sqliteStorage } from '../../src/storage/sqlite/sqlite.ts'
import type { RetentionOptions } from '../../src/storage/store/retention.ts'
import { databaseFolder } from '../kit/folder.ts'
import { hasPostgres, sharedPostgres } from '../kit/postgres-server.ts'

/** A handle on one database, as another process would have it. */
export interface Open {
  (options?: RetentionOptions & { readonly serde?: Serde }): DurableStorage
  /** Of the database, for a client of one's own. */
  readonly url: string
  /** Undefined where the database has none. */
  readonly schema: string | undefined
}

export interface Backend {
  readonly name: string
  /** A database with nothing in it. What was opened is closed, and the database removed, when the tests of the file are over. */
  create(): Promise<Open>
}

let schemas = 0

/** Every storage that outlives its process, as far as this machine has it. */
export function durableBackends(): readonly Backend[] {
  const directory = databaseFolder()
  const opened: DurableStorage[] = []
  afterAll(async () => {
    await Promise.all(opened.map((storage) => storage.close()))
    rmSync(directory, { recursive: true, force: true })
  })
  const keep = (storage: DurableStorage): DurableStorage => {
    opened.push(storage)
    return storage
  }
  let files = 0
  const sqlite: Backend = {
    name: 'sqlite',
    async create() {
      const url = join(directory, `${files++}.db`)
      const open = (options = {}) => keep(sqliteStorage({ url, ...options }))
      return Object.assign(open, { url, schema: undefined })
    },
  }
  const postgres: Backend = {
    name: 'postgres',
    async create() {
      const url = await sharedPostgres()
      const schema = `durable_${process.pid}_${schemas++}`
      const open = (options = {}) => keep(postgresStorage({ url, schema, ...options }))
      return Object.assign(open, { url, schema })
    },
  }
  return hasPostgres() ? [sqlite, postgres] : [sqlite]
}
