import { logError } from '../../core/errors.ts'
import {
  type Authenticate,
  CORS,
  type CorsOptions,
  createHandler,
  type EncodeError,
  type HandlerOptions,
  type LangGraphCors,
  type LaterRows,
  type OnError,
  originCheck,
  type Route,
  type RouteKind,
  type SecuritySchemes,
  upgrading,
  type WebHandler,
  withCors,
} from '../../core/http/index.ts'
import { later } from '../../core/lazy.ts'
import { checkOptions, type OptionTable, STORAGE_PARTS, type Table } from '../../core/options.ts'
import {
  type AgentEngine,
  type AgentEngineOptions,
  ENGINE_OPTIONS,
  internalsOf,
  openEngine,
  type ServedEngine,
} from '../../engine/index.ts'
import type { Authorize } from './access.ts'
import { encodeRunError } from './errors.ts'
import type { FaceContext, FaceRow } from './routes.ts'

/** What a server passes to each of its faces. */
export interface FaceSetup
  extends Pick<HandlerOptions, 'authenticate' | 'maxBodyBytes' | 'onError' | 'onClose'> {
  /** It starts no runs: those of a call are started with the engine of its context. */
  readonly engine: ServedEngine
  readonly authorize?: Authorize | undefined
  /** Whether `http.cors` allows an origin. */
  readonly allowsOrigin?: ((origin: string) => boolean) | undefined
}

/** The definition of a face. */
export interface Face<Context extends FaceContext = FaceContext>
  extends Pick<HandlerOptions, 'basePath' | 'parseJson' | 'textErrors' | 'protocolHeaders' | 'errorsBelow'> {
  /** Encodes errors for the protocol. Default: `{ error, message }` with the HTTP status of the error. */
  readonly encodeError?: EncodeError | undefined
  /** The routes. Those of a part are loaded with the first request to one of its paths, or below it. */
  readonly routes: readonly (FaceRow<Context> | LaterRows<FaceRow<Context>>)[]
  /** What the endpoints get in addition to the engine. Default: nothing. */
  readonly context?: Omit<Context, keyof FaceContext> | undefined
  /** Called before each request that matches a route, such as to start background work of the face. */
  readonly onRequest?: (() => void) | undefined
  /** Runs on the first `close()`, before the face's own engine closes. */
  readonly onClose?: (() => void | Promise<void>) | undefined
}

/**
 * Creates the handler of a face: its routes, with authentication and permission checks. See docs/faces.md.
 *
 * @example
 * ```ts
 * const echo = (setup: FaceSetup) =>
 *   createFace(setup, { routes: [route('GET', '/echo', { permission: 'public', run: async () => json({ ok: true }) })] })
 * const server = createAgentServer({ agents, faces: [echo] })
 * ```
 */
export function createFace<Context extends FaceContext = FaceContext>(
  { engine, authorize, authenticate, maxBodyBytes, onError, onClose }: FaceSetup,
  face: Face<Context>,
): WebHandler {
  const { routes, context, onRequest, encodeError = encodeRunError } = face
  const whole = { engine, authorize, onError, ...context } as Context
  const guard = (rows: readonly FaceRow<Context>[]) => guardRoutes(whole, rows, onRequest)
  const handler = createHandler({
    basePath: face.basePath,
    parseJson: face.parseJson,
    textErrors: face.textErrors,
    errorsBelow: face.errorsBelow,
    protocolHeaders: {
      request: [...keyHeaders(authenticate?.schemes), ...(face.protocolHeaders?.request ?? [])],
      response: face.protocolHeaders?.response,
    },
    authenticate,
    maxBodyBytes,
    onError,
    encodeError,
    routes: routes.flatMap((row): readonly (Route | LaterRows<Route>)[] =>
      'load' in row ? [{ ...row, load: async () => guard(await row.load()) }] : guard([row]),
    ),
    onRefuse: (refusal) =>
      internalsOf(engine).observe({ type: 'request.refused', ...refusal, at: Date.now() }),
    async onClose() {
      await face.onClose?.()
      await onClose?.()
    },
  })
  const describe = async () => {
    const rows = await Promise.all(routes.map(async (row) => ('load' in row ? row.load() : [row])))
    return (await import('./describe.ts')).describeRows(rows.flat())
  }
  return { ...handler, describe, isOpen: authenticate === undefined }
}

/** The headers that carry the API keys of `authenticate`. */
const keyHeaders = (schemes: SecuritySchemes = {}): readonly string[] =>
  Object.values(schemes).flatMap((scheme) =>
    scheme.type === 'apiKey' && scheme.in === 'header' ? [scheme.name.toLowerCase()] : [],
  )

