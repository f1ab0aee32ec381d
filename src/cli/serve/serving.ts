import { serve } from '../../../adapters/node.ts'
import type { WebHandler } from '../../core/http/index.ts'
import { createAgentEngine } from '../../index.ts'
import { type OpenedStorage, openStorage, withoutPassword } from '../../storage/open.ts'
import { type FacesOptions, facesOf } from './faces.ts'
import { type Log, logged, registerLog } from './log.ts'
import { type Project, projectLoader } from './project.ts'
import { watchSources } from './watch.ts'

export interface ServingOptions extends FacesOptions {
  /** The path of the `langgraph.json`. */
  readonly config: string
  readonly port: number
  readonly hostname: string
  /** As the option of `serve`. */
  readonly allowedHosts: readonly string[] | undefined
  /** The URL of a storage. Default: `STORAGE_URL` of the environment, otherwise memory. */
  readonly storage: string | undefined
  /** Reloads the project when its files change. */
  readonly watch: boolean
  /** Receives what the project logs with LangGraph's `getLogger()`, and a line for each request. */
  readonly log: Log
  /** Sends the text of agents' errors to clients, instead of an error id. */
  readonly showErrors: boolean
  /** Called after each reload. */
  readonly onReload: (outcome: { readonly project: Project } | { readonly error: unknown }) => void
}

export interface Serving {
  readonly origin: string
  readonly port: number
  /** The URL of the storage, without its password. */
  readonly storage: string
  /** The project at the start. */
  readonly project: Project
  readonly close: () => Promise<void>
}

/** How long runs may continue when the process is asked to stop, in milliseconds. */
const DRAIN_MS = 10_000

/** How long a project is at rest before its types are read, in milliseconds. */
const READ_AHEAD_MS = 1_000

/** Reads the types of the newest project ahead. A file that is saved often is read once. */
function typesAhead() {
  let timer: NodeJS.Timeout | undefined
  const stop = (): void => clearTimeout(timer)
  return {
    stop,
    of({ readTypes }: Project): void {
      stop()
      timer = setTimeout(readTypes, READ_AHEAD_MS).unref()
    },
  }
}

/**
 * Serves a project. Rejects with `AgentwireError` for its mistakes, and if the port or the storage is
 * unavailable.
 */
export async function startServing(options: ServingOptions): Promise<Serving> {
  const { port, hostname, allowedHosts, watch, log, onReload } = options
  registerLog(log)
  const load = projectLoader(options.config, { renewable: watch })
  const project = await load()
  const url = options.storage ?? process.env.STORAGE_URL ?? 'memory:'
  const storage = await openStorage(url)
  try {
    await storage.setup()
    const { handler, show } = serverOf(project, storage, options)
    const closeTimeout = DRAIN_MS + 5_000
    const served = await serve(logged(handler, log), {
      port,
      hostname,
      allowedHosts,
      silent: true,
      closeTimeout,
    }).catch(async (error) => {
      await handler.close()
      throw error
    })
    const unbind = bindLoopback(handler, served.origin + project.config.http.mountPrefix)
    const types = typesAhead()
    types.of(project)
    const shown = (next: Project): void => {
      show(next)
      types.of(next)
    }
    const stopWatching = watch ? reloading(project, { load, show: shown, onReload }) : () => {}
    if (watch) keepRunning((error) => console.error('agentwire: uncaught error in the project.', error))
    const close = async () => {
      stopWatching()
      types.stop()
      await served.close()
      unbind()
      await storage.close()
    }
    return { origin: served.origin, port: served.port, storage: withoutPassword(url), project, close }
  } catch (error) {
    await storage.close()
    throw error
  }
}

/**
 * One engine for the lifetime of the process under the newest faces: threads, streams and runs survive
 * reloads.
 */
function serverOf(first: Project, { store, ...storage }: OpenedStorage, options: ServingOptions) {
  const agents = new Map(first.agents)
  const checkpointer = first.checkpointer ?? storage.checkpointer
  const { graphStore } = first
  const engine = createAgentEngine({
    agents,
    store,
    checkpointer,
    graphStore,
    errorMessage: options.showErrors,
    drainMs: DRAIN_MS,
  })
  let faces = facesOf(first, engine, options)
  const handler: WebHandler = {
    routes: () => faces.routes(),
    cors: true,
    get isOpen() {
      return faces.isOpen
    },
    handle: (request, context) => faces.handle(request, context),
    fetch: (request, context) => faces.fetch(request, context),
    async close() {
      await faces.close()
      await engine.close()
    },
  }
  const show = (project: Project): void => {
    const before = faces
    faces = facesOf(project, engine, options)
    const failed = new Set(project.failed.map(({ name }) => name))
    for (const name of agents.keys()) if (!project.agents.has(name) && !failed.has(name)) agents.delete(name)
    for (const [name, agent] of project.agents) agents.set(name, agent)
    before
      .close()
      .catch((error: unknown) =>
        console.error('agentwire: the routes from before the reload did not close.', error),
      )
  }
  return { handler, show }
}

interface Reloading extends Pick<ServingOptions, 'onReload'> {
  readonly load: () => Promise<Project>
  readonly show: (project: Project) => void
}

/** Reloads the project after each change, one load at a time. A failed load changes nothing. */
function reloading(first: Project, { load, show, onReload }: Reloading): () => void {
  let work = Promise.resolve()
  let stop = (): void => {}
  let stopped = false
  const watchFiles = ({ config: { folder }, files }: Project): void => {
    stop()
    stop = watchSources({ folder, files, onChange, onError: (error) => onReload({ error }) })
  }
  const reload = async (): Promise<void> => {
    if (stopped) return
    try {
      const project = await load()
      if (stopped) return
      show(project)
      watchFiles(project)
      onReload({ project })
    } catch (error) {
      onReload({ error })
    }
  }
  const onChange = (): void => {
    work = work.then(reload)
  }
  watchFiles(first)
  return () => {
    stopped = true
    stop()
  }
}

/**
 * Prints uncaught errors of the project instead of ending the process: during editing, a mistake should cost
 * neither the threads in memory nor the server.
 */
function keepRunning(problem: (error: unknown) => void): void {
  process.on('uncaughtException', problem)
  process.on('unhandledRejection', problem)
}

/** Where LangGraph SDK clients that were created without a URL find the server in their process. */
const FETCH = Symbol.for('langgraph_api:fetch')
const URL_OF_SERVER = Symbol.for('langgraph_api:url')

/**
 * Lets project code call this server with `new Client()`, without the network. Returns a function that ends
 * this.
 */
function bindLoopback(handler: WebHandler, url: string): () => void {
  const places = globalThis as { [FETCH]?: typeof fetch | undefined; [URL_OF_SERVER]?: string | undefined }
  const loopback: typeof fetch = (input, init) =>
    handler.fetch(new Request(input, init), { signal: init?.signal ?? undefined })
  places[FETCH] = loopback
  places[URL_OF_SERVER] = url
  return () => {
    // Another server in this process may have taken its place.
    if (places[FETCH] !== loopback) return
    delete places[FETCH]
    delete places[URL_OF_SERVER]
  }
}
