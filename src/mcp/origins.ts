import type { FaceCall } from '../face/routes.ts'
import { HttpError } from '../http/index.ts'
import type { McpContext } from './context.ts'

const LOCAL = /^(?:localhost|127\.0\.0\.1|\[::1\])$/

/**
 * Throws 403 for a request of a page that may not call: one of another origin, unless it is of this machine or `http.cors` names it.
 * Where nobody is asked who they are, also one of an origin that has taken the name of the server, as after DNS rebinding: a page that
 * has the name of a local server resolved to this machine. Programs that are no browsers send no origin.
 */
export function refuseForeignOrigin(
  { isGuarded, allowsOrigin }: McpContext,
  { request, url }: Pick<FaceCall, 'request' | 'url'>,
): void {
  const origin = request.headers.get('origin')
  if (origin === null || allowsOrigin(origin)) return
  const page = URL.canParse(origin) ? new URL(origin) : undefined
  if (page && LOCAL.test(page.hostname)) return
  if (page && isGuarded && page.host === url.host) return
  throw new HttpError(403, 'origin_not_allowed', 'Pages of this origin may not call. Name it in http.cors.')
}
