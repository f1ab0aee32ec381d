import { errorResponse, HttpError } from './errors.ts'
import { calledUrl } from './origins.ts'
import type { HandlerContext, WebHandler } from './types.ts'

const LOCAL = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/

/** Whether a hostname of a URL is this machine's own. A page cannot make these lead elsewhere. */
export const isLocalHost = (hostname: string): boolean => LOCAL.test(hostname)

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
