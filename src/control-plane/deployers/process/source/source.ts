import { mkdir, realpath, stat } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { Readable } from 'node:stream'
import type { ReadableStream as NodeReadableStream } from 'node:stream/web'
import type { DeployRequest, PhaseContext } from '../../deployer.ts'
import { DeployError } from '../../errors.ts'
import { type Dirs, isThere, removeFolder } from '../dirs.ts'
import { checkOut } from './git.ts'
import { copyFolder } from './local.ts'
import { type AllowedRepositories, type Repository, readRepository, refuseRef } from './repository.ts'
import { unpackTarball } from './tarball.ts'
import { checkTree, isInside, type TreeLimits } from './tree.ts'

export interface SourceOptions {
  readonly dirs: Dirs
  /** What `readAllowed` gave for the prefixes of the embedder. */
  readonly allowed: readonly AllowedRepositories[]
  readonly gitConfig: Readonly<Record<string, string>>
  readonly limits: TreeLimits
}

/** One GB in a hundred thousand files. */
export const DEFAULT_LIMITS: TreeLimits = { maxBytes: 1024 ** 3, maxEntries: 100_000 }

/** A source in a folder of its own. */
export interface FetchedSource {
  readonly folder: string
  /** The langgraph.json, from the folder. */
  readonly configPath: string
  /** The commit, where it came from git. */
  readonly commit?: string | undefined
}

/** Why a source cannot be fetched, as far as the request alone tells, in a sentence for the client. */
export function refuseSource(
  { source, sourceConfig, sourceRevisionConfig }: DeployRequest,
  allowed: readonly AllowedRepositories[],
): string | undefined {
  const { repo_ref, langgraph_config_path } = sourceRevisionConfig
  if (source !== 'github' && source !== 'internal_source')
    return `This server does not deploy the source ${source}: it takes github and internal_source.`
  if (source === 'github') {
    const repository = readRepository(sourceConfig.repo_url ?? '', allowed)
    if (typeof repository === 'string') return repository
    const refused = refuseRef(repo_ref ?? '')
    if (refused !== undefined) return refused
  }
  return refuseConfigPath(langgraph_config_path)
}

/**
 * Fetches the source of a revision into its folder: a repository, a plain folder (a `file:` URL that is no repository), or an upload.
 * What an earlier attempt left is removed first; what a failed one leaves is removed, too. Rejects with a `DeployError`.
 */
export async function fetchSource(
  request: DeployRequest,
  { dirs, allowed, gitConfig, limits }: SourceOptions,
  context: Pick<PhaseContext, 'deploymentId' | 'revisionId' | 'signal' | 'log' | 'openUpload'>,
): Promise<FetchedSource> {
  const refused = refuseSource(request, allowed)
  if (refused !== undefined) throw new DeployError(refused)
  const { deploymentId, revisionId, signal, log } = context
  const { sourceConfig, sourceRevisionConfig } = request
  const folder = dirs.source(deploymentId, revisionId)
  await removeFolder(folder)
  try {
    const commit = request.source === 'github' ? await fetchRepository() : await fetchUpload()
    return {
      folder,
      configPath: await findConfig(folder, sourceRevisionConfig.langgraph_config_path),
      commit,
    }
  } catch (error) {
    await removeFolder(folder)
    throw error
  }

  async function fetchRepository(): Promise<string | undefined> {
    const repository = readRepository(sourceConfig.repo_url ?? '', allowed) as Repository
    const ref = sourceRevisionConfig.repo_ref ?? ''
    if (repository.path !== undefined) {
      const isRepository = await lookAtFolder(repository.path, allowed)
      if (!isRepository) {
        log(`Copying ${repository.url}`)
        await copyFolder(repository.path, folder, limits, signal)
        return undefined
      }
    }
    log(`Fetching ${ref} of ${repository.url}`)
    await mkdir(folder, { recursive: true })
    const commit = await checkOut(repository, ref, folder, { config: gitConfig, limits, signal, onLine: log })
    await checkTree(folder, limits)
    log(`At commit ${commit}`)
    return commit
  }

  async function fetchUpload(): Promise<undefined> {
    const path = sourceRevisionConfig.source_tarball_path
    if (path == null)
      throw new DeployError('The revision has no source_tarball_path: upload its source first.')
    const upload = await context.openUpload(path)
    if (!upload) throw new DeployError('The uploaded source is not there any more: upload it again.')
    log('Unpacking the uploaded source')
    await unpackTarball(Readable.fromWeb(upload as NodeReadableStream<Uint8Array>), folder, limits, signal)
  }
}

/** Whether a folder of the allow-list is a git repository. Rejects where a link on the way leads out of the list, or there is no folder. */
async function lookAtFolder(path: string, allowed: readonly AllowedRepositories[]): Promise<boolean> {
  const real = await realpath(path).catch(() => undefined)
  if (real === undefined || !(await stat(real)).isDirectory())
    throw new DeployError(`There is no repository and no folder at file://${path}.`)
  const roots = allowed
    .filter(({ prefix }) => prefix.scheme === 'file:')
    .map(({ prefix }) => `/${prefix.segments.join('/')}`)
  const realRoots = await Promise.all(roots.map((root) => realpath(root).catch(() => root)))
  if (!realRoots.some((root) => isInside(root, real)))
    throw new DeployError(
      'The repo_url is refused: a link on its path leads to where this server does not deploy from.',
    )
  return (
    (await isThere(join(real, '.git'))) ||
    ((await isThere(join(real, 'HEAD'))) && isThere(join(real, 'objects')))
  )
}

const DEFAULT_CONFIG = 'langgraph.json'

function refuseConfigPath(path: string | null | undefined): string | undefined {
  if (!path) return undefined
  const normal = posix.normalize(path)
  const isOdd =
    /[\p{Cc}\\]/u.test(path) || path.startsWith('/') || normal === '..' || normal.startsWith('../')
  return isOdd
    ? 'The langgraph_config_path is refused: it has to be a path from the root of the source, inside it.'
    : undefined
}

async function findConfig(folder: string, path: string | null | undefined): Promise<string> {
  const name = posix.normalize(path || DEFAULT_CONFIG)
  const real = await realpath(join(folder, name)).catch(() => undefined)
  if (real === undefined || !isInside(await realpath(folder), real) || !(await stat(real)).isFile())
    throw new DeployError(`The source has no file ${JSON.stringify(name)}.`)
  return name
}
