import type { NextRequest } from 'next/server.js'
import { AgentwireError } from '../src/core/errors.ts'
import type { HandlerContext, WebHandler } from '../src/core/http/types.ts'
import { checkHandler, checkOptions, type OptionTable } from '../src/core/options.ts'
import { identifying, type PrincipalOf } from './principal.ts'
import { withoutBody } from './without-body.ts'

export type { PrincipalOf } from './principal.ts'

/** Set by the Edge runtime. */
declare const EdgeRuntime: string | undefined

export interface NextOptions<Req = NextRequest> {
  /**
   * Says who sent a request, by your own session, such as `async () => (await auth())?.user`, instead of the
   * server's `authenticate`. Null or undefined is 401. Default: `authenticate` decides.
   */
  readonly principal?: PrincipalOf<Req> | undefined
  /** The route's folder: `/agent` for `app/agent/[[...path]]/route.ts`. Default: the handler's own. */
  readonly basePath?: string | undefined
}

const NEXT_OPTIONS: OptionTable<NextOptions> = { principal: 'function', basePath: 'string' }

export type NextRoute = (request: Request) => Promise<Response>

export interface NextRoutes {
  readonly GET: NextRoute
  readonly POST: NextRoute
  readonly PUT: NextRoute
  readonly PATCH: NextRoute
  readonly DELETE: NextRoute
  readonly OPTIONS: NextRoute
}

/**
 * The exports of a route file in Next 15 and 16: `export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } =
 * toNext(handler)`. Next answers HEAD through `GET`. `runtime`, `dynamic` and `maxDuration` must be literals
 * in the route file. The host in an agent card is the `Host` header, because `request.url` contains the
 * machine's own name. Throws `AgentwireError` `not_supported` in the Edge runtime, which ends a run with its
 * request.
 */
export function toNext<Req = NextRequest>(handler: WebHandler, options: NextOptions<Req> = {}): NextRoutes {
  checkHandler('toNext', handler)
  checkOptions('toNext', options, NEXT_OPTIONS)
  const { basePath } = options
  const callerOf = identifying(handler, options.principal)
  if (typeof EdgeRuntime === 'string') {
    throw new AgentwireError(
      'not_supported',
      "agentwire cannot keep runs in the Edge runtime: put `export const runtime = 'nodejs'` into the route file.",
    )
  }
  const route: NextRoute = async (request) => {
    const host = request.headers.get('host') ?? undefined
    if (isDevelopment()) tell(handler, `${new URL(request.url).protocol}//${host}${basePath ?? ''}`)
    const authenticate = callerOf(request as Req)
    const response = await handler.fetch(request, { authenticate, basePath, host, waitUntil: waitUntil() })
    // For HEAD, and for a client that has disconnected, Next neither reads nor cancels the body.
    return request.method === 'HEAD' || request.signal.aborted ? withoutBody(response) : response
  }
  return { GET: route, POST: route, PUT: route, PATCH: route, DELETE: route, OPTIONS: route }
}

/** The `waitUntil` of a host that runs Next serverless, under the name that Next documents for such hosts. */
function waitUntil(): HandlerContext['waitUntil'] {
  const key = Symbol.for('@next/request-context')
  const host = (globalThis as { [key]?: { get(): HandlerContext | undefined } })[key]
  return host?.get()?.waitUntil
}

/** What survives reloads and is shared by all bundles of a process. */
interface Kept {
  readonly storage: unknown
  server: WebHandler
}

/**
 * The one server of a Next process, shared by all bundles. `open` opens the storage, once. `make` creates the
 * server: once in production, and in `next dev` again when an edit reloads the calling file. The new server
 * then answers all requests, and the old one closes after `drainMs`. A second server in the same app needs
 * another `name`.
 */
export function cachedServer<Storage, Server extends WebHandler>(
  open: () => Storage,
  make: (storage: Storage) => Server,
  name = 'agents',
): Server {
  const all = globalThis as { [key: symbol]: Kept | undefined }
  const key = Symbol.for(`agentwire.next.${name}`)
  const before = all[key]
  const storage = before ? (before.storage as Storage) : open()
  const kept: Kept = before ?? { storage, server: make(storage) }
  all[key] = kept
  if (before && !inProduction()) {
    const { server } = before
    before.server = make(storage)
    server.close().catch((error) => console.error('agentwire: the replaced server did not close.', error))
  }
  // Code that was loaded earlier, including other bundles, reaches the newest server.
  return new Proxy(kept.server as Server, { get: (_, key) => Reflect.get(kept.server, key) })
}

/** `next dev` loads a route with its first request. The terminal then says once what is served there. */
function tell(handler: WebHandler, url: string): void {
  const all = globalThis as { [told]?: Set<string> }
  const urls = (all[told] ??= new Set())
  const { banner } = handler as { readonly banner?: (url: string) => string }
  if (!banner || urls.has(url)) return
  urls.add(url)
  console.log(banner(url))
}

const told = Symbol.for('agentwire.next.told')

const inProduction = (): boolean => environment() === 'production'
const isDevelopment = (): boolean => environment() === 'development'

const environment = (): string | undefined =>
  (globalThis as { process?: { env: { NODE_ENV?: string } } }).process?.env.NODE_ENV
