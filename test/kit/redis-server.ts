import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './listen.ts'
import { eventually } from './wait.ts'

export interface RedisServer {
  readonly url: string
  readonly port: number
  start(): Promise<void>
  /** Kills it, as a crash does. What it wrote to its files is there when it starts again. */
  kill(): Promise<void>
  /** Stops the process without ending it, so that it answers nobody until `resume`. */
  stall(): void
  resume(): void
  /** Kills it and removes its files. */
  remove(): Promise<void>
}

const PROGRAM = 'redis-server'
const SETTINGS = { appendonly: 'yes', appendfsync: 'everysec', save: '' }

/** False where no server is installed. Continuous integration must have one. */
export function hasRedis(): boolean {
  if (process.env.STORAGES === 'local') return false
  try {
    execFileSync(PROGRAM, ['--version'], { stdio: 'pipe' })
    return true
  } catch {
    const message = `No ${PROGRAM} is installed: redisStorage is not tested.`
    if (process.env.CI) throw new Error(message)
    console.log(message)
    return false
  }
}

/** A server on a free port and in a new directory. It ends with this process at the latest. */
export async function startRedis(settings: Readonly<Record<string, string>> = {}): Promise<RedisServer> {
  const place = mkdtempSync(join(tmpdir(), 'agentwire-redis-'))
  const port = await freePort()
  const all = { ...SETTINGS, bind: '127.0.0.1', port: String(port), dir: place, ...settings }
  let server: ChildProcess | undefined
  let ended: Promise<void> | undefined

  const self: RedisServer = {
    url: `redis://127.0.0.1:${port}`,
    port,
    async start() {
      const log = openSync(join(place, 'log'), 'a')
      const child = spawn(
        PROGRAM,
        Object.entries(all).flatMap(([name, value]) => [`--${name}`, value]),
        { stdio: ['ignore', log, log] },
      )
      endWith(process.pid, child.pid!, place)
      server = child
      ended = new Promise((resolve) => {
        child.once('exit', () => resolve())
      })
      await eventually(
        async () => {
          if (child.exitCode !== null)
            throw new Error(`Redis ended: ${readFileSync(join(place, 'log'), 'utf8')}`)
          return isReady(port)
        },
        { everyMs: 20, timeoutMs: 30_000, what: 'Redis' },
      )
    },
    async kill() {
      server?.kill('SIGKILL')
      await ended
    },
    stall: () => void server?.kill('SIGSTOP'),
    resume: () => void server?.kill('SIGCONT'),
    async remove() {
      await self.kill()
      rmSync(place, { recursive: true, force: true })
    },
  }
  await self.start()
  return self
}

/** Kills the server and removes its files when the process is gone, however it ended. */
function endWith(pid: number, server: number, place: string): void {
  const script =
    'while kill -0 "$0" 2>/dev/null && kill -0 "$1" 2>/dev/null; do sleep 1; done; ' +
    'kill -0 "$0" 2>/dev/null && exit; kill -KILL "$1" 2>/dev/null; rm -rf "$2"'
  const watcher = spawn('sh', ['-c', script, String(pid), String(server), place], {
    detached: true,
    stdio: 'ignore',
  })
  watcher.unref()
}

/** Whether it answers and has read its files. */
function isReady(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'))
    socket.once('data', (bytes) => {
      socket.destroy()
      resolve(bytes.toString().startsWith('+PONG'))
    })
    socket.once('error', () => resolve(false))
  })
}
