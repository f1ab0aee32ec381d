import { pause, sleep } from '../../../../core/time.ts'
import { DeployError, type DeploymentContext } from '../../deployer.ts'
import { createBackend } from '../proxy/backend.ts'
import { openProxy, type ProxyOptions, type ReverseProxy } from '../proxy/proxy.ts'
import { type Child, describe, type ServerOptions, startChild } from './child.ts'

/**
 * What runs for one deployment: a port, and the servers of its revisions, one of which receives the requests.
 */
export type Site = ReturnType<typeof createSite>

interface SiteOptions extends Omit<ProxyOptions, 'port' | 'onError'> {
  /** How long a server's requests may take to end before it is stopped, in milliseconds. */
  readonly drainMs: number
}

export function createSite(options: SiteOptions) {
  const closing = new AbortController()
  const place: Place = { options, servers: new Map(), proxy: undefined }
  return {
    /** Opens the port unless it is open, and returns its number: the wanted one if it is free. */
    async open(wanted: number | undefined, log: DeploymentContext['log']): Promise<number> {
      place.proxy ??= openPort(place, wanted, log)
      return (await place.proxy).port
    },
    /** Starts a revision's server, and resolves when it is ready. A running one is kept. */
    async start(revisionId: string, options: ServerOptions, signal: AbortSignal): Promise<void> {
      closing.signal.throwIfAborted()
      const before = await find(place, revisionId)
      if (before?.backend.port !== undefined) return
      await before?.stop()
      const started = startServer(options, AbortSignal.any([signal, closing.signal]))
      place.servers.set(revisionId, started)
      try {
        await started
      } catch (error) {
        place.servers.delete(revisionId)
        throw error
      }
    },
    /** Routes the port's requests to this server from now on. */
    async turnTo(revisionId: string): Promise<void> {
      const [server, port] = await Promise.all([find(place, revisionId), place.proxy])
      if (!server || !port) throw new DeployError('The server was stopped before it could receive requests.')
      port.turnTo(server.backend)
    },
    /** Stops a server after its requests have ended. The last one also closes the port. */
    stop: (revisionId: string, context: DeploymentContext): Promise<void> => stop(place, revisionId, context),
    /** Stops all servers, then closes the port. */
    async close(): Promise<void> {
      closing.abort(new DeployError('The deployment is stopped.'))
      const port = await place.proxy
      void port?.stopListening()
      const revisions = [...place.servers.keys()]
      await Promise.all(revisions.map(async (revisionId) => (await find(place, revisionId))?.stop()))
      place.servers.clear()
      await closePort(place)
    },
  }
}

interface Place {
  readonly options: SiteOptions
  readonly servers: Map<string, Promise<Server>>
  proxy: Promise<ReverseProxy> | undefined
}

const find = ({ servers }: Place, revisionId: string): Promise<Server | undefined> | undefined =>
  servers.get(revisionId)?.catch(() => undefined)

async function stop(place: Place, revisionId: string, { signal, log }: DeploymentContext): Promise<void> {
  const { servers, options } = place
  const server = await find(place, revisionId)
  if (!server) return
  const { backend } = server
  const port = await place.proxy
  if (port?.backend === backend) port.turnTo(undefined)
  const ended = new AbortController()
  await Promise.race([backend.idle().then(() => ended.abort()), pause(options.drainMs, signal, ended.signal)])
  if (!ended.signal.aborted)
    log(`Requests that were not answered after ${options.drainMs / 1_000} seconds are aborted.`, 'WARNING')
  await server.stop()
  servers.delete(revisionId)
  if (servers.size === 0) await closePort(place)
}

async function closePort(place: Place): Promise<void> {
  const open = place.proxy
  place.proxy = undefined
  await open?.then(({ close }) => close())
}

async function openPort(
  place: Place,
  port: number | undefined,
  log: DeploymentContext['log'],
): Promise<ReverseProxy> {
  const onError = ({ message }: Error) => log(`A connection could not be accepted: ${message}`, 'ERROR')
  try {
    const opened = await openProxy({ ...place.options, port, onError })
    if (port !== undefined && opened.port !== port)
      log(`Port ${port} is in use. The deployment is now on port ${opened.port}.`, 'WARNING')
    return opened
  } catch (error) {
    place.proxy = undefined
    throw error
  }
}

export interface Restarts {
  /** The delay before the first restart, in milliseconds. Each further one is twice as long. */
  readonly firstMs: number
  readonly mostMs: number
  /** After a server has been up this long, in milliseconds, the delay is `firstMs` again. */
  readonly resetMs: number
}

const RESTARTS: Restarts = { firstMs: 100, mostMs: 30_000, resetMs: 60_000 }

/** A server that is restarted when it ends by itself. */
type Server = Awaited<ReturnType<typeof startServer>>

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
