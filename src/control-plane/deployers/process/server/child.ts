import { createServer } from 'node:net'
import { within } from '../../../../time.ts'
import type { DeploymentContext } from '../../deployer.ts'
import { DeployError } from '../../errors.ts'
import { readLines } from '../../run-command.ts'
import { type Ended, type SupervisedCommand, spawnSupervised } from '../../supervised.ts'
import { BACKEND_HOST } from '../proxy/backend.ts'
import { createOutput } from './output.ts'
import { untilReady } from './ready.ts'

export interface ServerOptions {
  /** The command that listens on this port. */
  readonly command: (port: number) => SupervisedCommand
  readonly log: DeploymentContext['log']
  /** Masks the secrets in what the server wrote. */
  readonly mask: (text: string) => string
  /** How long it may take to be ready, in milliseconds. */
  readonly readyTimeoutMs: number
  /** How long it has between SIGTERM and SIGKILL, in milliseconds. */
  readonly graceMs: number
}

/** A server that was ready. */
export interface Child {
  readonly port: number
  /** Settles when nothing of it runs any more. */
  readonly ended: Promise<Ended>
  stop(): Promise<void>
}

const MAX_LINE_BYTES = 16_384
/** How long the output is read for after the server has ended. */
const OUTPUT_MS = 1_000
const PORTS = 3

/** Starts a server on a free port, and gives it when it is ready. Rejects when it ends before, with its last lines. */
export async function startChild(options: ServerOptions, signal: AbortSignal): Promise<Child> {
  for (let tried = 1; ; tried++) {
    const port = await freePort()
    try {
      return await startOn(port, options, signal)
    } catch (error) {
      if (tried === PORTS || signal.aborted || (await isFree(port))) throw error
      options.log(
        `Port ${port} was taken by another program. The server is started on another one.`,
        'WARNING',
      )
    }
  }
}

async function startOn(
  port: number,
  { command, log, mask, readyTimeoutMs, graceMs }: ServerOptions,
  signal: AbortSignal,
): Promise<Child> {
  signal.throwIfAborted()
  const { stdout, stderr, ended, stop } = await spawnSupervised(command(port))
  const output = createOutput(log)
  const isRead = Promise.all([
    readLines(stdout, MAX_LINE_BYTES, (line) => output.add(line, 'stdout')),
    readLines(stderr, MAX_LINE_BYTES, (line) => output.add(line, 'stderr')),
  ])
  let hasEnded = false
  const closed = ended.then(async (how) => {
    hasEnded = true
    await within(OUTPUT_MS, isRead)
    // A process that cannot be found may still hold the pipes.
    stdout.destroy()
    stderr.destroy()
    return how
  })
  // Its id may be that of another process by then.
  const stopOnce = async () => void (hasEnded ? await ended : await stop(graceMs))
  try {
    await untilReady({ port, ended, timeoutMs: readyTimeoutMs, signal })
  } catch (error) {
    await stopOnce()
    await closed
    const tail = mask(output.tail())
    if (!(error instanceof DeployError) || tail === '') throw error
    throw new DeployError(`${error.message} Its last lines:\n${tail}`, { cause: error })
  }
  return { port, ended, stop: stopOnce }
}

/** A port that is free now. Another program may be faster than the server. */
async function freePort(): Promise<number> {
  const port = await tryPort(0)
  if (port === undefined) throw new DeployError('There is no free port on this machine.')
  return port
}

const isFree = async (port: number): Promise<boolean> => (await tryPort(port)) !== undefined

/** Listens on a port for a moment. Undefined where that is not possible. */
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
