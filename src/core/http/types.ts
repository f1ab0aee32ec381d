import type { Principal } from '../principal.ts'
import type { HttpError } from './errors.ts'
import type { SocketSession } from './sockets/socket.ts'

/** JSON Schema 2020-12. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** The request and responses of a route, for OpenAPI. The path parameters are derived from its pattern. */
export interface RouteDescription {
  readonly summary: string
  /** The query parameters by name. */
  readonly query?: Readonly<Record<string, JsonSchema>> | undefined
  readonly body?: JsonSchema | undefined
  /** The response bodies by status; null for an empty body. Errors are added automatically. */
  readonly answers: Readonly<Record<number, JsonSchema | null>>
  /**
   * Whether the 200 response is a stream of server-sent events, instead of JSON or as an alternative.
   * Default: false.
   */
  readonly streams?: boolean | undefined
}

/** By method and pattern, such as `GET /threads/:thread_id`. */
export type RouteDescriptions = Readonly<Record<`${string} /${string}`, RouteDescription>>

export type { Principal }

/** The caller, a response that is sent as it is, or nobody, which is answered with 401. */
export type Authenticated = Principal | Response | null | undefined

/** What a host already knows about a request: the optional second argument of `fetch` and `handle`. */
export interface HandlerContext {
  /**
   * Fires when the client disconnects or the host shuts down. Use it instead of `request.signal`, which Node
   * 20 may lose.
   */
  readonly signal?: AbortSignal | undefined
  /** The JSON body, if an earlier body parser read it. `undefined`: the handler reads the request. */
  readonly parsedBody?: unknown
  /** Why an earlier body parser did not read the body. Thrown to an endpoint that reads it. */
  readonly bodyError?: HttpError | undefined
  /** The caller, if the host authenticated it. The handler then does not call `authenticate`. */
  readonly principal?: Principal | undefined
  /**
   * Identifies the caller by what the host knows about this request, such as its session. The handler calls it
   * instead of `authenticate`, with the same results.
   */
  readonly authenticate?: (() => Authenticated | Promise<Authenticated>) | undefined
  /** The mount prefix that the host matched, such as `/api`. Overrides the handler's own `basePath`. */
  readonly basePath?: string | undefined
  /** The host that the client called, with its port, if the URL of the request has a different one. */
  readonly host?: string | undefined
  /** Keeps a serverless instance alive until the promise settles. */
  readonly waitUntil?: ((work: Promise<unknown>) => void) | undefined
  /** Upgrades a request to a web socket, as Bun's `Server` does. */
  upgrade?(
    request: Request,
    options: { readonly data: SocketSession; readonly headers: Record<string, string> },
  ): boolean
}

/** The HTTP methods of routes. HEAD and OPTIONS are derived from them. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** A request as an endpoint sees it: matched and authenticated, with its body unread. */
export interface Call {
  readonly request: Request
  readonly url: URL
  /** The pattern of the route, such as `/threads/:thread_id/state`. */
  readonly route: string
  /** Decoded path parameters, in an object without a prototype. */
  readonly params: Readonly<Record<string, string>>
  readonly principal: Principal | null
  /** Fires when the client disconnects. Streams must rely on `cancel()` first and on this second. */
  readonly signal: AbortSignal | undefined
  readonly waitUntil: (work: Promise<unknown>) => void
  /**
   * Asks `authenticate` again about this request, for a connection that outlives it, or for the first time on
   * a `public` route. A response rejects the caller. Throws `HttpError` 401 if nobody is authenticated. A
   * caller that the host has named as `context.principal` stays.
   */
  identify(): Promise<Principal | Response | null>
  /**
   * Reads the JSON body once, within the byte and depth limits. An empty body is `undefined`. Throws
   * `HttpError`.
   */
  json(): Promise<unknown>
  /** Reads the body once as text, instead of `json()`, within the byte limit. Throws `HttpError`. */
  text(): Promise<string>
}

/** Answers one request. Errors that it throws are encoded by the handler. */
export type Endpoint = (call: Call) => Response | Promise<Response>

/**
 * Special kinds of routes. A `public` route is called without `authenticate`; it knows the caller only if the
 * host does. A `socket` route only accepts a handshake: any other request gets 426 before it is
 * authenticated, so that another handler can answer it. An `asset` is a script or style sheet, which pages of
 * every origin may load.
 */
export type RouteKind = 'public' | 'socket' | 'asset'

/** A row of a route table: method, pattern such as `/threads/:thread_id/state`, endpoint. */
export type Route = readonly [method: Method, pattern: string, endpoint: Endpoint, kind?: RouteKind]

/** A route as a row: what a server knows about it, in one place. What it accepts and answers are fields of its kind. */
export interface RouteRow<RowMethod, Run> {
  readonly method: RowMethod
  /** With parameters such as `:thread_id`. */
  readonly path: string
  /** One sentence for `GET /openapi.json`. */
  readonly summary?: string | undefined
  readonly run: Run
}

/** Rows that are loaded with the first request to one of these paths, such as `/v1`, or below it. */
export interface LaterRows<Row> {
  readonly below: readonly string[]
  /** Called again by requests that arrive before the rows do. */
  readonly load: () => Promise<readonly Row[]>
}

/** The headers of a protocol that pages of other origins send and read, in addition to those of HTTP. */
export interface ProtocolHeaders {
  /** Request headers of its clients and its documentation. */
  readonly request?: readonly string[] | undefined
  /** Response headers. */
  readonly response?: readonly string[] | undefined
}

/** The shape of everything mountable: one group of endpoints, or several groups combined. */
export interface WebHandler {
  /** Answers every request. A path that no route matches gets 404. Safe to destructure. */
  readonly fetch: (request: Request, context?: HandlerContext) => Promise<Response>
  /** Like `fetch`, but returns `undefined` if no route matches, so that the host can handle the request. */
  readonly handle: (request: Request, context?: HandlerContext) => Promise<Response | undefined>
  /** Lists its routes, which may have to be loaded. */
  readonly routes: () => Promise<readonly Route[]>
  /** Describes its routes for a server's OpenAPI document. */
  readonly describe?: (() => Promise<RouteDescriptions>) | undefined
  /**
   * The prefixes of its routes, such as `/api/threads`, for the 404 of other paths. The host's `basePath`
   * takes precedence.
   */
  readonly mountPaths?: ((basePath?: string) => readonly string[]) | undefined
  /**
   * The 404 of a path that no route matches, in the format of its protocol. Undefined if the path is not of
   * its protocol.
   */
  readonly notFound?: ((request: Request, basePath?: string) => Response | undefined) | undefined
  /** Whether the handler itself decides which other origins may call it. A host then adds no default. */
  readonly cors?: boolean | undefined
  /** Whether anyone may call it, because it has no `authenticate`. Default: false. */
  readonly isOpen?: boolean | undefined
  /**
   * Called by an adapter that identifies callers itself, with its option `principal`. From then on a request
   * that comes without a caller is answered with 401, such as one of another mount without that option.
   */
  readonly requirePrincipal?: (() => void) | undefined
  /** The headers of its protocol, which pages that `http.cors` allows may send and read. Default: none. */
  readonly protocolHeaders?: ProtocolHeaders | undefined
  /** Reaches what the handler needs, such as its database. `serve` waits for it before it listens. */
  readonly setup?: (() => Promise<void>) | undefined
  /** Ends every stream and run of this handler. Later requests get 503. */
  readonly close: () => Promise<void>
}
