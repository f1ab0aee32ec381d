import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { DeployError } from '../../deployer.ts'
import { runCommand, scrubbedEnv } from '../../run-command.ts'
import type { Repository } from './repository.ts'
import { limiter, type TreeLimits } from './tree.ts'

export interface GitOptions {
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
