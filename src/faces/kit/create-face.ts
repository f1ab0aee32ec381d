import {
  createHandler,
  type EncodeError,
  type HandlerOptions,
  type LaterRows,
  type Route,
  type SecuritySchemes,
  upgrading,
  type WebHandler,
  withCors,
} from '../../core/http/index.ts'
import type { Table } from '../../core/options.ts'
import { internalsOf, type ServedEngine } from '../../engine/index.ts'
import type { Authorize } from './access.ts'
import { encodeRunError } from './errors.ts'
import { guardRoutes } from './guard.ts'
import { checkFace, type EngineChoice, engineOf, type FaceOptions, groupOptions } from './options.ts'
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
