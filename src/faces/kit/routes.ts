import type { Call, JsonSchema, Method, OnError, RouteRow } from '../../core/http/index.ts'
import type { AgentEngine } from '../../engine/index.ts'
import type { Authorize, ThreadAction, ThreadResource } from './access.ts'

/** What the endpoints of every face get. */
export interface FaceContext {
  readonly engine: AgentEngine
  readonly authorize: Authorize | undefined
  /** Called with errors that are the server's fault, with the id that was sent to the client. */
  readonly onError: OnError | undefined
}

/** A call about one thread. */
export interface FaceCall<Body = unknown> extends Call {
  /** Empty for routes without one. */
  readonly threadId: string
  /** The checked body. Undefined if the row has no schema for it: `json()` reads it. */
  readonly body: Body
}

/** Answers one request of a face. */
export type FaceEndpoint<Context extends FaceContext, Body = unknown> = (
  context: Context,
  call: FaceCall<Body>,
) => Promise<Response>

/** A schema of zod 4. */
export interface BodySchema<Body> {
  readonly _zod: { readonly output: Body }
}

type Answers = Readonly<Record<number, object | null>>

/** What a route accepts and returns, as JSON Schema that may contain schemas of zod. */
export interface RouteFields<Context extends FaceContext, Body>
  extends Omit<RouteRow<Method, FaceEndpoint<Context, Body>>, 'method' | 'path'> {
  /**
   * Checked before anything is read. Null if `run` checks a permission itself, because it depends on the body, and
   * `public` if anyone can call the route without credentials.
   */
  readonly permission: ThreadAction | 'public' | null
  /** The resource of the permission, if the path does not contain it. */
  readonly resource?: ((context: Context, call: Call) => Promise<ThreadResource>) | undefined
  /** The query parameters by name. */
  readonly query?: Readonly<Record<string, object>> | undefined
  /**
   * Checks the body after the permission and gives it to `run`. A function only describes a body that `run` reads
   * itself; its argument converts schemas of zod.
   */
  readonly body?: BodySchema<Body> | ((toJson: (schema: object) => JsonSchema) => JsonSchema) | undefined
  /**
   * The response bodies by status; null for an empty body. Errors are added automatically. A function loads schemas that
   * only the document needs.
   */
  readonly answers?: Answers | (() => Promise<Answers>) | undefined
  /**
   * Whether the 200 response is a stream of server-sent events, instead of JSON or as an alternative.
   * Default: false.
   */
  readonly streams?: boolean | undefined
}

/** A route of a face: everything that the server knows about it. The method `SOCKET` is the handshake of a web socket. */
export interface FaceRow<Context extends FaceContext>
  extends RouteFields<Context, never>,
    RouteRow<Method | 'SOCKET', FaceEndpoint<Context, never>> {}

/**
 * A route of a face.
 *
 * @example
 * ```ts
 * const health = route('GET', '/health', { permission: 'public', run: async () => json({ ok: true }) })
 * ```
 */
export const route = <Context extends FaceContext, Body = undefined>(
  method: Method | 'SOCKET',
  path: string,
  fields: RouteFields<Context, Body>,
): FaceRow<Context> => ({ method, path, ...(fields as unknown as RouteFields<Context, never>) })
