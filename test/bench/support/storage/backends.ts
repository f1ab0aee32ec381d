import { mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import pg from 'pg'
import { hasPostgres, startPostgres } from '../../../kit/postgres-server.ts'
import { hasRedis, startRedis } from '../../../kit/redis-server.ts'

/** A database to measure, in a process of its own where it is a server. */
export interface Backend {
  readonly name: string
  readonly url: string
  /** How many connections, or open handles of the file, that process of ours has. */
  connections(pid: number): Promise<number>
  /** What one process may have at most, whatever it serves. */
  readonly bound: number
  stop(): Promise<void>
}

/** As in production: what is acknowledged is on the disk. */
const DURABLE = { fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on', shared_buffers: '128MB' }

/** `BENCH_STORAGE=sqlite` or another name leaves the others out; so does a server that is not installed. */
export async function withBackends<Result>(use: (backend: Backend) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = []
  for (const [name, { installed, start }] of Object.entries(BACKENDS)) {
    if ((process.env.BENCH_STORAGE ?? name) !== name || !installed()) continue
    const backend = await start()
    try {
      results.push(await use(backend))
    } finally {
      await backend.stop()
    }
  }
  return results
}

const BACKENDS = {
  sqlite: { installed: () => true, start: startSqlite },
  postgres: { installed: hasPostgres, start: startPostgresBackend },
  redis: { installed: hasRedis, start: startRedisBackend },
}

async function startSqlite(): Promise<Backend> {
  const folder = mkdtempSync(join(tmpdir(), 'agentwire-bench-'))
  const path = join(folder, 'bench.db')
  return {
    name: 'sqlite',
    url: `file:${path}`,
    async connections(pid) {
      const files = readdirSync(`/proc/${pid}/fd`).map((fd) => linkOf(`/proc/${pid}/fd/${fd}`))
      return files.filter((file) => file === path).length
    },
    bound: 1,
    stop: async () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** Of a descriptor that may be closed by now. */
function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}

async function startPostgresBackend(): Promise<Backend> {
  const server = await startPostgres({ settings: DURABLE })
  return {
    name: 'postgres',
    url: server.url,
    async connections() {
      const client = new pg.Client({ connectionString: server.url })
      await client.connect()
      const { rows } = await client.query(
        `SELECT count(*)::integer AS count FROM pg_stat_activity WHERE application_name = 'agentwire'`,
      )
      await client.end()
      return rows[0].count
    },
    // The pool's ten and the one that listens.
    bound: 11,
    stop: () => keepAlive(server.remove()),
  }
}

async function startRedisBackend(): Promise<Backend> {
  const server = await startRedis({ appendonly: 'yes', appendfsync: 'everysec' })
  return {
    name: 'redis',
    url: server.url,
    async connections() {
      const client = new Redis(server.url)
      const list = String(await client.client('LIST'))
      client.disconnect()
      // Without the one that asked.
      return list.trim().split('\n').length - 1
    },
    bound: 2,
    stop: () => keepAlive(server.remove()),
  }
}

/** The servers of tests do not keep their process alive, also while it waits for their end. */
async function keepAlive(work: Promise<void>): Promise<void> {
  const timer = setInterval(() => {}, 1_000)
  await work
  clearInterval(timer)
}
