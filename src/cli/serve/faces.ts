import { LOOPBACK } from '../../core/http/cors.ts'
import { combine, type WebHandler, withCors } from '../../core/http/index.ts'
import type { StoredConfig } from '../../faces/kit/index.ts'
import type { ServerInfo } from '../../faces/rest/index.ts'
import { type AgentEngine, createAgentServer } from '../../index.ts'
import { type AppLike, type AppOptions, appHandler, aroundHono, isHono } from './app.ts'
import { langgraphVersion } from './langgraph.ts'
import { mcpFaces } from './mcp.ts'
import type { Project } from './project.ts'
import type { HttpSection } from './sections.ts'
import { uiHandler } from './ui.ts'

export interface FacesOptions {
  /** Turns A2A off, whatever the config says. */
  readonly withoutA2A: boolean
  /** Serves the devtools at `/devtools`. */
  readonly devtools: boolean
}

/** What a project serves over an engine, according to the sections `http` and `auth` of its config. */
export function facesOf(
  { config, auth, app, apps }: Project,
  engine: AgentEngine,
  { withoutA2A, devtools }: FacesOptions,
): WebHandler {
  const { http, folder, ui } = config
  const { disabled, mountPrefix: prefix } = http
  const agents = createAgentServer({
    engine: engineWithHeaders(engine, http.configurableHeaders),
    platform: {
      info: serverInfoOf(folder),
      // Routes of the app may be webhooks.
      webhooks: { local: (request) => served.fetch(request) },
    },
    a2a: withoutA2A || disabled.has('a2a') ? false : {},
    devtools,
    faces: mcpFaces(http),
    http: {
      disable_assistants: disabled.has('assistants'),
      disable_meta: disabled.has('meta'),
      disable_runs: disabled.has('runs'),
      disable_store: disabled.has('store'),
    },
    ...auth,
  })
  const authenticate = http.authenticatesApp ? auth?.authenticate : undefined
  const handlers = [
    below(prefix, without(disabled, agents)),
    // The parent process requests /ok without the prefix.
    ...(prefix === '' ? [] : [onlyMeta(agents)]),
    ...apps.map((one) => appHandler(one.app, { prefix: prefix + one.path, authenticate })),
    ...(ui.bundler === undefined
      ? []
      : [below(prefix, uiHandler(config, { bundler: ui.bundler, authenticate: auth?.authenticate }))]),
  ]
  const own = combine(handlers)
  const served = app ? withApp(own, app, { prefix, authenticate }) : own
  return withCors(served, http.cors ?? LOOPBACK)
}

/** The fields of `GET /info` that come from a project's folder and the environment. */
const serverInfoOf = (folder: string): ServerInfo => ({
  langgraph_js_version: langgraphVersion(folder) ?? null,
  langsmith: Boolean(process.env.LANGSMITH_API_KEY ?? process.env.LANGCHAIN_API_KEY),
})

/**
 * A handler with the app of its project. The routes of a Hono app come first, and its middleware sees every
 * request, as on LangGraph's own servers. The routes of other apps are unknown, so they receive the paths
 * that the handler does not serve.
 */
const withApp = (handler: WebHandler, app: AppLike, options: AppOptions): WebHandler =>
  isHono(app) ? aroundHono(handler, app, options) : combine([handler, appHandler(app, options)])

function below(prefix: string, handler: WebHandler): WebHandler {
  if (prefix === '') return handler
  return {
    ...handler,
    handle: (request, context) => handler.handle(request, { ...context, basePath: prefix }),
    fetch: (request, context) => handler.fetch(request, { ...context, basePath: prefix }),
    mountPaths: () => handler.mountPaths?.(prefix) ?? [],
  }
}

/** The handler for `/ok` and `/info` only. */
const onlyMeta = (handler: WebHandler): WebHandler => ({
  ...handler,
  handle: async (request, context) =>
    META.has(new URL(request.url).pathname) ? handler.handle(request, context) : undefined,
  mountPaths: () => [],
})

const META: ReadonlySet<string> = new Set(['/ok', '/info'])

const RUNS = /\/threads\/[^/]+\/(commands|stream|runs)(\/|$)/
const THREADS = /\/threads(\/|$)/

/** Runs are also commands and streams of the protocol. Threads are everything else below `/threads`. */
function without(disabled: Project['config']['http']['disabled'], handler: WebHandler): WebHandler {
  const isDisabled = (path: string): boolean =>
    RUNS.test(path) ? disabled.has('runs') : THREADS.test(path) && disabled.has('threads')
  if (!disabled.has('runs') && !disabled.has('threads')) return handler
  return {
    ...handler,
    handle: async (request, context) =>
      isDisabled(new URL(request.url).pathname) ? undefined : handler.handle(request, context),
  }
}

/** The headers in `config.configurable` without the section, as in LangGraph's own server. */
const DEFAULT_INCLUDES = ['x-*', 'user-agent']
/** Credentials, which only their full name includes. */
const CREDENTIALS = ['authorization', 'cookie', 'x-api-key', 'x-tenant-id', 'x-service-key']

/** Valid names for `Headers`. */
const HEADER_NAME = /^[\w-]+$/

/**
 * The engine with request headers in the `configurable` of runs. Headers override the client's own values.
 */
function engineWithHeaders(engine: AgentEngine, section: HttpSection['configurableHeaders']): AgentEngine {
  const pick = picker(section)
  const more = <
    T extends { readonly request?: Request | undefined; readonly config?: StoredConfig | undefined },
  >(
    asked: T,
  ): T => {
    const { request, config } = asked
    if (!request) return asked
    const found = pick(request.headers)
    // LangGraph's REST API has already added headers, and the section may exclude some of them.
    const kept = Object.entries(config?.configurable ?? {}).filter(
      ([name, value]) => name in found || !HEADER_NAME.test(name) || request.headers.get(name) !== value,
    )
    return { ...asked, config: { ...config, configurable: { ...Object.fromEntries(kept), ...found } } }
  }
  return Object.assign(Object.create(engine) as AgentEngine, {
    start: (request: Parameters<AgentEngine['start']>[0]) => engine.start(more(request)),
    respond: (request: Parameters<AgentEngine['respond']>[0]) => engine.respond(more(request)),
  })
}

function picker({ includes = DEFAULT_INCLUDES, excludes }: HttpSection['configurableHeaders']) {
  const wanted = includes.map(pattern)
  const unwanted = excludes.map(pattern)
  const named = new Set(includes.map((name) => name.toLowerCase()))
  return (headers: Headers): Record<string, string> =>
    Object.fromEntries(
      [...headers].filter(
        ([name]) =>
          wanted.some((one) => one.test(name)) &&
          !unwanted.some((one) => one.test(name)) &&
          (named.has(name) || !CREDENTIALS.includes(name)),
      ),
    )
}

const pattern = (text: string): RegExp =>
  new RegExp(`^${text.toLowerCase().split('*').map(escaped).join('.*')}$`)

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
