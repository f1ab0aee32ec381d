import { mkdirSync } from 'node:fs'
import { get } from 'node:http'
// A namespace import, because bundles often start with an import of `createRequire`.
import * as modules from 'node:module'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { pause, within } from '../../../../core/time.ts'
import { DeployError, type DeploymentContext } from '../../deployer.ts'
import { readLines } from '../../run-command.ts'
import { type Ended, type SupervisedCommand, spawnSupervised } from '../../supervised.ts'
import type { Dirs } from '../dirs.ts'
import { BACKEND_HOST } from '../proxy/backend.ts'

export interface ServerOptions {
  readonly command: (port: number) => SupervisedCommand
  readonly log: DeploymentContext['log']
  /** Masks secrets in the server's output. */
  readonly mask: (text: string) => string
  /** How long it may take to be ready, in milliseconds. */
  readonly readyTimeoutMs: number
  /** The time between SIGTERM and SIGKILL, in milliseconds. */
  readonly graceMs: number
}

export type Child = Awaited<ReturnType<typeof startOn>>

const MAX_LINE_BYTES = 16_384
/** How long the output is read after the server has ended, in milliseconds. */
const OUTPUT_MS = 1_000
const PORTS = 3

/** Starts a server on a free port and waits until it is ready. An error contains its last lines. */
export async function startChild(options: ServerOptions, signal: AbortSignal): Promise<Child> {
  for (let tried = 1; ; tried++) {
    const port = await tryPort(0)
    if (port === undefined) throw new DeployError('No free port on this machine.')
    try {
      return await startOn(port, options, signal)
    } catch (error) {
      // Another program may have taken the port first.
      const isFree = (await tryPort(port)) !== undefined
      if (tried === PORTS || signal.aborted || isFree) throw error
      const line = `Port ${port} was taken by another program. The server is being started on another port.`
      options.log(line, 'WARNING')
    }
  }
}

async function startOn(
  port: number,
  { command, log, mask, readyTimeoutMs, graceMs }: ServerOptions,
  signal: AbortSignal,
) {
  signal.throwIfAborted()
  const { stdout, stderr, ended, stop } = await spawnSupervised(command(port))
  const output = createOutput(log)
  const isRead = Promise.all([
    readLines(stdout, MAX_LINE_BYTES, (line) => output.add(line, 'stdout')),
    readLines(stderr, MAX_LINE_BYTES, (line) => output.add(line, 'stderr')),
  ])
  const closed = ended.then(async () => {
    await within(OUTPUT_MS, isRead)
    // A process that cannot be found may still hold the pipes open.
    stdout.destroy()
    stderr.destroy()
  })
  const stopped = async (): Promise<void> => void (await stop(graceMs))
  try {
    await untilReady(port, ended, readyTimeoutMs, signal)
  } catch (error) {
    await stopped()
    await closed
    const tail = mask(output.tail())
    if (!(error instanceof DeployError) || tail === '') throw error
    throw new DeployError(`${error.message} Its last lines:\n${tail}`, { cause: error })
  }
  return { port, ended, stop: stopped }
}

/** Listens on a port briefly, and returns its number. Undefined if that is not possible. */
function tryPort(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(undefined))
    server.listen({ port, host: BACKEND_HOST }, () => {
      const address = server.address()
      server.close(() => resolve(address !== null && typeof address === 'object' ? address.port : undefined))
    })
  })
}

/** The maximum number of log lines per second. Further lines are dropped. */
const LINES_PER_SECOND = 1_000
const CHARACTERS_PER_SECOND = 1 << 20

const TAIL_LINES = 20
const TAIL_CHARACTERS = 500

/** Passes a server's lines to its log, at a rate that memory and store can handle. */
export function createOutput(log: DeploymentContext['log']) {
  const tail: string[] = []
  let lines = 0
  let characters = 0
  let dropped = 0
  let isCounting = false

  function endSecond(): void {
    if (dropped > 0) log(`${dropped} lines were omitted here: the server writes too much output.`, 'WARNING')
    lines = characters = dropped = 0
    isCounting = false
  }

  return {
    add(line: string, stream: 'stdout' | 'stderr'): void {
      if (!isCounting) setTimeout(endSecond, 1_000).unref()
      isCounting = true
      tail.push(line.slice(0, TAIL_CHARACTERS))
      if (tail.length > TAIL_LINES) tail.shift()
      if (lines >= LINES_PER_SECOND || characters >= CHARACTERS_PER_SECOND) dropped++
      else log(line, stream === 'stdout' ? 'INFO' : 'ERROR')
      lines++
      characters += line.length
    },
    /** The last lines, for the error that ends the server. Empty if it wrote nothing. */
    tail: (): string => tail.join('\n'),
  }
}

