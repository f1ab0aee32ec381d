import type { OnError } from '../src/http/errors.ts'
import type { WebHandler } from '../src/http/types.ts'
import { checkHandler, checkOptions, type OptionTable } from '../src/options.ts'
import { answer } from './node/listener.ts'
import { type Forwarded, first, header } from './node/target.ts'
import type { NodeRequest, NodeResponse } from './node/types.ts'
import { identifying, type PrincipalOf } from './principal.ts'

/** The part of an Express 4 or 5 request that the adapter uses. */
export interface ExpressRequest extends NodeRequest {
  /** The mount path, `''` at the root. */
  readonly baseUrl: string
  readonly protocol: string
  readonly hostname: string
  readonly app: { get(setting: string): unknown }
}

declare global {
  /** What other middleware adds to requests: the types of sessions and of Passport extend it, too. */
  namespace Express {
    interface Request {}
  }
}

export interface ExpressOptions<Req = ExpressRequest & Express.Request> {
  /**
   * Says who sent a request, by the app's own session, such as `({ user }) => user && { id: user.id }`,
   * instead of the server's `authenticate`. Null or undefined is 401. Default: `authenticate` decides.
   */
  readonly principal?: PrincipalOf<Req> | undefined
  /** Called for errors that the handler does not answer. Default: `console.error`. */
  readonly onError?: OnError | undefined
}

const EXPRESS_OPTIONS: OptionTable<ExpressOptions> = { principal: 'function', onError: 'function' }

export type ExpressMiddleware = (
  req: ExpressRequest,
  res: NodeResponse,
  next: (error?: unknown) => void,
) => void

/**
 * Middleware for Express 4 and 5, before or after `express.json()`. `app.use('/agent', toExpress(handler))`
 * makes `/agent` the base path. A path without a route falls through to the rest of the app. Forwarded
 * headers are trusted according to the app's `trust proxy` setting.
 */
export function toExpress<Req = ExpressRequest & Express.Request>(
  handler: WebHandler,
  options: ExpressOptions<Req> = {},
): ExpressMiddleware {
  checkHandler('toExpress', handler)
  checkOptions('toExpress', options, EXPRESS_OPTIONS)
  const { onError } = options
  const callerOf = identifying(handler, options.principal)
  return (req, res, next) => {
    const mounted = req.baseUrl !== ''
    answer(req, res, {
      handle: handler.handle,
      authenticate: callerOf(req as Req),
      basePath: mounted ? req.baseUrl : undefined,
      forwarded: req.app.get('trust proxy') ? forwarded(req) : undefined,
      onError,
      next: () => next(),
    })
  }
}

/**
 * Express decides which proxies to trust. Its `hostname` has no port, so the port is read from the header.
 */
function forwarded(req: ExpressRequest): Forwarded {
  const { protocol, hostname } = req
  const hosts = [first(header(req, 'x-forwarded-host')), header(req, 'host')]
  return { protocol, host: hosts.find((host) => host?.replace(/:\d*$/, '') === hostname) ?? hostname }
}
