import {
  type Authenticate,
  type CorsOptions,
  type LangGraphCors,
  type OnError,
  type WebHandler,
  withCors,
} from './http/index.ts'
import type { Authorize } from './requests/access.ts'
import { type AgentEngine, type AgentEngineOptions, createAgentEngine } from './runs/index.ts'
import { createThreadsGroup } from './threads/index.ts'

/** What decides how requests are taken, whoever has the engine. */
export interface FaceOptions {
  /** The Agent Streaming Protocol under `/threads/…`. */
  readonly threads?: ThreadsOptions | undefined
  readonly http?: HttpOptions | undefined
  /** Who a request comes from; null is answered with 401. Default: everybody may do everything, and the server says so once. */
  readonly authenticate?: Authenticate | undefined
  /** May refuse what ownership allows. Default: owners may do everything with what is theirs. */
  readonly authorize?: Authorize | undefined
  /**
   * Told of what went wrong on our side, with the error id that the client was given and what is known of the thread, the run and
   * the request. What it throws or rejects with is ignored. Default: `console.error`.
   */
  readonly onError?: OnError | undefined
}

/** A server that makes its engine, and closes it. */
export interface OwnEngineOptions extends FaceOptions, Omit<AgentEngineOptions, 'onError'> {
  readonly engine?: undefined
}

/** A server over an engine that you have made, and close yourself after the server: its streams end with it. */
export interface SharedEngineOptions extends FaceOptions {
  readonly engine: AgentEngine
}

/** An engine, or the options for one. */
export type ServerOptions = OwnEngineOptions | SharedEngineOptions

export interface ThreadsOptions {
  /** Such as `/api`, for `/api/threads/…`. Default: none. */
  readonly basePath?: string | undefined
}

export interface HttpOptions {
  /** Larger request bodies get 413. Default: 4 MiB. */
  readonly maxBodyBytes?: number | undefined
  /**
   * Which pages of other origins may call the server. Takes the section `http.cors` of a `langgraph.json` too. Default: none,
   * but for `serve` of `agentwire/node`, which allows pages of this machine; `false` forbids these as well.
   */
  readonly cors?: CorsOptions | LangGraphCors | false | undefined
}

/** Everything mountable, and the engine below it: for code on the server that starts runs without HTTP. */
export interface AgentServer extends WebHandler {
  readonly engine: AgentEngine
}

/** Serves agents: every endpoint group over one engine, as one handler to mount. */
export function createAgentServer(options: ServerOptions): AgentServer {
  const { engine, close } = engineOf(options)
  const server = withCors(threadsGroup(engine, options), options.http?.cors)
  let closed: Promise<void> | undefined
  return { ...server, engine, close: () => (closed ??= server.close().then(close)) }
}

/** The Agent Streaming Protocol alone. */
export function createThreadsHandler(options: ServerOptions): WebHandler {
  const { engine, close } = engineOf(options)
  return withCors(threadsGroup(engine, options, close), options.http?.cors)
}

function threadsGroup(engine: AgentEngine, options: FaceOptions, onClose?: () => Promise<void>): WebHandler {
  const { authenticate, authorize, onError = logError } = options
  if (!authenticate) warnOpen()
  return createThreadsGroup({
    engine,
    authenticate,
    authorize,
    basePath: options.threads?.basePath,
    maxBodyBytes: options.http?.maxBodyBytes,
    onError,
    onClose,
  })
}

/** The engine of a server, and what the server does about it when it closes. */
function engineOf(options: ServerOptions): {
  readonly engine: AgentEngine
  readonly close: () => Promise<void>
} {
  if (options?.engine) return { engine: options.engine, close: async () => {} }
  const { onError = logError } = options ?? {}
  const engine = createAgentEngine({ ...options, onError })
  return { engine, close: engine.close }
}

const logError: OnError = (error, { id }) => console.error(`agentwire: error ${id}`, error)

let warned = false

function warnOpen(): void {
  if (warned) return
  warned = true
  console.warn('agentwire: no `authenticate` option: every caller may read and change every thread.')
}
