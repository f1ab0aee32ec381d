import { realpathSync } from 'node:fs'
import { access, chmod, mkdir, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Json } from '../../../storage/index.ts'
import { DeployError, type PhaseContext } from '../deployer.ts'

/**
 * The folders of the process deployer. Names in `<…>` are ids of the control plane.
 *
 * ```text
 * <dir>/deployments/<deployment>/<revision>/source       the source of a revision, installed and built
 * <dir>/deployments/<deployment>/<revision>/unfinished   exists while that is made again
 * <dir>/data/<deployment>/threads.db                     what its servers keep, if they have no other storage
 * ```
 */
export type Dirs = ReturnType<typeof dirsOf>

export function dirsOf(dir: string) {
  const deployment = (id: string): string => join(dir, 'deployments', checkedId(id))
  const revision = (deploymentId: string, id: string): string => join(deployment(deploymentId), checkedId(id))
  return {
    deployment,
    revision,
    data: (id: string): string => join(dir, 'data', checkedId(id)),
    source: (deploymentId: string, id: string): string => join(revision(deploymentId, id), 'source'),
    unfinished: (deploymentId: string, id: string): string => join(revision(deploymentId, id), 'unfinished'),
  }
}

function checkedId(id: string): string {
  if (!/^[A-Za-z0-9_-]{1,200}$/.test(id))
    throw new DeployError('An id can only contain letters, digits, "_" and "-".')
  return id
}

export const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )

/** Removes a folder with its content, if it exists. Links are not followed. */
export async function removeFolder(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true, maxRetries: 3 })
  } catch (error) {
    if (!['EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
    // Some tools make their folders read-only, so that their contents cannot be removed.
    await makeWritable(path)
    await rm(path, { recursive: true, force: true, maxRetries: 3 })
  }
}

async function makeWritable(folder: string): Promise<void> {
  await chmod(folder, 0o700)
  for (const entry of await readdir(folder, { withFileTypes: true }))
    if (entry.isDirectory()) await makeWritable(join(folder, entry.name))
}

/** What was built for a revision, as it is stored. Ids determine its folder, so that `dir` can be moved. */
export type Artifact = {
  /** The revision that it was built for. A redeploy has another id. */
  readonly revisionId: string
  /** The langgraph.json, relative to the root of the source. */
  readonly configPath: string
}

/**
 * Finds the result of `prepare` or `build`, and marks it as used. If it does not exist, because another
 * machine created it or it was removed, it is created again from its commit, or from its upload if that still
 * exists. Otherwise rejects with a `DeployError`.
 */
export async function findArtifact(
  dirs: Dirs,
  { deploymentId, source, sourceRevisionConfig, ...context }: PhaseContext,
  stored: Json,
  make: (context: PhaseContext) => Promise<void>,
): Promise<{ readonly dir: string; readonly configPath: string }> {
  if (!isArtifact(stored))
    throw new DeployError('This revision was not built by this deployer: create a new one.')
  const { revisionId, configPath } = stored
  const dir = dirs.source(deploymentId, revisionId)
  const unfinished = dirs.unfinished(deploymentId, revisionId)
  const { repo_commit_sha, source_tarball_path } = sourceRevisionConfig
  if (!(await isThere(join(dir, configPath))) || (await isThere(unfinished))) {
    if ((source === 'github' ? repo_commit_sha : source_tarball_path) == null)
      throw new DeployError('The source of this revision no longer exists: create a new revision.')
    context.log('The source of this revision is not on this machine: fetching it again.')
    await mkdir(dirname(unfinished), { recursive: true })
    await writeFile(unfinished, '')
    const same = { ...sourceRevisionConfig, repo_ref: repo_commit_sha }
    await make({ ...context, deploymentId, source, revisionId, sourceRevisionConfig: same })
    await rm(unfinished)
  }
  const now = new Date()
  await utimes(dirs.revision(deploymentId, revisionId), now, now)
  return { dir, configPath }
}

const isArtifact = (stored: Json): stored is Artifact =>
  typeof (stored as Partial<Artifact> | null)?.configPath === 'string'

const KEPT_REVISIONS = 10

/** Removes a deployment's artifacts, except for the most recently used ones. */
export async function removeOldArtifacts(dirs: Dirs, deploymentId: string): Promise<void> {
  const folder = dirs.deployment(deploymentId)
  const revisions = (await readdir(folder)).map((name) => join(folder, name))
  const used = await Promise.all(
    revisions.map(async (path) => ({ path, usedAt: (await stat(path)).mtimeMs })),
  )
  used.sort((a, b) => b.usedAt - a.usedAt)
  for (const { path } of used.slice(KEPT_REVISIONS)) await removeFolder(path)
}

type Phase<C extends PhaseContext, R extends unknown[], T> = (context: C, ...rest: R) => Promise<T>

/**
 * Removes this machine's paths from a phase's log and errors: the source of a revision becomes `.`, and the
 * folders of the deployer, of this process and of the user become `…`.
 */
export function pathHider(dir: string) {
  const hide = hiderOf(dir)
  return <C extends PhaseContext, R extends unknown[], T>(phase: Phase<C, R, T>): Phase<C, R, T> =>
    async (context, ...rest) => {
      try {
        return await phase({ ...context, log: (line, level) => context.log(hide(line), level) }, ...rest)
      } catch (error) {
        if (!(error instanceof DeployError)) throw error
        const message = hide(error.message)
        throw message === error.message ? error : new DeployError(message, { cause: error })
      }
    }
}

function hiderOf(dir: string): (text: string) => string {
  const dirs = withReal([dir])
  const others = withReal([process.cwd(), homedir()]).filter((path) => path !== '/')
  const source = new RegExp(
    `(?:${dirs.map(escaped).join('|')})/deployments/[\\w-]+/[\\w-]+/source${END}`,
    'g',
  )
  const known = [...dirs, ...others].sort((a, b) => b.length - a.length).map(escaped)
  const other = new RegExp(`(?:${known.join('|')})${END}`, 'g')
  return (text) => text.replace(source, '.').replace(other, '…')
}

/** The end of a folder's name. */
const END = '(?![\\w.-])'

/** Programs often resolve links. */
const withReal = (paths: readonly string[]): string[] => [
  ...new Set(paths.flatMap((path) => [path, realOf(path)])),
]

function realOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path // It is created later.
  }
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
