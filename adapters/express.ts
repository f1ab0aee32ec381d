import { HttpError, type OnError } from '../src/core/http/errors.ts'
import type { Authenticated, HandlerContext, WebHandler } from '../src/core/http/types.ts'
import { checkHandler, checkOptions, type OptionTable } from '../src/core/options.ts'
import { answer, type Exchange } from './node/listener.ts'
import type { OfMiddleware } from './node/of-middleware.ts'
import { type Forwarded, first, header } from './node/target.ts'
import type { NodeRequest, NodeResponse } from './node/types.ts'
import { identifying, type PrincipalOf } from './principal.ts'

export type { PrincipalOf } from './principal.ts'

/** The part of an Express 4 or 5 request that the adapter uses. */
export interface ExpressRequest extends NodeRequest {
  /** The mount path, `''` at the root. */
  readonly baseUrl: string
  readonly protocol: string
  readonly hostname: string
  readonly app: { get(setting: string): unknown }
}

export interface ExpressOptions<Req = ExpressRequest & OfMiddleware> {
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

/** Answers a request whose body an earlier parser refused. Passes on every other error. */
export type ExpressErrorMiddleware = (
  error: unknown,
  req: ExpressRequest,
  res: NodeResponse,
  next: (error?: unknown) => void,
) => void

/**
 * Middleware for Express 4 and 5, before or after `express.json()`, for `use`: the second function answers
 * bodies that `express.json()` refused. `app.use('/agent', toExpress(handler))` makes `/agent` the base path. A
 * path without a route falls through to the rest of the app. Forwarded headers are trusted according to the
 * app's `trust proxy` setting.
 */
export function toExpress<Req = ExpressRequest & OfMiddleware>(
  handler: WebHandler,
  options: ExpressOptions<Req> = {},
): [ExpressMiddleware, ExpressErrorMiddleware] {
  checkHandler('toExpress', handler)
  checkOptions('toExpress', options, EXPRESS_OPTIONS)
  const { onError } = options
  const callerOf = identifying(handler, options.principal)
  const exchangeOf = (req: ExpressRequest, next: () => void): Exchange => {
    const mounted = req.baseUrl !== ''
    return {
      handle: handler.handle,
      authenticate: callerOf(req as Req),
      basePath: mounted ? req.baseUrl : undefined,
      forwarded: req.app.get('trust proxy') ? forwarded(req) : undefined,
      onError,
      next,
    }
  }
  return [
    (req, res, next) =>
      answer(
        req,
        res,
        exchangeOf(req, () => next()),
      ),
    (error, req, res, next) => {
      const bodyError = refusedBody(error)
      if (!bodyError) return next(error)
      const { authenticate, ...exchange } = exchangeOf(req, () => next(error))
      answer(req, res, {
        ...exchange,
        authenticate: authenticate && (() => callerOrElse(authenticate, bodyError)),
        bodyError,
      })
    },
  ]
}

/** The errors of `express.json()` and its like have a type, such as `entity.too.large`, and a status. */
function refusedBody(error: unknown): HttpError | undefined {
  if (!(error instanceof Error)) return undefined
  const { type, status, limit } = error as { type?: unknown; status?: unknown; limit?: unknown }
  if (typeof type !== 'string' || typeof status !== 'number' || status < 400 || status > 499) return undefined
  if (type === 'entity.parse.failed') return new HttpError(400, 'invalid_json', 'The body is not valid JSON.')
  const message =
    type === 'entity.too.large'
      ? `The body is larger than ${limit} bytes, the limit of the app's own body parser. Mount the agents before express.json(), or pass it a higher limit: express.json({ limit: '4mb' }).`
      : `The app's own body parser refused the body: ${error.message}.`
  const code = type === 'entity.too.large' ? 'payload_too_large' : 'invalid_body'
  return new HttpError(status, code, message, { cause: error })
}

/** The caller. Middleware after the body parser, such as that of sessions, did not run. */
async function callerOrElse(
  authenticate: NonNullable<HandlerContext['authenticate']>,
  bodyError: HttpError,
): Promise<Authenticated> {
  try {
    return await authenticate()
  } catch (error) {
    throw error instanceof HttpError ? error : bodyError
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