/** The timeout of one request to `/ok`, in milliseconds. */
const PROBE_MS = 5_000

/**
 * Resolves when the server responds to `GET /ok` with 200. Rejects with a `DeployError` if it ends before or
 * takes too long, and with the signal's reason.
 */
async function untilReady(
  port: number,
  ended: Promise<Ended>,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<void> {
  const failed = new AbortController()
  const over = AbortSignal.any([signal, failed.signal])
  let status: number | undefined
  const timer = setTimeout(() => failed.abort(late(timeoutMs, port, status)), timeoutMs)
  void ended.then((how) =>
    failed.abort(new DeployError(`The server ended ${describe(how)} before it was ready.`)),
  )
  const begunAt = performance.now()
  try {
    while (!over.aborted) {
      status = await probe(port, over)
      if (status === 200 && !over.aborted) return
      // A twentieth of the time so far: a fast start is noticed fast, and a slow one is polled rarely.
      await pause(Math.min(200, Math.max(4, (performance.now() - begunAt) / 20)), over)
    }
    throw over.reason
  } finally {
    clearTimeout(timer)
  }
}

/** The status of `GET /ok`. Undefined without a response. */
function probe(port: number, signal: AbortSignal): Promise<number | undefined> {
  return new Promise((resolve) => {
    const sent = get({ host: BACKEND_HOST, port, path: '/ok', agent: false, timeout: PROBE_MS, signal })
    sent.once('response', (response) => {
      // Its body may never end.
      response.on('error', () => {})
      sent.destroy()
      resolve(response.statusCode)
    })
    sent.once('timeout', () => sent.destroy())
    sent.on('error', () => resolve(undefined))
  })
}

function late(timeoutMs: number, port: number, status: number | undefined): DeployError {
  const seen =
    status === undefined
      ? `nothing responds on port ${port}. The server must listen on the port in the PORT variable`
      : `GET /ok returns ${status} instead of 200`
  return new DeployError(`The server was not ready within ${timeoutMs / 1_000} seconds: ${seen}.`)
}

/** How a command ended, as the end of a sentence about it. */
export const describe = ({ code, signal }: Ended): string =>
  signal === null ? `with exit code ${code}` : `by ${signal}`

/** A program and its arguments, in which `{port}`, `{host}`, `{config}` and `{dir}` are replaced. */
export type StartCommand = readonly [program: string, ...args: string[]]

/** `config` is the path of the langgraph.json, and `dir` the revision's folder. */
export function fillIn(
  [program, ...args]: StartCommand,
  { port, config, dir }: { readonly port: number; readonly config: string; readonly dir: string },
): StartCommand {
  const values: Readonly<Record<string, string>> = { port: String(port), host: BACKEND_HOST, config, dir }
  const fill = (text: string) =>
    text.replace(/\{(port|host|config|dir)\}/g, (_, name: string) => values[name]!)
  return [fill(program), ...args.map(fill)]
}

/** `agentwire serve` of this package. */
export function ownServer(): StartCommand {
  const address = ['--host', '{host}', '--port', '{port}']
  // A deployment is not in development, whatever its address.
  const deployed = ['--hide-errors', '--no-devtools']
  return [process.execPath, ...ownProgram(), 'serve', ...deployed, '--config', '{config}', ...address]
}

function ownProgram(): readonly string[] {
  // The CommonJS build has no `import.meta`.
  const here = typeof __filename === 'string' ? __filename : fileURLToPath(import.meta.url)
  if (!here.endsWith('.ts')) return [join(dirname(here), 'cli.js')]
  // Sources need a loader, which cannot be resolved by name from the server's folder.
  const loader = pathToFileURL(modules.createRequire(here).resolve('tsx')).href
  return ['--import', loader, join(dirname(here), '../../../../cli/main.ts')]
}

/**
 * The default storage of a deployment: its own file, so that a new revision has the threads of the previous
 * one. Empty if the SQLite client is not installed.
 */
export function defaultStorage(dirs: Dirs, deploymentId: string): { readonly STORAGE_URL?: string } {
  if (!isInstalled('libsql')) return {}
  const folder = dirs.data(deploymentId)
  mkdirSync(folder, { recursive: true })
  return { STORAGE_URL: `file:${join(folder, 'threads.db')}` }
}

function isInstalled(name: string): boolean {
  try {
    // The CommonJS build has no `import.meta`.
    modules.createRequire(typeof __filename === 'string' ? __filename : import.meta.url).resolve(name)
    return true
  } catch {
    return false
  }
}
