import { joinHeaders } from './cors.ts'
import { errorResponse } from './errors.ts'
import { notFound } from './handler.ts'
import { socketOf } from './sockets/socket.ts'
import type { HandlerContext, WebHandler } from './types.ts'

/**
 * Combines handlers into one that tries them in order. If one has the path but not the method (405, or the
 * answer to OPTIONS), the others are tried too. If none has the method, their `Allow` headers are joined.
 */
export function combine(handlers: readonly Omit<WebHandler, 'fetch'>[]): WebHandler {
  const handle = async (request: Request, context?: HandlerContext): Promise<Response | undefined> => {
    const refusals: Response[] = []
    for (const handler of handlers) {
      const response = await handler.handle(request, context)
      if (response === undefined) continue
      if (socketOf(response) || !(isRefusal(response) || request.method === 'OPTIONS')) return response
      refusals.push(response)
    }
    return joinAllow(refusals)
  }
  const mountPaths = (basePath?: string) =>
    handlers.flatMap((handler) => handler.mountPaths?.(basePath) ?? [])
  const missing = (request: Request, basePath?: string): Response => {
    for (const handler of handlers) {
      const response = handler.notFound?.(request, basePath)
      if (response) return response
    }
    return errorResponse(notFound(mountPaths(basePath), request))
  }
  return {
    routes: async () => (await Promise.all(handlers.map((handler) => handler.routes()))).flat(),
    cors: handlers.some(({ cors }) => cors),
    isOpen: handlers.some(({ isOpen }) => isOpen),
    requirePrincipal() {
      for (const handler of handlers) handler.requirePrincipal?.()
    },
    protocolHeaders: joinHeaders(handlers.map(({ protocolHeaders }) => protocolHeaders)),
    handle,
    mountPaths,
    fetch: async (request, context) =>
      (await handle(request, context)) ?? missing(request, context?.basePath),
    close: () => closeAll(handlers),
  }
}

/** Whether another handler may have the method, or the same path without a web socket. */
const isRefusal = ({ status }: Response): boolean => status === 405 || status === 426

function joinAllow([first, ...others]: readonly Response[]): Response | undefined {
  if (first === undefined || others.length === 0) return first
  const allow = [first, ...others].flatMap((refusal) => refusal.headers.get('allow')?.split(', ') ?? [])
  const headers = new Headers(first.headers)
  headers.set('allow', [...new Set(allow)].join(', '))
  return new Response(first.body, { status: first.status, headers })
}

/** Closes all handlers even if one fails, then throws the first failure. */
async function closeAll(handlers: readonly Omit<WebHandler, 'fetch'>[]): Promise<void> {
  const closed = await Promise.allSettled(handlers.map((handler) => handler.close()))
  for (const result of closed) if (result.status === 'rejected') throw result.reason
}
