import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { DeployError } from '../../deployer.ts'
import { runCommand, scrubbedEnv } from '../../run-command.ts'
import { limiter, type TreeLimits } from './tree.ts'

interface GitOptions {
  /** Git settings by name, such as credentials. They are not visible in the process list. */
  readonly config: Readonly<Record<string, string>>
  readonly limits: TreeLimits
  readonly signal: AbortSignal
  readonly onLine: (line: string) => void
}

/**
 * Checks out one commit of a repository into a folder, without its history and without `.git`, and returns
 * its id. `ref` is the name of a branch or a tag, a full name (`refs/…`), or the full id of a commit. Rejects
 * with a `DeployError`.
 *
 * git is restricted to this repository: it reads no configuration of the machine, asks for no passwords, only
 * uses the URL's protocol, follows no redirect, runs no hook and fetches no submodule.
 */
export async function checkOut(
  repository: Repository,
  ref: string,
  folder: string,
  options: GitOptions,
): Promise<string> {
  const { url } = repository
  const git = (args: readonly string[], onLine = options.onLine) =>
    runCommand({
      command: ['git', ...settings(url), ...args],
      cwd: folder,
      env: gitEnv(options.config),
      signal: options.signal,
      onLine,
    })
  const must = async (what: string, args: readonly string[], onLine?: (line: string) => void) => {
    const { code } = await git(args, onLine)
    if (code !== 0) throw new DeployError(`${what}: see the build log.`)
  }

  await must('git could not create a repository', ['init', '--quiet', '--template='])
  await fetchRef()
  let commit = ''
  const keepCommit = (line: string) => void (commit = line)
  await must(
    'git could not read the fetched commit',
    ['rev-parse', '--verify', 'FETCH_HEAD^{commit}'],
    keepCommit,
  )
  await checkSize()
  await must('git could not check out the commit', ['checkout', '--quiet', '--detach', commit, '--'])
  await rm(join(folder, '.git'), { recursive: true, force: true })
  return commit

  /** A few small objects may name millions of files, so they are counted before any is written. */
  async function checkSize(): Promise<void> {
    const { addEntry, addBytes } = limiter(options.limits)
    const { code } = await git(['ls-tree', '-r', '-t', '-l', commit], (line) => {
      addEntry()
      // "mode type id size<tab>path". A folder has a dash as its size.
      addBytes(Number(/^\S+ \S+ \S+ +(\d+)/.exec(line)?.[1] ?? 0))
    })
    if (code !== 0) throw new DeployError('git could not list the files of the commit.')
  }

  async function fetchRef(): Promise<void> {
    for (const candidate of candidates(ref)) {
      const lines: string[] = []
      const args = ['fetch', '--quiet', '--depth=1', '--no-tags', '--', url, candidate]
      const { code } = await git(args, (line) => lines.push(line))
      if (code === 0) return
      if (lines.some((line) => /couldn't find remote ref|not our ref|no such remote ref/i.test(line)))
        continue
      for (const line of lines) options.onLine(line)
      throw new DeployError(`git could not fetch ${JSON.stringify(ref)} of ${url}: see the build log.`)
    }
    throw new DeployError(`The repository ${url} has no branch, tag or commit ${JSON.stringify(ref)}.`)
  }
}

/** The possible meanings of a name, in search order. */
function candidates(ref: string): readonly string[] {
  if (ref.startsWith('refs/')) return [ref]
  const named = [`refs/heads/${ref}`, `refs/tags/${ref}`]
  return /^([0-9a-f]{40}|[0-9a-f]{64})$/i.test(ref) ? [ref, ...named] : named
}

function settings(url: string): readonly string[] {
  const scheme = url.slice(0, url.indexOf(':'))
  const pairs = [
    'protocol.allow=never',
    `protocol.${scheme}.allow=always`,
    'core.hooksPath=/dev/null',
    'core.fsmonitor=false',
    'core.symlinks=true',
    'core.protectHFS=true',
    'core.protectNTFS=true',
    'core.autocrlf=false',
    'core.askPass=',
    'http.followRedirects=false',
    'fetch.recurseSubmodules=false',
    'submodule.recurse=false',
    'gc.auto=0',
    'maintenance.auto=false',
    'advice.detachedHead=false',
  ]
  return pairs.flatMap((pair) => ['-c', pair])
}

/** Proxies and the ssh agent are for git only: deployments must not have them. */
const FOR_GIT = [
  'https_proxy',
  'http_proxy',
  'all_proxy',
  'no_proxy',
  'HTTPS_PROXY',
  'ALL_PROXY',
  'NO_PROXY',
  'SSH_AUTH_SOCK',
]

function gitEnv(config: Readonly<Record<string, string>>): Record<string, string | undefined> {
  const entries = Object.entries(config)
  return {
    ...scrubbedEnv(process.env),
    ...Object.fromEntries(FOR_GIT.map((name) => [name, process.env[name]])),
    // For the English messages that this code searches for.
    LC_ALL: 'C',
    HOME: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_PROTOCOL_FROM_USER: '0',
    GIT_SSH_COMMAND: config['core.sshCommand'] ?? 'ssh -oBatchMode=yes',
    GIT_CONFIG_COUNT: String(entries.length),
    ...Object.fromEntries(
      entries.flatMap(([name, value], at) => [
        [`GIT_CONFIG_KEY_${at}`, name],
        [`GIT_CONFIG_VALUE_${at}`, value],
      ]),
    ),
  }
}

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
