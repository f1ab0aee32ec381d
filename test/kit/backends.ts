import { mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Redis from 'ioredis'
import { databaseFolder } from './folder.ts'
import { hasPostgres, query, sharedPostgres, startPostgres } from './postgres-server.ts'
import { hasRedis, type RedisServer, startRedis } from './redis-server.ts'

/** An empty database. */
export interface Database {
  readonly url: string
  /** The same database under a name, for the processes whose connections are counted. */
  readonly instanceUrl: string
  remove(): Promise<void>
}

/** A kind of database that outlives its processes. Nothing here needs a test runner, because benchmarks use it as well. */
export interface Backend {
  readonly name: 'sqlite' | 'postgres' | 'redis'
  /** False where its server is not installed, or the run leaves it to another one: see `STORAGES` in vitest.config.ts. */
  installed(): boolean
  /** A database on the server that the tests share. That server ends with them. */
  create(): Promise<Database>
  /** A database on a server of its own, which writes as in production. */
  createDurable(): Promise<Database>
  /** How many connections, or open handles of the file, the processes have through `instanceUrl`. */
  connections(database: Database, processes: readonly { readonly pid: number }[]): Promise<number>
  /** How many one process may have at most, whatever it serves. */
  readonly connectionsPerProcess: number
}

const INSTANCE = 'instance'
let databases = 0

export const sqlite: Backend = {
  name: 'sqlite',
  installed: () => process.env.STORAGES !== 'servers',
  create: async () => fileIn(databaseFolder()),
  createDurable: async () => fileIn(mkdtempSync(join(tmpdir(), 'agentwire-sqlite-'))),
  async connections({ url }, processes) {
    const file = url.slice('file:'.length)
    const open = processes.flatMap(({ pid }) => openFiles(pid))
    return open.filter((path) => path === file).length
  },
  connectionsPerProcess: 1,
}

function fileIn(place: string): Database {
  const url = `file:${join(place, 'store.db')}`
  return { url, instanceUrl: url, remove: async () => rmSync(place, { recursive: true, force: true }) }
}

/** The paths of all files that a process has open. */
function openFiles(pid: number): string[] {
  const place = `/proc/${pid}/fd`
  return readdirSync(place).flatMap((fd) => {
    try {
      return [readlinkSync(join(place, fd))]
    } catch {
      return [] // It was closed meanwhile.
    }
  })
}

/** What is acknowledged is on the disk. */
const DURABLE = { fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on', shared_buffers: '128MB' }

export const postgres: Backend = {
  name: 'postgres',
  installed: hasPostgres,
  async create() {
    const server = await sharedPostgres()
    const name = `test_${process.pid}_${++databases}`
    await query(server, `CREATE DATABASE ${name}`)
    return {
      ...named(Object.assign(new URL(server), { pathname: `/${name}` }).href),
      remove: async () => void (await query(server, `DROP DATABASE ${name} WITH (FORCE)`)),
    }
  },
  async createDurable() {
    const server = await startPostgres({ settings: DURABLE })
    return { ...named(server.url), remove: () => keepAlive(server.remove()) }
  },
  async connections({ url }) {
    const text = `SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1`
    const [row] = await query(url, text, [INSTANCE])
    return Number(row!.n)
  },
  // A pool has ten, and one more listens.
  connectionsPerProcess: 11,
}

const named = (url: string) => ({ url, instanceUrl: `${url}?application_name=${INSTANCE}` })

let sharedRedis: Promise<RedisServer> | undefined

export const redis: Backend = {
  name: 'redis',
  installed: hasRedis,
  async create() {
    sharedRedis ??= startRedis({ databases: '10000' })
    return { ...connected(`${(await sharedRedis).url}/${++databases}`), remove: async () => {} }
  },
  async createDurable() {
    const server = await startRedis({ appendonly: 'yes', appendfsync: 'everysec' })
    return { ...connected(`${server.url}/0`), remove: () => keepAlive(server.remove()) }
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
  // One sends commands, and one subscribes.
  connectionsPerProcess: 2,
}

const connected = (url: string) => ({ url, instanceUrl: `${url}?connectionName=${INSTANCE}` })

/** Every kind of database, installed or not. */
export const BACKENDS: readonly Backend[] = [sqlite, postgres, redis]

/** The servers do not keep their process alive. Without this it would end while it waits for theirs. */
async function keepAlive(work: Promise<void>): Promise<void> {
  const timer = setInterval(() => {}, 1_000)
  await work
  clearInterval(timer)
}
