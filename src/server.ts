import { AgentwireError } from './core/errors.ts'
import { combine, errorResponse, HttpError, upgrading, type WebHandler, withCors } from './core/http/index.ts'
import { saidOpen } from './core/http/security.ts'
import type { OptionTable } from './core/options.ts'
import { VERSION } from './core/version.ts'
import { type AgentEngine, internalsOf } from './engine/index.ts'
import { createA2AGroup } from './faces/a2a/face.ts'
import { A2A_OPTIONS, type A2AOptions } from './faces/a2a/options.ts'
import { bannerOf, doorsOf, type ServerAbout } from './faces/about/about.ts'
import { withRoot } from './faces/about/root.ts'
import {
  checkFace,
  createFace,
  engineOf,
  type FaceOptions,
  type FaceSetup,
  groupOptions,
  HTTP_OPTIONS,
  type HttpOptions,
  type OwnEngine,
  type SharedEngine,
} from './faces/kit/create-face.ts'
import { route } from './faces/kit/routes.ts'
import {
  PLATFORM_OPTIONS,
  PLATFORM_SWITCHES,
  type PlatformOptions,
  type PlatformSwitches,
} from './faces/rest/context.ts'
import { createPlatformGroup } from './faces/rest/face.ts'
import { createThreadsGroup, THREADS_OPTIONS, type ThreadsOptions } from './faces/threads/index.ts'
import { DEVTOOLS_OPTIONS, type DevtoolsOptions } from './ops/devtools/context.ts'
import { loadDevtools } from './ops/devtools/on-demand.ts'

/** The parts of a server, one for each face. */
export interface ServerFaces extends FaceOptions {
  /** The Agent Streaming Protocol under `/threads/…`. False turns it off. Default: on. */
  readonly threads?: ThreadsOptions | false | undefined
  /**
   * The REST API of LangGraph Platform: assistants, runs, the store and crons. False turns it off. Default:
   * on.
   */
  readonly platform?: PlatformOptions | false | undefined
  /** A2A under `/a2a/{assistant_id}`, with the agent cards. False turns it off. Default: on. */
  readonly a2a?: A2AOptions | false | undefined
  /**
   * The control plane under `/v2/…`, created by `createControlPlaneHandler` from `agentwire/control-plane`.
   * It has its own options, and is closed with the server. Default: none.
   */
  readonly controlPlane?: WebHandler | undefined
  /**
   * A page under `/devtools` to watch the server live. `authenticate` applies to it. It is loaded on the
   * first request. Default: off. See docs/devtools.md.
   */
  readonly devtools?: boolean | DevtoolsOptions | undefined
  /**
   * Further protocols: `aiSdk()` of `agentwire/ai-sdk`, `agUi()`, `mcp()`, `openAi()`, and your own, made with
   * `agentwire/face`. They share the engine, `authenticate` and `authorize`. Default: none.
   */
  readonly faces?: readonly ((setup: FaceSetup) => WebHandler)[] | undefined
  /** Limits and switches of all routes. */
  readonly http?: ServerHttpOptions | undefined
}

/** The HTTP options of a server, with the switch names of the section `http` of a `langgraph.json`. */
export interface ServerHttpOptions extends HttpOptions, PlatformSwitches {
  /** Turns A2A off, like `http.disable_a2a` in a `langgraph.json`. Default: false. */
  readonly disable_a2a?: boolean | undefined
}

/** Options of a server that creates its own engine, and closes it. */
export interface OwnEngineOptions extends ServerFaces, Omit<OwnEngine, 'onError'> {}

/** Options of a server that uses your engine. Close the engine after the server: its streams end with it. */
export interface SharedEngineOptions extends ServerFaces, SharedEngine {}

/** An engine, or the options to create one. */
export type ServerOptions = OwnEngineOptions | SharedEngineOptions

const SERVER_OPTIONS: OptionTable<Omit<ServerFaces, keyof FaceOptions>> = {
  threads: ['false', THREADS_OPTIONS],
  platform: ['false', PLATFORM_OPTIONS],
  a2a: ['false', A2A_OPTIONS],
  controlPlane: 'handler',
  devtools: ['boolean', DEVTOOLS_OPTIONS],
  faces: 'list',
}

/** The handler of a server, to mount or to serve. */
export interface AgentServer extends WebHandler {
  /** The engine of the server, for code that starts or follows runs without HTTP. */
  readonly engine: AgentEngine
  /**
   * Lines for the terminal of a server that starts: its agents, protocols, storage, sign-in, errors and
   * devtools. `url` is where it is mounted, such as `http://localhost:3000/agents`.
   */
  readonly banner: (url: string) => string
}

/**
 * Creates a server for agents: all faces over one engine, as a single handler to mount with `toExpress`,
 * `toFastify`, `toHono`, `toNext` or `toNode`, or to start with `serve` of `agentwire/node`. Throws
 * `AgentwireError` `invalid_argument` for unknown or invalid options.
 *
 * ```ts
 * const agent = defineAgent({ run: ({ message }) => message('Hello there') })
 * const server = createAgentServer({ agents: { agent } }) // the key is the assistant id
 * ```
 */
