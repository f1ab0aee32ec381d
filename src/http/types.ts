import type { Principal } from '../principal.ts'
import type { RouteDescriptions } from './describe.ts'
import type { SocketSession } from './sockets/socket.ts'

export type { Principal }

/** What a host already knows about a request: the optional second argument of `fetch` and `handle`. */
export interface HandlerContext {
  /** Fires when the client is gone or the host shuts down. Prefer it over `request.signal`, which Node 20 may lose. */
  readonly signal?: AbortSignal | undefined
  /** The JSON body, if an earlier body parser read it. `undefined` means that the handler reads the request. */
  readonly parsedBody?: unknown
  /** The caller, if the host authenticated it. `authenticate` is then not called. */
  readonly principal?: Principal | undefined
  /** The mount prefix the host has matched, such as `/api`. Overrides the handler's own `basePath`. */
  readonly basePath?: string | undefined
  /** The host that the client has called, with its port, where the URL of the request has another one. */
  readonly host?: string | undefined
  /** Keeps a serverless instance alive until the promise settles. */
  readonly waitUntil?: ((work: Promise<unknown>) => void) | undefined
  /** Upgrades a request to a web socket, as Bun's `Server` does. */
  upgrade?(
    request: Request,
    options: { readonly data: SocketSession; readonly headers: Record<string, string> },
  ): boolean
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** One request as an endpoint sees it: matched, authenticated, its body not yet read. */
export interface Call {
  readonly request: Request
  readonly url: URL
  /** The pattern of the route, such as `/threads/:thread_id/state`. */
  readonly route: string
  /** Decoded path parameters, in an object without a prototype. */
  readonly params: Readonly<Record<string, string>>
  readonly principal: Principal | null
  /** Fires when the client is gone. Streams must rely on `cancel()` first and on this second. */
  readonly signal: AbortSignal | undefined
  readonly waitUntil: (work: Promise<unknown>) => void
  /** Reads the JSON body once, within the byte and depth limits. An empty body is `undefined`. Throws `HttpError`. */
  json(): Promise<unknown>
  /** Reads the body once as text, in place of `json()`, within the limit of bytes. Throws `HttpError`. */
  text(): Promise<string>
}

export type Endpoint = (call: Call) => Response | Promise<Response>

/**
 * What is special about a route. A public one is called without `authenticate`; it knows the caller only where the host has. That of a
 * web socket takes nothing but a handshake: any other request is 426 before it is authenticated, so that another handler can take it.
 * An asset is a script or a style sheet, which pages of every origin load.
 */
export type RouteKind = 'public' | 'socket' | 'asset'

/** One row of an endpoint group: method, pattern such as `/threads/:thread_id/state`, endpoint. */
export type Route = readonly [method: Method, pattern: string, endpoint: Endpoint, kind?: RouteKind]

/** The shape of everything mountable: an endpoint group, or several of them composed. */
export interface WebHandler {
  /** Answers every request; a path that no route matches gets a 404. Safe to destructure. */
  readonly fetch: (request: Request, context?: HandlerContext) => Promise<Response>
  /** Like `fetch`, but returns `undefined` when no route matches, so that a host can fall through. */
  readonly handle: (request: Request, context?: HandlerContext) => Promise<Response | undefined>
  readonly routes: readonly Route[]
  /** What its routes take and answer, for the OpenAPI document of a server. */
  readonly describe?: (() => Promise<RouteDescriptions>) | undefined
  /** Where its routes begin, such as `/api/threads`, for the 404 of other paths. The host's `basePath` takes precedence. */
  readonly mountPaths?: ((basePath?: string) => readonly string[]) | undefined
  /** It decides itself which pages of other origins may call it: a host adds no default. */
  readonly cors?: boolean | undefined
  /** Ends every stream and run of this handler. Later requests get 503. */
  readonly close: () => Promise<void>
}
