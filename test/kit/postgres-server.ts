import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { freePort } from './listen.ts'
import { eventually } from './wait.ts'

export interface PostgresServer {
  readonly url: string
  start(): Promise<void>
  /** `immediate` ends it as a crash does, without telling its clients. */
  stop(mode?: 'fast' | 'immediate'): Promise<void>
  /** Sends SIGKILL to it and to the processes of its connections. */
  kill(): Promise<void>
  /** Stops it and removes its data. */
  remove(): Promise<void>
}

const PROGRAMS = '/usr/lib/postgresql'
const SIGNALS = { fast: 'SIGINT', immediate: 'SIGQUIT' } as const
/** What protects data against a crash of the whole machine is off, because it costs time. */
const SETTINGS = { fsync: 'off', full_page_writes: 'off', shared_buffers: '32MB', max_connections: '400' }
const PATIENCE = { everyMs: 20, timeoutMs: 200_000 }

/** False where no server is installed. Continuous integration must have one. */
export function hasPostgres(): boolean {
  if (process.env.STORAGES === 'local') return false
  if (existsSync(PROGRAMS)) return true
  const message = `No Postgres server under ${PROGRAMS}: postgresStorage is not tested.`
  if (process.env.CI) throw new Error(message)
  console.log(message)
  return false
}

/** The server that all test files of one run share. It ends with the run. */
export async function sharedPostgres(): Promise<string> {
  const place = join(tmpdir(), `agentwire-postgres-of-${process.ppid}`)
  const ready = join(place, 'url')
  try {
    mkdirSync(place)
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'EEXIST') throw error
    await eventually(() => existsSync(ready), { ...PATIENCE, what: 'The shared Postgres server' })
    return readFileSync(ready, 'utf8')
  }
  const { url } = await startPostgres({ place, until: process.ppid })
  writeFileSync(`${ready}-`, url)
  renameSync(`${ready}-`, ready)
  return url
}

/** A server on a free port and in a new directory. It ends with this process at the latest. */
export async function startPostgres({
  place = mkdtempSync(join(tmpdir(), 'agentwire-postgres-')),
  until: watched = process.pid,
  settings = {} as Readonly<Record<string, string>>,
} = {}): Promise<PostgresServer> {
  const owner = serverUser()
  if (owner) chownSync(place, owner.uid, owner.gid)
  const newest = readdirSync(PROGRAMS).sort((a, b) => Number(b) - Number(a))[0]!
  const program = (name: string) => join(PROGRAMS, newest, 'bin', name)
  const data = join(place, 'data')
  const init = ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync']
  execFileSync(program('initdb'), init, { ...owner, cwd: place, stdio: 'pipe' })
  const port = await freePort()
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  const all = {
    ...SETTINGS,
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: place,
    ...settings,
  }
  endWith(watched, place)
  let server: ChildProcess | undefined
  let ended: Promise<void> | undefined

  async function stop(mode: 'fast' | 'immediate' = 'fast'): Promise<void> {
    server?.kill(SIGNALS[mode])
    await ended
  }

  async function kill(): Promise<void> {
    const of = server!.pid!
    const pids = readFileSync(`/proc/${of}/task/${of}/children`, 'utf8')
      .split(' ')
      .filter(Boolean)
      .map(Number)
    for (const pid of [of, ...pids]) process.kill(pid, 'SIGKILL')
    await ended
    // A new server refuses to start while one of them has the shared memory.
    await eventually(() => pids.every((pid) => !existsSync(`/proc/${pid}`)), {
      ...PATIENCE,
      what: 'Their end',
    })
  }

  const self: PostgresServer = {
    url,
    kill,
    async start() {
      const log = openSync(join(place, 'log'), 'a')
      const set = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
      const stdio = ['ignore', log, log] as const
      const child = spawn(program('postgres'), ['-D', data, ...set], {
        ...owner,
        cwd: place,
        stdio: [...stdio],
      })
      child.unref()
      server = child
      ended = new Promise((resolve) => {
        child.once('exit', () => resolve())
      })
      await eventually(
        async () => {
          if (child.exitCode !== null)
            throw new Error(`Postgres ended: ${readFileSync(join(place, 'log'), 'utf8')}`)
          return isReady(url)
        },
        { ...PATIENCE, what: 'Postgres' },
      )
    },
    stop,
    async remove() {
      await stop('immediate')
      rmSync(place, { recursive: true, force: true })
    },
  }
  await self.start()
  return self
}

/** Runs one statement on a connection of its own and gives its rows. */
export async function query(url: string, text: string, values: unknown[] = []) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(text, values)).rows
  } finally {
    await client.end()
  }
}

async function isReady(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 })
  client.on('error', () => {})
  try {
    await client.connect()
    return true
  } catch {
    return false
  } finally {
    // Nobody waits for this, because it never settles where the server went away meanwhile.
    client.end().catch(() => {})
  }
}

/** Stops the server and removes its data when the process is gone, however it ended. */
function endWith(pid: number, place: string): void {
  const script =
    'while kill -0 "$0" 2>/dev/null; do sleep 1; done; ' +
    '[ -f "$1/data/postmaster.pid" ] && kill -QUIT "$(head -n 1 "$1/data/postmaster.pid")"; sleep 1; rm -rf "$1"'
  spawn('sh', ['-c', script, String(pid), place], { detached: true, stdio: 'ignore' }).unref()
}

/** Postgres does not run as root. */
function serverUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const [, , uid, gid] = /^postgres:.*$/m.exec(readFileSync('/etc/passwd', 'utf8'))![0].split(':')
  return { uid: Number(uid), gid: Number(gid) }
}
