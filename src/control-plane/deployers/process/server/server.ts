import { sleep } from '../../../../time.ts'
import { type Backend, createBackend } from '../proxy/backend.ts'
import { type Child, type ServerOptions, startChild } from './child.ts'
import { describe } from './ready.ts'

/** A server that is started again when it ends by itself. */
export interface Server {
  /** Where it is reached, while it is up. */
  readonly backend: Backend
  /** Ends it for good: with SIGTERM, and with SIGKILL when its grace is over. */
  stop(): Promise<void>
}

export interface Restarts {
  /** How long the first restart waits, in milliseconds. Each further one waits twice as long. */
  readonly firstMs: number
  readonly mostMs: number
  /** A server that was up for so long starts from `firstMs` again. */
  readonly resetMs: number
}

const RESTARTS: Restarts = { firstMs: 100, mostMs: 30_000, resetMs: 60_000 }

/** Starts a server, and gives it when it is ready. It is not tried again when that fails. The signal is for the start only. */
export async function startServer(
  options: ServerOptions,
  signal: AbortSignal,
  { firstMs, mostMs, resetMs }: Restarts = RESTARTS,
): Promise<Server> {
  const backend = createBackend()
  const life = new AbortController()
  let waitMs = firstMs
  let up: Child | undefined

  async function run(child: Child): Promise<void> {
    up = child
    backend.port = child.port
    const upAt = performance.now()
    const how = await child.ended
    up = undefined
    backend.port = undefined
    if (life.signal.aborted) return
    if (performance.now() - upAt >= resetMs) waitMs = firstMs
    tell(`The server ended ${describe(how)}.`)
  }

  /** Undefined where it could not be started. */
  async function startAgain(): Promise<Child | undefined> {
    try {
      await sleep(waitMs, life.signal)
      waitMs = Math.min(2 * waitMs, mostMs)
      return await startChild(options, life.signal)
    } catch (error) {
      if (!life.signal.aborted) tell((error as Error).message)
      return undefined
    }
  }

  const tell = (what: string) =>
    options.log(`${what}\nThe server is started again in ${waitMs / 1_000} seconds.`, 'ERROR')

  async function supervise(first: Child): Promise<void> {
    let child: Child | undefined = first
    while (!life.signal.aborted) {
      if (child) await run(child)
      child = await startAgain()
    }
    // It was ready in the moment in which it was to be stopped.
    await child?.stop()
  }

  const supervised = supervise(await startChild(options, signal))
  return {
    backend,
    async stop() {
      life.abort()
      await up?.stop()
      await supervised
      backend.close()
    },
  }
}
