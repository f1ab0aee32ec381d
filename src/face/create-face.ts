import {
  createHandler,
  type EncodeError,
  type HandlerOptions,
  type RouteDescriptions,
  upgrading,
  type WebHandler,
  withCors,
} from '../http/index.ts'
import type { Table } from '../options.ts'
import { type AgentEngine, internalsOf } from '../runs/index.ts'
import type { Authorize } from './access.ts'
import { encodeRunError } from './errors.ts'
import { checkFace, type EngineChoice, engineOf, type FaceOptions, groupOptions } from './options.ts'
import { type FaceContext, type FaceRoute, guardRoutes } from './routes.ts'

/** What a server gives each of its faces. */
export interface FaceSetup
  extends Pick<HandlerOptions, 'authenticate' | 'maxBodyBytes' | 'onError' | 'onClose'> {
  readonly engine: AgentEngine
  readonly authorize?: Authorize | undefined
  /** Whether `http.cors` allows pages of an origin. */
  readonly allowsOrigin?: ((origin: string) => boolean) | undefined
}

/** What a face is made of. */
export interface Face<Context extends FaceContext = FaceContext>
  extends Pick<HandlerOptions, 'basePath' | 'parseJson' | 'textErrors'> {
  /** Encodes errors as the protocol has them. Default: `{ error, message }` with the status that the error has over HTTP. */
  readonly encodeError?: EncodeError | undefined
  readonly routes: readonly FaceRoute<Context>[]
  /** What the routes take and answer, for `GET /openapi.json`. Loaded when somebody asks for it. */
  readonly describe?: (() => Promise<RouteDescriptions>) | undefined
  /** What its endpoints are given in addition to the engine. Default: nothing. */
  readonly context?: Omit<Context, keyof FaceContext> | undefined
  /** Called before each request that a route matches, such as to start work that the face does in the background. */
  readonly onRequest?: (() => void) | undefined
  /** Runs at the first `close()`, before an engine of its own closes. */
  readonly onClose?: (() => void | Promise<void>) | undefined
}

/**
 * The handler of a face: its routes behind authentication and their permissions. See docs/faces.md.
 *
 * @example
 * ```ts
 * const echo = (setup: FaceSetup) =>
 *   createFace(setup, { routes: [['GET', '/echo', 'public', async () => json({ ok: true })]] })
 * const server = createAgentServer({ agents, faces: [echo] })
 * ```
 */
export function createFace<Context extends FaceContext = FaceContext>(
  { engine, authorize, authenticate, maxBodyBytes, onError, onClose }: FaceSetup,
  face: Face<Context>,
): WebHandler {
  const { routes, context, onRequest, encodeError = encodeRunError } = face
  const whole = { engine, authorize, onError, ...context } as Context
  const handler = createHandler({
    basePath: face.basePath,
    parseJson: face.parseJson,
    textErrors: face.textErrors,
    authenticate,
    maxBodyBytes,
    onError,
    encodeError,
    routes: guardRoutes(whole, routes, onRequest),
    onRefuse: (refusal) =>
      internalsOf(engine).observe({ type: 'request.refused', ...refusal, at: Date.now() }),
    async onClose() {
      await face.onClose?.()
      await onClose?.()
    },
  })
  return { ...handler, describe: face.describe }
}

/**
 * A face that is served alone, over an engine or the options for one.
 *
 * @param name The function that makes it, for the sentences about its options.
 * @param own The options of the face beside those that all faces take.
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

/** A face of your own alone, over an engine or the options for one. */
export const createFaceHandler = (
  options: FaceOptions & EngineChoice,
  face: (setup: FaceSetup) => WebHandler,
): WebHandler => upgrading(standalone('createFaceHandler', options, {}, face))
