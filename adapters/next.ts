import { AgentwireError } from '../src/errors.ts'
import type { WebHandler } from '../src/http/types.ts'
import { withoutBody } from './without-body.ts'

/** Set by the Edge runtime. */
declare const EdgeRuntime: string | undefined

export interface NextOptions {
  /** The folder of the route, such as `/agent` for `app/agent/[[...path]]/route.ts`. Default: the handler's own. */
  readonly basePath?: string | undefined
}

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
 * The exports of a route file of Next 15 and 16: `export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = toNext(handler)`.
 * Next answers HEAD through `GET`. `runtime`, `dynamic` and `maxDuration` must be literals in the route file itself.
 * There `request.url` names the machine and not the public host, so give the handler its public URL where it has to know it.
 * Throws `AgentwireError` `not_supported` in the Edge runtime, which ends runs with their request.
 */
export function toNext(handler: WebHandler, { basePath }: NextOptions = {}): NextRoutes {
  if (typeof EdgeRuntime === 'string') {
    throw new AgentwireError(
      'not_supported',
      "agentwire cannot keep runs in the Edge runtime: put `export const runtime = 'nodejs'` into the route file.",
    )
  }
  const route: NextRoute = async (request) => {
    const response = await handler.fetch(request, { basePath })
    // For HEAD, and for a client that has disconnected, Next neither reads the body nor cancels it.
    return request.method === 'HEAD' || request.signal.aborted ? withoutBody(response) : response
  }
  return { GET: route, POST: route, PUT: route, PATCH: route, DELETE: route, OPTIONS: route }
}
