import { createServer } from 'node:net'
import { within } from '../../../../core/time.ts'
import { DeployError, type DeploymentContext } from '../../deployer.ts'
import { readLines } from '../../run-command.ts'
import { type SupervisedCommand, spawnSupervised } from '../../supervised.ts'
import { BACKEND_HOST } from '../proxy/backend.ts'
import { untilReady } from './ready.ts'

export interface ServerOptions {
  /** The command that listens on this port. */
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
