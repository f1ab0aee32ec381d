import { HttpError, isLocalHost } from '../../core/http/index.ts'
import type { FaceCall } from '../kit/routes.ts'
import type { McpContext } from './options.ts'

/**
 * Throws 403 for a page of another origin, unless the page is on this machine or `http.cors` lists its
 * origin. If callers need no authentication, an origin with the server's own host name is rejected too,
 * because of DNS rebinding: a page can make its own host name resolve to this machine. Programs other than
 * browsers send no Origin header.
 */
export function refuseForeignOrigin(
  { isGuarded, allowsOrigin }: McpContext,
  { request, url, principal }: Pick<FaceCall, 'request' | 'url' | 'principal'>,
): void {
  const origin = request.headers.get('origin')
  if (origin === null || allowsOrigin(origin)) return
  const page = URL.canParse(origin) ? new URL(origin) : undefined
  if (page && isLocalHost(page.hostname)) return
  if (page && (isGuarded || principal) && page.host === url.host) return
  throw new HttpError(
    403,
    'origin_not_allowed',
    'Pages of this origin may not call this server. Add the origin to http.cors.',
  )
}