export function createAgentServer(options: ServerOptions): AgentServer {
  const switches: OptionTable<ServerHttpOptions> = {
    ...HTTP_OPTIONS,
    ...PLATFORM_SWITCHES,
    disable_a2a: 'boolean',
  }
  checkFace('createAgentServer', options, { ...SERVER_OPTIONS, http: switches })
  const { engine, close } = engineOf(options)
  const { threads, platform, a2a, controlPlane, devtools, faces = [], http } = options
  const setup: FaceSetup = { ...groupOptions(options), engine }
  const groups: Omit<WebHandler, 'fetch'>[] = []
  if (threads !== false) groups.push(createThreadsGroup(setup, threads))
  const basePath = (platform || undefined)?.basePath ?? (threads || undefined)?.basePath
  if (platform !== false) groups.push(createPlatformGroup(setup, { ...platform, basePath }, http))
  if (a2a !== false && http?.disable_a2a !== true) groups.push(createA2AGroup(setup, a2a))
  for (const [at, face] of faces.entries()) {
    if (typeof face !== 'function')
      throw new AgentwireError(
        'invalid_argument',
        `createAgentServer: faces[${at}] must be a function, such as the one that aiSdk() returns.`,
      )
    groups.push(face(setup))
  }
  if (controlPlane) groups.push(controlPlane)
  if (devtools) groups.push(lazyDevtools({ ...setup, engine }, devtools === true ? undefined : devtools))
  if (http?.disable_meta !== true) groups.unshift(documentGroup(setup, groups, basePath))
  const all = combine(groups)
  let byHost = false
  const about = (mount: string): ServerAbout => {
    const { store, showsErrors } = internalsOf(engine)
    return {
      agents: [...engine.agents.keys()],
      doors: doorsOf(all.mountPaths?.(mount) ?? [], mount),
      devtools: Boolean(devtools),
      storage: store.capabilities.name,
      isDurable: store.capabilities.durable,
      signIn: byHost ? 'principal' : setup.authenticate ? 'authenticate' : 'none',
      errors: showsErrors ? 'text' : 'id',
    }
  }
  const server = withRoot(upgrading(withCors(all, http?.cors)), setup, { basePath, about })
  let closed: Promise<void> | undefined
  return {
    ...server,
    engine,
    banner(url) {
      const shown = about(new URL(url).pathname.replace(/\/$/, ''))
      if (shown.signIn === 'none') saidOpen()
      return bannerOf(shown, url)
    },
    requirePrincipal() {
      byHost = true
      server.requirePrincipal?.()
    },
    setup: () => internalsOf(engine).store.setup(),
    close: () => (closed ??= server.close().then(close)),
  }
}

/** `GET /openapi.json`, which describes all routes of the server. */
function documentGroup(
  setup: FaceSetup,
  groups: readonly Omit<WebHandler, 'fetch'>[],
  basePath: string | undefined,
): WebHandler {
  const { authenticate } = setup
  const security = authenticate && (authenticate.schemes ?? { bearer: { type: 'http', scheme: 'bearer' } })
  const document = route('GET', '/openapi.json', {
    permission: 'public',
    summary: 'Get this document.',
    answers: { 200: { type: 'object' } },
    run: async (_, call) =>
      (await import('./faces/kit/openapi.ts')).serveDocument(call, groups, { version: VERSION, security }),
  })
  return createFace(setup, { basePath, routes: [document] })
}

/** A handler that loads the devtools on the first request that may be for them. */
function lazyDevtools(
  setup: FaceSetup & Pick<SharedEngine, 'engine'>,
  options: DevtoolsOptions | undefined,
): Omit<WebHandler, 'fetch'> {
  let group: Promise<WebHandler | undefined> | undefined
  let closed = false
  let byHost = false
  const create = async ({ createDevtoolsHandler }: Awaited<ReturnType<typeof loadDevtools>>) => {
    const { engine, authenticate, authorize, onError, maxBodyBytes } = setup
    const http = { maxBodyBytes }
    const loaded = createDevtoolsHandler({
      engine,
      authenticate,
      authorize,
      onError,
      http,
      devtools: options,
    })
    if (byHost) loaded.requirePrincipal?.()
    if (closed) await loaded.close()
    return loaded
  }
  // Only a bundle without the package beside it has none.
  let missing: HttpError | undefined
  const load = () =>
    (group ??= loadDevtools().then(create, (cause) => {
      missing = notBundled(cause)
      return undefined
    }))
  return {
    routes: async () => [],
    async handle(request, context) {
      if (!request.url.includes('/devtools')) return undefined
      const loaded = await load()
      return loaded ? loaded.handle(request, context) : errorResponse(missing, setup.onError)
    },
    requirePrincipal() {
      byHost = true
      group?.then((loaded) => loaded?.requirePrincipal?.()).catch(() => {}) // The request that loads it reports it.
    },
    async close() {
      closed = true
      await (await group)?.close()
    },
  }
}

const notBundled = (cause: unknown): HttpError =>
  new HttpError(
    501,
    'not_bundled',
    'The devtools are not in this bundle. Run npm install agentwire beside it, or mount createDevtoolsHandler of agentwire/devtools. See docs/devtools.md.',
    { cause },
  )
