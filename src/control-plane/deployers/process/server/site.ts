import { pause } from '../../../../time.ts'
import type { DeploymentContext } from '../../deployer.ts'
import { DeployError } from '../../errors.ts'
import type { Backend } from '../proxy/backend.ts'
import { openProxy, type ReverseProxy } from '../proxy/proxy.ts'
import type { ServerOptions } from './child.ts'
import { type Server, startServer } from './server.ts'

export interface SiteOptions {
  readonly hostname: string
  /** Whether a proxy in front of ours tells who the client is. */
  readonly isBehindProxy: boolean
  /** How long the requests of a server have to end before it is stopped, in milliseconds. */
  readonly drainMs: number
}

/** What runs for one deployment: a port, and the servers of its revisions, of which one has the requests of the port. */
export interface Site {
  /** Opens the port, if it is not open, and gives its number. It is `wanted` where that is free. */
  open(wanted: number | undefined, log: DeploymentContext['log']): Promise<number>
  /** Starts the server of a revision, and settles when it is ready. One that is up already is kept. */
  start(revisionId: string, options: ServerOptions, signal: AbortSignal): Promise<void>
  /** Sends the requests of the port to this server from now on. */
  turnTo(revisionId: string): Promise<void>
  /** Stops a server once its requests have ended, and closes the port with the last one. Does nothing for one that is not there. */
  stop(revisionId: string, context: DeploymentContext): Promise<void>
  /** Ends all servers, and then the port. */
  close(): Promise<void>
}

export function createSite({ hostname, isBehindProxy, drainMs }: SiteOptions): Site {
  const servers = new Map<string, Promise<Server>>()
  const closing = new AbortController()
  let proxy: Promise<ReverseProxy> | undefined

  const find = (revisionId: string): Promise<Server | undefined> | undefined =>
    servers.get(revisionId)?.catch(() => undefined)

  async function closePort(): Promise<void> {
    const open = proxy
    proxy = undefined
    await open?.then(({ close }) => close())
  }

  async function openPort(wanted: number | undefined, log: DeploymentContext['log']): Promise<ReverseProxy> {
    const onError = ({ message }: Error) => log(`A connection could not be accepted: ${message}`, 'ERROR')
    try {
      const opened = await openProxy({ hostname, port: wanted, isBehindProxy, onError })
      if (wanted !== undefined && opened.port !== wanted)
        log(
          `Port ${wanted} is taken. The deployment is reached on port ${opened.port} from now on.`,
          'WARNING',
        )
      return opened
    } catch (error) {
      proxy = undefined
      throw error
    }
  }

  return {
    async open(wanted, log) {
      proxy ??= openPort(wanted, log)
      return (await proxy).port
    },
    async start(revisionId, options, signal) {
      closing.signal.throwIfAborted()
      const before = await find(revisionId)
      if (before?.backend.port !== undefined) return
      await before?.stop()
      const started = startServer(options, AbortSignal.any([signal, closing.signal]))
      servers.set(revisionId, started)
      try {
        await started
      } catch (error) {
        servers.delete(revisionId)
        throw error
      }
    },
    async turnTo(revisionId) {
      const [server, port] = await Promise.all([find(revisionId), proxy])
      if (!server || !port) throw new DeployError('The server was stopped before it could get requests.')
      port.turnTo(server.backend)
    },
    async stop(revisionId, { signal, log }) {
      const server = await find(revisionId)
      if (!server) return
      const port = await proxy
      if (port?.backend === server.backend) port.turnTo(undefined)
      const isIdle = await idleWithin(drainMs, server.backend, signal)
      if (!isIdle)
        log(`Requests that were not answered after ${drainMs / 1_000} seconds are broken off.`, 'WARNING')
      await server.stop()
      servers.delete(revisionId)
      if (servers.size === 0) await closePort()
    },
    async close() {
      closing.abort(new DeployError('The deployment is stopped.'))
      const port = await proxy
      void port?.stopListening()
      await Promise.all([...servers.keys()].map(async (revisionId) => (await find(revisionId))?.stop()))
      servers.clear()
      await closePort()
    },
  }
}

/** Whether the server had no request any more before the time was over, or the signal aborted. */
async function idleWithin(ms: number, backend: Backend, signal: AbortSignal): Promise<boolean> {
  const isIdle = new AbortController()
  const late = pause(ms, signal, isIdle.signal).then(() => false)
  const idle = backend.idle().then(() => true)
  const first = await Promise.race([idle, late])
  isIdle.abort()
  return first
}