/**
 * Creates the handler of a face that is served alone, with an engine or the options to create one. Throws
 * `AgentwireError` `invalid_argument` for unknown or invalid options.
 *
 * @param name The name of the calling function, for error messages about its options.
 * @param own The options of this face, in addition to those of all faces.
 */
export function standalone(
  name: string,
  options: FaceOptions & EngineChoice,
  own: Table,
  create: (setup: FaceSetup) => WebHandler,
): WebHandler {
  checkFace(name, options, own)
  const { engine, close: onClose } = engineOf(options)
  return withCors(create({ ...groupOptions(options), engine, onClose }), options.http?.cors)
}

/**
 * Creates the handler of your own face, served alone, with an engine or the options to create one. Throws
 * `AgentwireError` `invalid_argument` for unknown or invalid options.
 */
export const createFaceHandler = (
  options: FaceOptions & EngineChoice,
  face: (setup: FaceSetup) => WebHandler,
): WebHandler => upgrading(standalone('createFaceHandler', options, {}, face))

const answerRow = /* @__PURE__ */ later(() => import('./answer-row.ts'), 'answerRow')

/** Rows as routes of a handler, with what each row asks for before it runs. */
export const guardRoutes = <Context extends FaceContext>(
  context: Context,
  rows: readonly FaceRow<Context>[],
  onRequest?: () => void,
): readonly Route[] =>
  rows.map((row) => {
    const { method, path, permission } = row
    const kind: RouteKind | undefined =
      method === 'SOCKET' ? 'socket' : permission === 'public' ? 'public' : undefined
    return [
      method === 'SOCKET' ? 'GET' : method,
      path,
      (call) => {
        onRequest?.()
        return answerRow(context, row as unknown as FaceRow<FaceContext>, call)
      },
      kind,
    ]
  })

/** How requests are accepted, with any engine. */
export interface FaceOptions {
  readonly http?: HttpOptions | undefined
  /**
   * Identifies the caller of a request. Null is answered with 401. Default: anyone can call everything, and
   * the server warns about it on the first request.
   */
  readonly authenticate?: Authenticate | undefined
  /**
   * Restricts access within what ownership allows. Default: owners can do everything with their own
   * resources.
   */
  readonly authorize?: Authorize | undefined
  /**
   * Called with errors that are the server's fault, with the error id that was sent to the client, and the
   * thread, run and request if known. Errors that it throws or rejects with are ignored. Default:
   * `console.error`.
   */
  readonly onError?: OnError | undefined
}

/** The HTTP options of a face. */
export interface HttpOptions {
  /** The maximum size of a request body, in bytes. Larger bodies get 413. Default: 4 MiB. */
  readonly maxBodyBytes?: number | undefined
  /**
   * The other origins whose pages may call the server. Also accepts the section `http.cors` of a
   * `langgraph.json`. Default: none, except that `serve` from `agentwire/node` allows pages on the same
   * machine. `false` forbids these, too.
   */
  readonly cors?: CorsOptions | LangGraphCors | false | undefined
}

export const HTTP_OPTIONS: OptionTable<HttpOptions> = { maxBodyBytes: 'number', cors: CORS }

/** The options of an engine that the handler creates and closes. */
export interface OwnEngine extends Omit<AgentEngineOptions, 'onError'> {
  readonly engine?: undefined
}

/** Your engine. Close it after the handler: its streams end with the handler. */
export interface SharedEngine {
  readonly engine: AgentEngine
}

/** An engine, or the options to create one. */
export type EngineChoice = OwnEngine | SharedEngine

const FACE_OPTIONS: OptionTable<FaceOptions> = {
  http: HTTP_OPTIONS,
  authenticate: 'function',
  authorize: 'function',
  onError: 'function',
}

/** Validates the options of a face, its own options included, with an engine or the options to create one. */
export function checkFace(name: string, options: unknown, own: Table): void {
  checkOptions(name, options, FACE_OPTIONS, ENGINE_OPTIONS, STORAGE_PARTS, { engine: 'object' }, own)
}

/** The engine of a handler, and what to close when the handler closes. */
export function engineOf(options: EngineChoice & Pick<FaceOptions, 'onError'>): {
  readonly engine: AgentEngine
  readonly close: () => Promise<void>
} {
  if (options?.engine) return { engine: options.engine, close: async () => {} }
  const { onError = logError } = options ?? {}
  const engine = openEngine({ ...options, onError })
  return { engine, close: engine.close }
}

/** What every group of routes gets. */
export function groupOptions({ authenticate, authorize, http, onError = logError }: FaceOptions) {
  const allowsOrigin = originCheck(http?.cors)
  return { authenticate, authorize, maxBodyBytes: http?.maxBodyBytes, onError, allowsOrigin }
}
