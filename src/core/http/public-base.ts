import type { Call } from './types.ts'

/** The headers that `publicBase` reads. Caches must vary on them. */
export const BASE_HEADERS = 'X-Forwarded-Proto, Forwarded'

/**
 * The URL at which the caller reaches the server: the origin of the request and the path before its route.
 * Hosts build the request's URL from headers that clients can forge, so only the parsed origin and the
 * matched path are used. A proxy is trusted for the scheme only.
 */
export function publicBase({ request: { headers }, url, route }: Call): string {
  const segments = url.pathname.replace(/\/$/, '').split('/')
  const path = segments.slice(0, segments.length - route.split('/').length + 1).join('/')
  return publicOrigin(headers, url).origin + path
}

/** The same without a path. */
export function publicOrigin(headers: Headers, url: URL): URL {
  const base = new URL(url.origin)
  const scheme =
    /^\s*(https?)\s*(?:,|$)/i.exec(headers.get('x-forwarded-proto') ?? '') ??
    /^(?:[^,]*;)?\s*proto="?(https?)"?\s*(?:[;,]|$)/i.exec(headers.get('forwarded') ?? '')
  if (scheme) base.protocol = scheme[1]!
  return base
}
