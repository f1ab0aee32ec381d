import type { NodeRequest } from './types.ts'

/** What a trusted proxy reported about the request that it received. */
export interface Forwarded {
  readonly protocol?: string | undefined
  readonly host?: string | undefined
}

const HOST = /^(?:[a-z0-9_](?:[a-z0-9._-]*[a-z0-9_])?\.?|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i
const ABSOLUTE = /^https?:\/\/([^/?#]*)((?:[/?#].*)?)$/i

/** The absolute URL of a request (RFC 9112 §3.2, §3.3). Undefined if its target or host is invalid. */
export function requestUrl(req: NodeRequest, forwarded: Forwarded | undefined): string | undefined {
  const target = req.originalUrl ?? req.url ?? '/'
  const absolute = ABSOLUTE.exec(target)
  const path = absolute ? absolute[2]! : target === '*' ? '/*' : target
  if (!path.startsWith('/') && !(absolute && /^[?#]|^$/.test(path))) return undefined
  const host =
    forwarded?.host ?? absolute?.[1] ?? header(req, ':authority') ?? header(req, 'host') ?? 'localhost'
  if (!HOST.test(host)) return undefined
  // Joined as text, never resolved: a path that begins with `//` must not change the host.
  const url = `${scheme(req, forwarded)}://${host}${path}`
  return URL.canParse(url) ? url : undefined
}

/** The first values of `x-forwarded-proto` and `x-forwarded-host`, which describe the client's request. */
export function forwardedHeaders(req: NodeRequest): Forwarded {
  return {
    protocol: first(header(req, 'x-forwarded-proto')),
    host: first(header(req, 'x-forwarded-host')),
  }
}

export function header(req: NodeRequest, name: string): string | undefined {
  const value = req.headers[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}

export function first(list: string | undefined): string | undefined {
  return list?.split(',', 1)[0]?.trim() || undefined
}

function scheme(req: NodeRequest, forwarded: Forwarded | undefined): 'http' | 'https' {
  const protocol = forwarded?.protocol?.toLowerCase()
  if (protocol === 'https' || protocol === 'http') return protocol
  const encrypted = (req.socket as { readonly encrypted?: boolean } | null)?.encrypted === true
  return encrypted || header(req, ':scheme') === 'https' ? 'https' : 'http'
}
