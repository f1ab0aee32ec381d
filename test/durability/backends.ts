import { mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import pg from 'pg'
import { afterAll } from 'vitest'
import { hasPostgres, sharedPostgres } from '../kit/postgres-server.ts'
import { hasRedis, type RedisServer, startRedis } from '../kit/redis-server.ts'

/** A database of its own for a group of instances. */
export interface Database {
  readonly url: string
  /** The same, for instances: their connections are counted. */
  readonly instanceUrl: string
  remove(): Promise<void>
}

export interface Backend {
  readonly name: 'sqlite' | 'postgres' | 'redis'
  create(): Promise<Database>
  /** The connections to a database that the processes have now. */
  connections(database: Database, processes: readonly { readonly pid: number }[]): Promise<number>
  /** The most that so many processes may have, whatever they do. */
  connectionsOf(processes: number): number
}

const sqlite: Backend = {
  name: 'sqlite',
  async create() {
    const place = mkdtempSync(join(tmpdir(), 'agentwire-durability-'))
    const url = `file:${join(place, 'store.db')}`
    return {
      url,
      instanceUrl: url,
      remove: async () => rmSync(place, { recursive: true, force: true }),
    }
  },
  async connections({ url }, processes) {
    const file = url.slice('file:'.length)
    const open = processes.flatMap(({ pid }) => openFiles(pid))
    return open.filter((path) => path === file).length
  },
  connectionsOf: (processes) => processes,
}

/** What a process has open, as paths. */
function openFiles(pid: number): string[] {
  const place = `/proc/${pid}/fd`
  return readdirSync(place).flatMap((fd) => {
    try {
      return [readlinkSync(join(place, fd))]
    } catch {
      return [] // Closed meanwhile.
    }
  })
}

let databases = 0

const INSTANCE = 'instance'

const postgres: Backend = {
  name: 'postgres',
  async create() {
    const server = await sharedPostgres()
    const name = `durability_${process.pid}_${++databases}`
    await admin(server, `CREATE DATABASE ${name}`)
    const url = Object.assign(new URL(server), { pathname: `/${name}` }).href
    return {
      url,
      instanceUrl: `${url}?application_name=${INSTANCE}`,
      remove: async () => void (await admin(server, `DROP DATABASE ${name} WITH (FORCE)`)),
    }
  },
  async connections({ url }) {
    const text = `SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1`
    const [row] = await admin(url, text, [INSTANCE])
    return Number(row!.n)
  },
  // A pool of ten and one that listens.
  connectionsOf: (processes) => processes * 11,
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

let sharedRedis: Promise<RedisServer> | undefined
afterAll(async () => (await sharedRedis)?.remove())

const redis: Backend = {
  name: 'redis',
  async create() {
    sharedRedis ??= startRedis({ databases: '1000' })
    const url = `${(await sharedRedis).url}/${++databases}`
    return { url, instanceUrl: `${url}?connectionName=${INSTANCE}`, remove: async () => {} }
  },
  async connections({ url }) {
    const client = new Redis(url)
    const list = String(await client.client('LIST'))
    client.disconnect()
    const db = new URL(url).pathname.slice(1)
    return list
      .split('\n')
      .filter((line) => line.includes(`name=${INSTANCE} `) && line.includes(` db=${db} `)).length
  },
  // One for commands and one that subscribes.
  connectionsOf: (processes) => processes * 2,
}

const available: readonly Backend[] = [
  sqlite,
  ...(hasPostgres() ? [postgres] : []),
  ...(hasRedis() ? [redis] : []),
]
const wanted = process.env.DURABILITY_BACKENDS?.split(',')

/** Those that can be had on this machine. `DURABILITY_BACKENDS=sqlite,postgres` chooses among them. */
export const backends = available.filter(({ name }) => wanted === undefined || wanted.includes(name))
