import { access, chmod, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { DeployError } from '../errors.ts'

/**
 * Where the process deployer keeps what. Names in `<…>` are ids that the control plane has made.
 *
 * ```text
 * <dir>/deployments/<deployment>/<revision>/source       the source of a revision, installed and built
 * <dir>/deployments/<deployment>/<revision>/unfinished   is there while that is made again
 * ```
 */
export interface Dirs {
  readonly deployment: (deploymentId: string) => string
  readonly revision: (deploymentId: string, revisionId: string) => string
  readonly source: (deploymentId: string, revisionId: string) => string
  readonly unfinished: (deploymentId: string, revisionId: string) => string
}

export function dirsOf(dir: string): Dirs {
  const deployment = (deploymentId: string) => join(dir, 'deployments', checkedId(deploymentId))
  const revision = (deploymentId: string, revisionId: string) =>
    join(deployment(deploymentId), checkedId(revisionId))
  return {
    deployment,
    revision,
    source: (deploymentId, revisionId) => join(revision(deploymentId, revisionId), 'source'),
    unfinished: (deploymentId, revisionId) => join(revision(deploymentId, revisionId), 'unfinished'),
  }
}

function checkedId(id: string): string {
  if (!/^[A-Za-z0-9_-]{1,200}$/.test(id))
    throw new DeployError('An id may hold letters, digits, "_" and "-" only.')
  return id
}

/** Whether there is such a file or folder. */
export const isThere = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )

/** Removes a folder with all that is in it. A link in it is removed, not followed. Does nothing where there is none. */
export async function removeFolder(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true, maxRetries: 3 })
  } catch (error) {
    if (!['EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
    // Some tools make their folders read-only: nothing can be removed from those.
    await makeWritable(path)
    await rm(path, { recursive: true, force: true, maxRetries: 3 })
  }
}

async function makeWritable(folder: string): Promise<void> {
  await chmod(folder, 0o700)
  for (const entry of await readdir(folder, { withFileTypes: true }))
    if (entry.isDirectory()) await makeWritable(join(folder, entry.name))
}
