import { errorResponse, HttpError } from './errors.ts'
import { isHandshake } from './sockets/socket.ts'
import type { Call, HandlerContext, RouteKind, WebHandler } from './types.ts'

/** The URL that the client called, with the host from `context` if the host of the request differs. */
export function calledUrl({ url }: Request, { host }: Pick<HandlerContext, 'host'> = {}): URL {
  const called = new URL(url)
  if (host) {
    called.port = '' // A host without a port would keep the old port.
    called.host = host
  }
  return called
}

/**
 * Whether a browser marks a request as coming from a page of another origin (Fetch Metadata, §2.3; RFC 6454,
 * §7). Browsers that do not send the page's site send its origin.
 */
export function isCrossOrigin({ headers }: Request, url: URL): boolean {
  const site = headers.get('sec-fetch-site')
  if (site !== null) return site !== 'same-origin' && site !== 'none'
  const origin = headers.get('origin')
  if (origin === null) return false
  // The scheme is not compared, because TLS often ends at a proxy.
  return !URL.canParse(origin) || new URL(origin).host !== publicOrigin(headers, url).host
}

const JSON_TYPE = /^\s*application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i

/** Whether a content type is JSON. */
export const isJsonType = (type: string | null): boolean => type !== null && JSON_TYPE.test(type)

/** The effect of a request: `acting` changes something although it is a GET. */
type Effect = RouteKind | 'acting' | undefined

/**
 * Whether a page of another origin may have sent this without a preflight (Fetch standard, §4.8). CORS then
 * only keeps the page from reading the response, after the effect.
 */
export function isWithoutPreflight(request: Request, url: URL, effect?: Effect): boolean {
  const { method, headers } = request
  const reads = method === 'GET' || method === 'HEAD'
  if (!(reads || method === 'POST') || !isCrossOrigin(request, url)) return false
  if (isHandshake(request)) return true
  if (!reads && isJsonType(headers.get('content-type'))) return false
  if (!reads && hasBody(request)) return true
  const mode = headers.get('sec-fetch-mode')
  // Links from other pages are allowed, and all pages may load assets.
  const isNavigation = mode === 'navigate' && !(reads && effect !== 'acting')
  return isNavigation || (mode === 'no-cors' && effect !== 'asset')
}

/** Browsers send `Content-Length: 0` with a POST that has no body. */
function hasBody({ headers, body }: Request): boolean {
  const length = headers.get('content-length')
  return length === null ? body !== null : length !== '0'
}

/** Throws `HttpError` 403 for a request that another origin's page may have sent without a preflight. */
export function rejectWithoutPreflight(request: Request, url: URL, effect?: Effect): void {
  if (!isWithoutPreflight(request, url, effect)) return
  const message =
    'Pages from other origins may not send this request. Add the origin of the page to http.cors'
  const instead = request.method === 'POST' ? ', or send JSON with content-type: application/json.' : '.'
  throw new HttpError(403, 'origin_not_allowed', message + instead)
}

/** The headers that `publicBase` reads. Caches must vary on them. */
export const BASE_HEADERS = 'X-Forwarded-Proto, Forwarded'

/**
 * The URL at which the caller reaches the server: the origin of the request and the path before its route.
 * Hosts build the request's URL from headers that clients can forge, so only the parsed origin and the
 * matched path are used. A proxy is trusted for the scheme only.
 */
export function publicBase({ request: { headers }, url, route }: Call): string {
  const segments = url.pathname.replace(/\/$/, '').split('/')
  const path = segments.slice(0, segments.length - route.split('/').length + 1).join('/')
  return publicOrigin(headers, url).origin + path
}

/** The same without a path. */
export function publicOrigin(headers: Headers, url: URL): URL {
  const base = new URL(url.origin)
  const scheme =
    /^\s*(https?)\s*(?:,|$)/i.exec(headers.get('x-forwarded-proto') ?? '') ??
    /^(?:[^,]*;)?\s*proto="?(https?)"?\s*(?:[;,]|$)/i.exec(headers.get('forwarded') ?? '')
  if (scheme) base.protocol = scheme[1]!
  return base
}

const LOCAL = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/

/** Whether a hostname of a URL is this machine's own. A page cannot make these lead elsewhere. */
export const isLocalHost = (hostname: string): boolean => LOCAL.test(hostname)

/** Whether only this machine can reach an address. */
export const isLoopback = (address: string): boolean => isLocalHost(bracketed(address))

/** An address as URLs have it. */
export const bracketed = (address: string): string => (address.includes(':') ? `[${address}]` : address)

/**
 * A handler that, as long as it is open, answers only requests for this machine's own names and the given
 * ones, without their ports: a page can make its own host name resolve to this machine (DNS
 * rebinding), and is then of the server's own origin.
 */
export function withHosts(handler: WebHandler, hosts: readonly string[]): WebHandler {
  const named = new Set(hosts.map((host) => host.toLowerCase()))
  const refused = (request: Request, context: HandlerContext | undefined): Response | undefined => {
    if (!handler.isOpen) return undefined
    const { hostname } = calledUrl(request, context)
    return isLocalHost(hostname) || named.has(hostname) ? undefined : errorResponse(otherHost(hostname))
  }
  return {
    ...handler,
    get isOpen() {
      return handler.isOpen
    },
    handle: async (request, context) => refused(request, context) ?? handler.handle(request, context),
    fetch: async (request, context) => refused(request, context) ?? handler.fetch(request, context),
  }
}

const otherHost = (hostname: string): HttpError =>
  new HttpError(
    421,
    'host_not_allowed',
    `This server has no authentication, so it answers only requests for localhost, 127.0.0.1 and [::1]. To call it as ${JSON.stringify(hostname)}, pass allowedHosts to serve (--allow-host of the command line), or configure authenticate.`,
  )
