import { AgentwireError } from '../errors.ts'
import { readJson, readText } from './body.ts'
import {
  asText,
  type ErrorOrigin,
  errorResponse,
  HttpError,
  type OnError,
  originOf,
  reportError,
  wantsText,
} from './errors.ts'
import { untilExpiry } from './expiry.ts'
import { calledUrl, rejectWithoutPreflight } from './origins.ts'
import { empty } from './respond.ts'
import { normalizeBase, stripBase, tableOf } from './router.ts'
import type { SecuritySchemes } from './security.ts'
import { isHandshake, withBearer } from './sockets/socket.ts'
import type {
  Authenticated,
  Call,
  HandlerContext,
  LaterRows,
  Principal,
  ProtocolHeaders,
  Route,
  WebHandler,
} from './types.ts'

/**
 * Identifies the caller of a request. `null` or `undefined` is answered with 401, a `Response` is sent as it is, and a
 * thrown error is answered with 500 without details unless it is an `HttpError`.
 */
export interface Authenticate {
  (request: Request): Authenticated | Promise<Authenticated>
  /**
   * The accepted schemes, for clients that ask before they call, such as readers of the A2A card. Set them
   * with `Object.assign(authenticate, { schemes })`. Default: a bearer token.
   */
  readonly schemes?: SecuritySchemes | undefined
}

/**
 * Encodes an error for a protocol; `undefined` means the default shape. `call` is absent until a route has
 * matched and the caller is known.
 */
export type EncodeError = (
  error: unknown,
  call: Call | undefined,
  origin: ErrorOrigin,
) => Response | undefined

/** A request that was answered with an error. */
export interface Refusal {
  readonly method: string
  /** The pattern of the route. Undefined if none matched. */
  readonly route: string | undefined
  readonly status: number
  /** Such as `unauthorized`. */
  readonly code: string
}

export interface HandlerOptions {
  readonly routes: readonly (Route | LaterRows<Route>)[]
  /**
   * The prefix of every route, such as `/api`. The host's `context.basePath` takes precedence. Default none.
   */
  readonly basePath?: string | undefined
  /**
   * Identifies callers. Not called if the host sets `context.principal` or `context.authenticate`. Default:
   * all requests are accepted with `principal: null`.
   */
  readonly authenticate?: Authenticate | undefined
  /** The maximum size of a request body, in bytes. Default: 4 MiB. */
  readonly maxBodyBytes?: number | undefined
  /** Parses a body, for protocols with their own error for invalid JSON. Default: `JSON.parse`. */
  readonly parseJson?: ((text: string) => unknown) | undefined
  /**
   * Encodes every error, including the handler's own (401, 404, 405 and 503 as `HttpError`, whose `headers`
   * belong in the response). Default: `errorResponse`.
   */
  readonly encodeError?: EncodeError | undefined
  readonly onError?: OnError | undefined
  /** Called for every request that is answered with an error. Must not throw. */
  readonly onRefuse?: ((refusal: Refusal) => void) | undefined
  /** Whether clients that accept text but not JSON get errors as plain text. Default: they get JSON. */
  readonly textErrors?: boolean | undefined
  /** The headers of the protocol, for pages that `http.cors` allows. Default: none. */
  readonly protocolHeaders?: ProtocolHeaders | undefined
  /** The path, such as `/v1`, below which a server answers unknown paths with errors of this handler. */
  readonly errorsBelow?: string | undefined
  /** Runs once, at the first `close()`. */
  readonly onClose?: (() => void | Promise<void>) | undefined
}

/**
 * Serves a route table: matches, authenticates, calls the endpoint and encodes every error. `fetch` and
 * `handle` never throw or reject.
 */
export function createHandler(options: HandlerOptions): WebHandler {
  const { routerOf, routes, paths } = tableOf(options.routes)
  let closing: Promise<void> | undefined
  let byHost = false

  const mountPaths = (basePath?: string): string[] => {
    const base = normalizeBase(basePath || options.basePath || '')
    return paths.map((path) => `${base}/${path.split('/')[1]}`)
  }

  const handle = async (given: Request, context: HandlerContext = {}): Promise<Response | undefined> => {
    let request = given
    let call: Call | undefined
    let params: Call['params'] | undefined
    let route: string | undefined
    try {
      const url = calledUrl(request, context)
      const pathname = stripBase(url.pathname, context.basePath || options.basePath || '')
      if (pathname === undefined) return undefined
      const router = routerOf(pathname)
      const match = ('match' in router ? router : await router).match(request.method, pathname)
      if (match.kind === 'none') return undefined
      if (closing !== undefined) throw shuttingDown()
      if (match.kind === 'method') return refuseMethod(request.method, match.allow)
      route = match.pattern
      params = match.params
      if (match.routeKind === 'socket' && !isHandshake(request)) throw needsHandshake()
      rejectWithoutPreflight(request, url, match.routeKind)
      request = withBearer(given)
      const authenticate = context.authenticate ?? options.authenticate ?? (byHost ? nobody : undefined)
      const isPublic = match.routeKind === 'public'
      const principal = await identify(request, context, isPublic ? undefined : authenticate)
      if (isResponse(principal)) {
        if (principal.status >= 400) refuse(request.method, route, principal.status, 'unauthorized')
        return principal
      }
      const found = { request, url, route, params, principal }
      call = createCall(found, context, { ...options, authenticate })
      const response = untilExpiry(await match.endpoint(call), principal)
      return request.method === 'HEAD' ? withoutBody(response) : response
    } catch (error) {
      const response = encode(options, error, request, params, call)
      const code = error instanceof AgentwireError ? error.code : 'internal_error'
      refuse(request.method, route, response.status, code)
      return response
    }
  }

  const refuse = (method: string, route: string | undefined, status: number, code: string): void =>
    options.onRefuse?.({ method, route, status, code })

  const missing = (request: Request, basePath?: string): Response =>
    encode(options, notFound(mountPaths(basePath), request), request)

  return {
    routes,
    protocolHeaders: options.protocolHeaders,
    handle,
    mountPaths,
    requirePrincipal() {
      byHost = true
    },
    notFound: (request, basePath) =>
      isOwn(options, request, basePath) ? missing(request, basePath) : undefined,
    fetch: async (request, context) =>
      (await handle(request, context)) ?? missing(request, context?.basePath),
    close: () => (closing ??= Promise.resolve().then(options.onClose)),
  }
}

