import { AgentwireError } from '../errors.ts'
import type { OptionTable } from '../options.ts'
import { calledUrl, isWithoutPreflight } from './origins.ts'
import { empty, knownBody } from './respond.ts'
import type { HandlerContext, ProtocolHeaders, WebHandler } from './types.ts'

/** The other origins whose pages may call a handler. */
export interface CorsOptions {
  /** Origins such as `https://app.example.com`; `*` allows every origin. */
  readonly origins: string | readonly string[]
  /**
   * Request headers to allow in addition to those that the clients of each protocol send; `*` allows every
   * header. Default: none.
   */
  readonly headers?: readonly string[] | undefined
  /** Whether cookies are sent. Requires named origins. Default: false. */
  readonly credentials?: boolean | undefined
}

/** The section `http.cors` of a `langgraph.json`. */
export interface LangGraphCors {
  /** Default: every origin, or none if `allow_origin_regex` is set. */
  readonly allow_origins?: readonly string[] | undefined
  /** A regular expression that must match the whole origin. */
  readonly allow_origin_regex?: string | undefined
  /** Default: all methods of the route. */
  readonly allow_methods?: readonly string[] | undefined
  readonly allow_headers?: readonly string[] | undefined
  readonly allow_credentials?: boolean | undefined
  /** Response headers to expose in addition to those of each protocol. */
  readonly expose_headers?: readonly string[] | undefined
  /** How long a browser may cache the answer to a preflight, in seconds. Default: 600. */
  readonly max_age?: number | undefined
}

/** The option `cors`, in both shapes. */
const CORS_OPTIONS: OptionTable<CorsOptions | LangGraphCors> = {
  origins: ['string', 'list'],
  headers: 'list',
  credentials: 'boolean',
  allow_origins: 'list',
  allow_origin_regex: 'string',
  allow_methods: 'list',
  allow_headers: 'list',
  allow_credentials: 'boolean',
  expose_headers: 'list',
  max_age: 'number',
}
export const CORS = ['false', CORS_OPTIONS] as const

/** The origins of pages served from this machine, for handlers without `http.cors`. */
export const LOOPBACK = { allow_origin_regex: 'https?://(localhost|127\\.0\\.0\\.1|\\[::1\\])(:\\d+)?' }

/** The headers of HTTP and tracing that pages may send to every handler. */
const HEADERS =
  'authorization,content-type,idempotency-key,if-match,if-none-match,last-event-id,prefer,traceparent,tracestate,x-api-key,x-request-id'
/** The response headers of HTTP that pages may read. */
const EXPOSED = 'content-location,etag,location,preference-applied,retry-after,www-authenticate'

/** The headers of several protocols. */
export const joinHeaders = (all: readonly (ProtocolHeaders | undefined)[]): ProtocolHeaders => ({
  request: [...new Set(all.flatMap((one) => one?.request ?? []))],
  response: [...new Set(all.flatMap((one) => one?.response ?? []))],
})

const originsIn = (given: Partial<CorsOptions> & LangGraphCors): readonly string[] =>
  [given.origins ?? given.allow_origins ?? (given.allow_origin_regex ? [] : '*')].flat()

/** A check whether pages of an origin may call. */
export function originCheck(
  options: CorsOptions | LangGraphCors | false | undefined,
): (origin: string) => boolean {
  if (!options) return () => false
  const given: Partial<CorsOptions> & LangGraphCors = options
  const origins = originsIn(given)
  const { allow_origin_regex: regex } = given
  const pattern = regex ? new RegExp(`^(?:${regex})$`) : undefined
  return (origin) =>
    origins.includes('*') ||
    origins.includes(origin) ||
    origins.includes(`${origin}/`) ||
    pattern?.test(origin) === true
}

/**
 * Adds the CORS headers (Fetch standard, §3.2) to every response, including errors and streams, and answers
 * preflights. A response that already allows an origin is not changed. `false` allows no origin, even if the
 * host has a default. Throws `AgentwireError` `invalid_argument`.
 */
export function withCors(
  handler: WebHandler,
  options: CorsOptions | LangGraphCors | false | undefined,
): WebHandler {
  if (!options) return options === undefined ? handler : { ...handler, cors: true }
  const given: Partial<CorsOptions> & LangGraphCors = options
  const { allow_methods: methods = ['*'], expose_headers = [], max_age = 600 } = given
  const { headers: extra = given.allow_headers ?? [], credentials = given.allow_credentials } = given
  const { request = [], response: readable = [] } = handler.protocolHeaders ?? {}
  const allowedHeaders = [HEADERS, ...request, ...extra].join()
  const exposedHeaders = [EXPOSED, ...readable, ...expose_headers].join()
  const any = originsIn(given).includes('*')
  if (any && credentials)
    throw new AgentwireError('invalid_argument', 'http.cors: credentials require a list of origins.')
  const isAllowed = originCheck(options)

  const allow = (request: Request, response: Response): Response => {
    const get = (name: string) => request.headers.get(name)
    const origin = get('origin')
    const allowed = origin && isAllowed(origin)
    const method = allowed && request.method === 'OPTIONS' && get('access-control-request-method')
    if (!response.status || response.headers.has('access-control-allow-origin')) return response
    // A page can only read the 404 of an unknown path if its preflight succeeds.
    const answer = method && response.status === 404 ? empty(204, { allow: method }) : copy(response)
    const { headers } = answer
    if (!any) headers.append('vary', 'origin')
    if (!allowed) return answer
    const set = (name: string, value: string) => headers.set(`access-control-${name}`, value)
    set('allow-origin', any ? '*' : origin)
    if (credentials) set('allow-credentials', 'true')
    if (method) {
      const served = headers.get('allow')?.split(', ') ?? []
      set('allow-methods', served.filter((name) => methods.some((one) => one === '*' || one === name)).join())
      set('allow-headers', (extra.includes('*') && get('access-control-request-headers')) || allowedHeaders)
      set('max-age', String(max_age))
      // A page on the internet that calls a server of this machine or network, as Chromium asks first.
      if (get('access-control-request-private-network') === 'true') set('allow-private-network', 'true')
    } else set('expose-headers', exposedHeaders)
    return answer
  }

  const trusted = (request: Request, context: HandlerContext | undefined): Request => {
    const origin = request.headers.get('origin')
    return any || (origin && isAllowed(origin)) ? trust(request, context, !!credentials) : request
  }

  const through =
    <Answer extends Response | undefined>(
      answer: (request: Request, context?: HandlerContext) => Promise<Answer>,
    ) =>
    async (request: Request, context?: HandlerContext) => {
      const response = await answer(trusted(request, context), context)
      return (response && allow(request, response)) as Answer
    }
  return { ...handler, cors: true, handle: through(handler.handle), fetch: through(handler.fetch) }
}

/**
 * Removes the headers that show the origin from requests that an allowed page sent without a preflight,
 * which are rejected otherwise. These may carry cookies, as every handshake does: `credentials` allows them.
 */
function trust(request: Request, context: HandlerContext | undefined, credentials: boolean): Request {
  if (!isWithoutPreflight(request, calledUrl(request, context))) return request
  const headers = new Headers(request.headers)
  for (const name of ['origin', 'sec-fetch-site', ...(credentials ? [] : ['cookie'])]) headers.delete(name)
  return new Request(request, { headers })
}

/** The headers of a `Response` from elsewhere may be immutable, and it may be sent again. */
function copy(response: Response): Response {
  return knownBody(response) === undefined ? new Response(response.body, response) : response
}
