import { AgentwireError } from '../core/errors.ts'

/** At least two letters: a Windows drive is not a scheme. */
const SCHEME = /^([a-z][a-z0-9+.-]+):/i

export function schemeOf(url: string): string {
  return SCHEME.exec(url)?.[1]?.toLowerCase() ?? 'file'
}

/** Throws if a server's URL cannot be parsed. Clients would throw an error that contains its password. */
export function assertReadable(url: string): void {
  if (URL.canParse(url)) return
  throw new AgentwireError(
    'invalid_argument',
    `The URL that begins with ${schemeOf(url)}: cannot be read. Special characters of a password must be encoded, as encodeURIComponent does.`,
  )
}

/** A storage's URL without its password and parameters, which can contain one too. */
export function withoutPassword(url: string): string {
  const scheme = schemeOf(url)
  if (scheme === 'file' || scheme === 'memory') return url
  try {
    const { username, host, pathname, search, hash } = new URL(url)
    // An @ after the host: the password was not encoded, and was parsed as host and path.
    if (!`${pathname}${search}${hash}`.includes('@')) {
      return `${scheme}://${username && `${username}@`}${host}${pathname === '/' ? '' : pathname}`
    }
  } catch {
    // The password may be anywhere in a URL that cannot be parsed.
  }
  return `${scheme}://…`
}