function encode(
  { encodeError, onError, textErrors }: HandlerOptions,
  error: unknown,
  request: Request,
  params?: Call['params'],
  call?: Call,
): Response {
  const origin = originOf(request, params)
  try {
    const response = encodeError?.(error, call, origin) ?? errorResponse(error, onError, origin)
    return textErrors && wantsText(request) ? asText(response) : response
  } catch (cause) {
    reportError(error, onError, origin)
    return errorResponse(new Error('An error could not be encoded.', { cause }), onError, origin)
  }
}

/** Whether the handler answers an unknown path with an error of its own. */
function isOwn({ errorsBelow, ...options }: HandlerOptions, { url }: Request, basePath?: string): boolean {
  const path = stripBase(new URL(url).pathname, basePath || options.basePath || '')
  return errorsBelow !== undefined && path?.startsWith(`${errorsBelow}/`) === true
}

function shuttingDown(): HttpError {
  const headers = { 'retry-after': '1' }
  return new HttpError(503, 'closed', 'This server is shutting down.', { headers })
}

/** The start of the message for a path that no route matches. */
export const NO_ROUTE = 'No route matches this path. agentwire serves'

/** The error for a path that no route matches. It repeats nothing of the request. */
export function notFound(mountPaths: readonly string[], { url }: Request): HttpError {
  const { pathname } = new URL(url)
  const places = mountPaths.map((place) => pathname.indexOf(place))
  const isBelow = Math.max(...places) > 0 && !places.includes(0)
  const hint = isBelow ? ' Pass the path before it as basePath.' : ''
  return new HttpError(404, 'not_found', `${NO_ROUTE} ${[...new Set(mountPaths)].join(', ')} here.${hint}`)
}

function refuseMethod(method: string, allow: readonly string[]): Response {
  const headers = { allow: allow.join(', ') }
  if (method === 'OPTIONS') return empty(204, headers)
  throw new HttpError(405, 'method_not_allowed', 'This path does not support this method.', { headers })
}

function needsHandshake(): HttpError {
  const message = 'Open a web socket here, or POST the filter for server-sent events.'
  const headers = { upgrade: 'websocket', allow: 'POST' }
  return new HttpError(426, 'upgrade_required', message, { headers })
}

/**
 * The caller of a request, a response that rejects it, or null without authentication. Throws `HttpError` 401
 * if `authenticate` finds nobody.
 */
export async function identify(
  request: Request,
  context: Pick<HandlerContext, 'principal'>,
  authenticate: Authenticate | undefined,
): Promise<Principal | Response | null> {
  if (context.principal === undefined && authenticate === undefined) return null
  const principal = context.principal ?? (await authenticate?.(request)) ?? null
  if (principal === null) {
    const headers = { 'www-authenticate': 'Bearer' }
    throw new HttpError(401, 'unauthorized', 'This request needs valid credentials.', { headers })
  }
  // Ownership depends on the id: principals without one would share their threads.
  if (!isResponse(principal) && (typeof principal.id !== 'string' || principal.id === '')) {
    throw new TypeError('A principal must have an id, a non-empty string.')
  }
  return principal
}

/** Identifies the callers of a handler that its host identifies, if the host does not say who calls. */
const nobody: Authenticate = () => null

/** Checked by its tag, because a host may use its own Response class. */
export function isResponse(value: unknown): value is Response {
  return Object.prototype.toString.call(value) === '[object Response]'
}

type Matched = Pick<Call, 'request' | 'url' | 'route' | 'params' | 'principal'>

function createCall(
  { request, url, route, params, principal }: Matched,
  context: HandlerContext,
  { maxBodyBytes, parseJson, onError, authenticate }: HandlerOptions,
): Call {
  const signal = context.signal ?? ownSignal(request)
  let body: Promise<unknown> | undefined
  let text: Promise<string> | undefined
  return {
    request,
    url,
    route,
    params,
    principal,
    signal,
    identify: () => identify(request, context, authenticate),
    json: () =>
      (body ??= readJson(request, {
        maxBytes: maxBodyBytes,
        parse: parseJson,
        parsedBody: context.parsedBody,
        error: context.bodyError,
        signal,
      })),
    text: () => (text ??= readText(request, { maxBytes: maxBodyBytes, error: context.bodyError, signal })),
    waitUntil(work) {
      const settled = work.catch((error) => reportError(error, onError, originOf(request, params)))
      context.waitUntil?.(settled)
    },
  }
}

const requests = new WeakMap<AbortSignal, Request>()

/**
 * Node 20 loses the signal of a garbage-collected `Request` (nodejs/node#55428), so the signal keeps its
 * request alive.
 */
function ownSignal(request: Request): AbortSignal {
  requests.set(request.signal, request)
  return request.signal
}

/** The response to HEAD. The body is cancelled unread, so that a stream releases its source. */
function withoutBody(response: Response): Response {
  response.body?.cancel().catch(() => {}) // No caller waits for the cancellation.
  return new Response(null, response)
}
