import { sleep } from '../../../../core/time.ts'
import { createBackend } from '../proxy/backend.ts'
import { type Child, type ServerOptions, startChild } from './child.ts'
import { describe } from './ready.ts'

export interface Restarts {
  /** The delay before the first restart, in milliseconds. Each further one is twice as long. */
  readonly firstMs: number
  readonly mostMs: number
  /** After a server has been up this long, in milliseconds, the delay is `firstMs` again. */
  readonly resetMs: number
}

const RESTARTS: Restarts = { firstMs: 100, mostMs: 30_000, resetMs: 60_000 }

/** A server that is restarted when it ends by itself. */
export type Server = Awaited<ReturnType<typeof startServer>>

/** Starts a server and waits until it is ready, without retries. The signal only applies to the start. */
export async function startServer(
  options: ServerOptions,
  signal: AbortSignal,
  { firstMs, mostMs, resetMs }: Restarts = RESTARTS,
) {
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
    logRestart(`The server ended ${describe(how)}.`)
  }

  /** Undefined if it could not be started. */
  async function startAgain(): Promise<Child | undefined> {
    try {
      await sleep(waitMs, life.signal)
      waitMs = Math.min(2 * waitMs, mostMs)
      return await startChild(options, life.signal)
    } catch (error) {
      if (!life.signal.aborted) logRestart((error as Error).message)
      return undefined
    }
  }

  const logRestart = (why: string) =>
    options.log(`${why}\nThe server restarts in ${waitMs / 1_000} seconds.`, 'ERROR')

  async function supervise(first: Child): Promise<void> {
    let child: Child | undefined = first
    while (!life.signal.aborted) {
      if (child) await run(child)
      child = await startAgain()
    }
    // It became ready while it was being stopped.
    await child?.stop()
  }

  const supervised = supervise(await startChild(options, signal))
  return {
    /** Its address, while it is up. */
    backend,
    /** Stops it for good: with SIGTERM, and with SIGKILL after the grace time. */
    async stop(): Promise<void> {
      life.abort()
      await up?.stop()
      await supervised
      backend.close()
    },
  }
}
