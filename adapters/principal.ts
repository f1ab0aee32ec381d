import type { Authenticated, HandlerContext, WebHandler } from '../src/core/http/types.ts'

/**
 * Says who sent a request, by the host's own session. Null or undefined is answered with 401, a `Response` is
 * sent as it is, and a thrown error is answered with 500 unless it is an `HttpError`.
 */
export type PrincipalOf<Req> = (request: Req) => Authenticated | Promise<Authenticated>

/**
 * Turns an adapter's option `principal` into what the handler gets with each request. The handler then refuses
 * requests of all its mounts that come without a caller.
 */
export function identifying<Req>(
  handler: WebHandler,
  principal: PrincipalOf<Req> | undefined,
): (request: Req) => HandlerContext['authenticate'] {
  if (!principal) return () => undefined
  handler.requirePrincipal?.()
  return (request) => () => principal(request)
}
