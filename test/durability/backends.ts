import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { hasPostgres, sharedPostgres } from '../support/postgres-server.ts'

/** A database of its own for a group of instances. */
export interface Database {
  readonly url: string
  remove(): Promise<void>
}

export interface Backend {
  readonly name: 'sqlite' | 'postgres' | 'redis'
  create(): Promise<Database>
}

const sqlite: Backend = {
  name: 'sqlite',
  async create() {
    const place = mkdtempSync(join(tmpdir(), 'agentwire-durability-'))
    return {
      url: `file:${join(place, 'store.db')}`,
      remove: async () => rmSync(place, { recursive: true, force: true }),
    }
  },
}

let databases = 0

const postgres: Backend = {
  name: 'postgres',
  async create() {
    const server = await sharedPostgres()
    const name = `durability_${process.pid}_${++databases}`
    await admin(server, `CREATE DATABASE ${name}`)
    return {
      url: Object.assign(new URL(server), { pathname: `/${name}` }).href,
      remove: async () => void (await admin(server, `DROP DATABASE ${name} WITH (FORCE)`)),
    }
  },
}

/** One statement on a connection of its own. */
export async function admin(url: string, text: string, values: unknown[] = []) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(text, values)).rows
  } finally {
    await client.end()
  }
}

const available: readonly Backend[] = [sqlite, ...(hasPostgres() ? [postgres] : [])]
const wanted = process.env.DURABILITY_BACKENDS?.split(',')

/** Those that can be had on this machine. `DURABILITY_BACKENDS=sqlite,postgres` chooses among them. */
export const backends = available.filter(({ name }) => wanted === undefined || wanted.includes(name))
