export interface Repository {
  readonly url: string
  /** The path of a `file:` URL. */
  readonly path: string | undefined
}

export interface RepositoryUrl {
  /** Scheme, user, host and port. */
  readonly origin: string
  readonly scheme: string
  readonly segments: readonly string[]
  readonly url: string
}

const SCHEMES = ['https:', 'http:', 'ssh:', 'file:']

/** Parses the prefixes of allowed repositories. Throws a TypeError if one is not a git URL. */
export function readAllowed(prefixes: readonly string[]): readonly RepositoryUrl[] {
  return prefixes.map((text) => {
    const prefix = readUrl(text)
    if (typeof prefix === 'string')
      throw new TypeError(`allowRepositories: ${JSON.stringify(text)}: ${prefix}`)
    return prefix
  })
}

/** The repository, or why it is rejected, as a sentence for the client. */
export function readRepository(text: string, allowed: readonly RepositoryUrl[]): Repository | string {
  const read = readUrl(text)
  if (typeof read === 'string') return `Invalid repo_url: ${read}`
  if (!allowed.some((prefix) => isBelow(read, prefix)))
    return 'Invalid repo_url: this server does not deploy from there.'
  return { url: read.url, path: read.scheme === 'file:' ? pathOf(read) : undefined }
}

export const pathOf = ({ segments }: RepositoryUrl): string => `/${segments.join('/')}`

const isBelow = (url: RepositoryUrl, prefix: RepositoryUrl): boolean =>
  url.origin === prefix.origin && prefix.segments.every((segment, at) => url.segments[at] === segment)

/** The parts of a URL, or what is wrong with it. git and this code must read it alike. */
function readUrl(text: string): RepositoryUrl | string {
  if (text.length > 2000) return 'it is longer than 2000 characters.'
  if (!/^[\x21-\x7e]+$/.test(text)) return 'it contains spaces, control characters or non-ASCII characters.'
  if (/[\\"'`<>|^{}$]/.test(text)) return 'it contains a character that is not allowed in a URL.'
  const scheme = /^[a-z][a-z0-9+.-]*:(?=\/\/)/i.exec(text)?.[0].toLowerCase()
  if (scheme === undefined || !SCHEMES.includes(scheme))
    return 'it must start with https://, ssh:// or file://.'
  if (/[?#]/.test(text)) return 'it must not have a query or a fragment.'
  const [authority = '', ...rest] = text.slice(scheme.length + 2).split('/')
  const origin = readOrigin(scheme, authority)
  if (typeof origin === 'string') return origin
  const segments: string[] = []
  for (const segment of rest.at(-1) === '' ? rest.slice(0, -1) : rest) {
    const decoded = decode(segment)
    if (decoded === undefined || /[\p{Cc}/\\%]/u.test(decoded))
      return 'it contains an unnecessary percent-escape.'
    if (decoded === '' || decoded === '.' || decoded === '..')
      return 'its path must not contain "//", "." or "..".'
    // ssh passes the path to a remote shell, where it would be an option.
    if (decoded.startsWith('-')) return 'no part of its path may begin with "-".'
    segments.push(decoded)
  }
  const url = `${origin.text}/${segments.map((segment) => encodeURI(segment)).join('/')}`
  return { origin: origin.text, scheme, segments, url }
}

const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'https:': '443', 'http:': '80', 'ssh:': '22' }

function readOrigin(scheme: string, authority: string): { readonly text: string } | string {
  if (scheme === 'file:')
    return authority === '' ? { text: 'file://' } : 'a file:// URL must not name a host: write file:///path.'
  const parts = /^(?:([A-Za-z0-9_][A-Za-z0-9_.-]*)@)?([A-Za-z0-9][A-Za-z0-9.-]*)(?::(\d{1,5}))?$/.exec(
    authority,
  )
  if (authority.includes('@') && (scheme !== 'ssh:' || parts === null))
    return 'it must not contain a user name or password.'
  if (parts === null) return 'its host is not a valid host name or address.'
  const [, user, host, port] = parts
  const shownPort = port === undefined || port === DEFAULT_PORTS[scheme] ? '' : `:${port}`
  return { text: `${scheme}//${user === undefined ? '' : `${user}@`}${host!.toLowerCase()}${shownPort}` }
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** Why a branch, tag or commit is rejected, for the client, by the rules of `git check-ref-format`. */
export function refuseRef(ref: string): string | undefined {
  const isNamed =
    ref.length <= 250 &&
    !/[\p{Cc} ~^:?*[\\]|\.\.|@\{|\.$/u.test(ref) &&
    ref.split('/').every((part) => part !== '' && !part.startsWith('.') && !part.endsWith('.lock')) &&
    ref !== '@'
  if (isNamed && !/^[-+]/.test(ref)) return undefined
  return 'Invalid repo_ref: it must be a branch name, a tag as refs/tags/…, or a commit id.'
}
