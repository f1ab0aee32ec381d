import type { IncomingMessage } from 'node:http'
import { errorResponse, type OnError, reportError } from '../../src/core/http/errors.ts'
import { type SocketSession, socketOf } from '../../src/core/http/sockets/socket.ts'
import type { HandlerContext, WebHandler } from '../../src/core/http/types.ts'
import { checkHandler, checkOptions, type OptionTable } from '../../src/core/options.ts'
import { identifying, type PrincipalOf } from '../principal.ts'
import { watchClient } from './client.ts'
import { toRequest } from './request.ts'
import { abortResponse, sendResponse } from './response.ts'
import { type Forwarded, forwardedHeaders } from './target.ts'
import type { NodeRequest, NodeResponse } from './types.ts'

export interface NodeOptions<Req = IncomingMessage> {
  /**
   * Says who sent a request, by your own session, instead of the server's `authenticate`. Null or undefined is
   * 401. Default: `authenticate` decides.
   */
  readonly principal?: PrincipalOf<Req> | undefined
  /** The path this handler is mounted at, such as `/agent`. Default: the handler's own. */
  readonly basePath?: string | undefined
  /**
   * Trust `x-forwarded-proto` and `x-forwarded-host`. Set it only behind a proxy that sets them. Default:
   * false.
   */
  readonly trustProxy?: boolean | undefined
  /** Called for errors that the handler does not answer. Default: `console.error`. */
  readonly onError?: OnError | undefined
}

export const NODE_OPTIONS: OptionTable<NodeOptions> = {
  principal: 'function',
  basePath: 'string',
  trustProxy: 'boolean',
  onError: 'function',
}

export type NodeListener = (req: NodeRequest, res: NodeResponse, next?: (error?: unknown) => void) => void

/**
 * A listener for `http.createServer`, `https`, `http2` and Connect. A path without a route goes to `next`;
 * without `next`, it gets the handler's 404.
 */
export function toNode<Req = IncomingMessage>(
  handler: WebHandler,
  options: NodeOptions<Req> = {},
): NodeListener {
  checkHandler('toNode', handler)
  checkOptions('toNode', options, NODE_OPTIONS)
  const { basePath, trustProxy = false, onError } = options
  const callerOf = identifying(handler, options.principal)
  return (req, res, next) => {
    answer(req, res, {
      authenticate: callerOf(req as Req),
      handle: next ? handler.handle : handler.fetch,
      basePath,
      forwarded: trustProxy ? forwardedHeaders(req) : undefined,
      onError,
      next,
    })
  }
}

export interface Exchange {
  readonly handle: (request: Request, context: HandlerContext) => Promise<Response | undefined>
  readonly authenticate: HandlerContext['authenticate']
  readonly bodyError?: HandlerContext['bodyError']
  readonly basePath: string | undefined
  readonly forwarded: Forwarded | undefined
  readonly onError: OnError | undefined
  /** Called for a request that `handle` has no response for. */
  readonly next?: (() => void) | undefined
  /** Called right before the response is written. */
  readonly takeOver?: (() => void) | undefined
  /** Switches to a web socket if the handler has accepted the handshake. */
  readonly upgrade?: ((session: SocketSession) => Promise<void>) | undefined
}

/** Answers one request. It never throws and leaves no rejected promise. */
export function answer(req: NodeRequest, res: NodeResponse, exchange: Exchange): void {
  const client = watchClient(req, res)
  const onError: OnError = exchange.onError ?? ((error, { id }) => console.error(id, error))
  const report = (error: unknown) => {
    // The handler itself reports an abort, by the client or by the handler, if it is a failure.
    if (!isAbort(error)) reportError(error, onError)
  }
  const send = (response: Response) => {
    if (!client.gone) exchange.takeOver?.()
    return sendResponse(response, req, res, client, report)
  }
  const respond = async () => {
    const { request, parsedBody } = toRequest(req, exchange.forwarded, client)
    const response = await exchange.handle(request, {
      get signal() {
        return client.signal
      },
      parsedBody,
      authenticate: exchange.authenticate,
      bodyError: exchange.bodyError,
      basePath: exchange.basePath,
    })
    const session = response && exchange.upgrade && socketOf(response)
    if (session) return client.gone ? undefined : exchange.upgrade!(session)
    if (response) return send(response)
    if (!exchange.next) throw new TypeError('The handler did not return a Response.')
    client.handBack()
    if (!client.gone) exchange.next()
  }
  const fail = async (error: unknown) => {
    if (!client.gone && !res.headersSent) return send(errorResponse(error, onError))
    report(error)
    if (!client.gone) await abortResponse(req, res)
  }
  respond()
    .catch(fail)
    .catch((error) => {
      report(error)
      res.destroy()
    })
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError'
}
