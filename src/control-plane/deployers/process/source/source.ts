import { mkdir, realpath, stat } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { Readable } from 'node:stream'
import type { ReadableStream as NodeReadableStream } from 'node:stream/web'
import { DeployError, type DeployRequest, type PhaseContext } from '../../deployer.ts'
import { type Dirs, isThere, removeFolder } from '../dirs.ts'
import { checkOut, pathOf, type Repository, type RepositoryUrl, readRepository, refuseRef } from './git.ts'
import { unpackTarball } from './tarball.ts'
import { checkTree, copyFolder, isInside, type TreeLimits } from './tree.ts'

export interface SourceOptions {
  readonly dirs: Dirs
  readonly allowed: readonly RepositoryUrl[]
  readonly gitConfig: Readonly<Record<string, string>>
  readonly limits: TreeLimits
}

/** 1 GiB in 100,000 files. */
export const DEFAULT_LIMITS: TreeLimits = { maxBytes: 1024 ** 3, maxEntries: 100_000 }

export interface FetchedSource {
  readonly folder: string
  /** The langgraph.json, relative to the folder. */
  readonly configPath: string
  /** The commit, if it came from git. */
  readonly commit?: string | undefined
}

/** Why a request's source cannot be fetched, as a sentence for the client. */
export function refuseSource(
  { source, sourceConfig, sourceRevisionConfig }: DeployRequest,
  allowed: readonly RepositoryUrl[],
): string | undefined {
  const { repo_ref, langgraph_config_path } = sourceRevisionConfig
  if (source !== 'github' && source !== 'internal_source')
    return `This server cannot deploy from the source ${source}: use github or internal_source.`
  if (source === 'github') {
    const repository = readRepository(sourceConfig.repo_url ?? '', allowed)
    if (typeof repository === 'string') return repository
    const refused = refuseRef(repo_ref ?? '')
    if (refused !== undefined) return refused
  }
  return refuseConfigPath(langgraph_config_path)
}

/**
 * Fetches a revision's source into its folder: a repository, a plain folder (a `file:` URL that is not a
 * repository), or an upload. It removes what earlier attempts left, and leaves nothing if it fails. Rejects
 * with a `DeployError`.
 */
export async function fetchSource(
  context: Omit<PhaseContext, 'secrets'>,
  options: SourceOptions,
): Promise<FetchedSource> {
  const refused = refuseSource(context, options.allowed)
  if (refused !== undefined) throw new DeployError(refused)
  const folder = options.dirs.source(context.deploymentId, context.revisionId)
  await removeFolder(folder)
  try {
    const fetch = context.source === 'github' ? fetchRepository : fetchUpload
    const commit = await fetch(context, folder, options)
    const configPath = await findConfig(folder, context.sourceRevisionConfig.langgraph_config_path)
    return { folder, configPath, commit }
  } catch (error) {
    await removeFolder(folder)
    throw error
  }
}

async function fetchRepository(
  { sourceConfig, sourceRevisionConfig, signal, log }: Omit<PhaseContext, 'secrets'>,
  folder: string,
  { allowed, gitConfig, limits }: SourceOptions,
): Promise<string | undefined> {
  const repository = readRepository(sourceConfig.repo_url ?? '', allowed) as Repository
  const { url, path } = repository
  if (path !== undefined && !(await isRepository(path, allowed))) {
    log(`Copying ${url}`)
    await copyFolder(path, folder, limits, signal)
    return undefined
  }
  const ref = sourceRevisionConfig.repo_ref ?? ''
  log(`Fetching ${ref} of ${url}`)
  await mkdir(folder, { recursive: true })
  const commit = await checkOut(repository, ref, folder, { config: gitConfig, limits, signal, onLine: log })
  await checkTree(folder, limits)
  log(`At commit ${commit}`)
  return commit
}

async function fetchUpload(
  { sourceRevisionConfig, openUpload, signal, log }: Omit<PhaseContext, 'secrets'>,
  folder: string,
  { limits }: SourceOptions,
): Promise<undefined> {
  const path = sourceRevisionConfig.source_tarball_path
  if (path == null) throw new DeployError('The revision has no source_tarball_path: upload its source first.')
  const upload = await openUpload(path)
  if (!upload) throw new DeployError('The uploaded source no longer exists: upload it again.')
  log('Unpacking the uploaded source')
  await unpackTarball(Readable.fromWeb(upload as NodeReadableStream<Uint8Array>), folder, limits, signal)
}

/** Whether a folder is a git repository. Rejects if a link leads to a path that is not allowed. */
async function isRepository(path: string, allowed: readonly RepositoryUrl[]): Promise<boolean> {
  const real = await realpath(path).catch(() => undefined)
  if (real === undefined || !(await stat(real)).isDirectory())
    throw new DeployError(`No repository or folder exists at file://${path}.`)
  const roots = allowed.filter(({ scheme }) => scheme === 'file:').map(pathOf)
  const realRoots = await Promise.all(roots.map((root) => realpath(root).catch(() => root)))
  if (!realRoots.some((root) => isInside(root, real)))
    throw new DeployError(
      'Invalid repo_url: a symbolic link in its path leads outside the locations this server deploys from.',
    )
  return (
    (await isThere(join(real, '.git'))) ||
    ((await isThere(join(real, 'HEAD'))) && isThere(join(real, 'objects')))
  )
}

function refuseConfigPath(path: string | null | undefined): string | undefined {
  if (!path) return undefined
  const normal = posix.normalize(path)
  const leadsOut = path.startsWith('/') || normal === '..' || normal.startsWith('../')
  return leadsOut || /[\p{Cc}\\]/u.test(path)
    ? 'Invalid langgraph_config_path: it must be a relative path inside the source.'
    : undefined
}

async function findConfig(folder: string, path: string | null | undefined): Promise<string> {
  const name = posix.normalize(path || 'langgraph.json')
  const real = await realpath(join(folder, name)).catch(() => undefined)
  if (real === undefined || !isInside(await realpath(folder), real) || !(await stat(real)).isFile())
    throw new DeployError(`The source has no file ${JSON.stringify(name)}.`)
  return name
}
