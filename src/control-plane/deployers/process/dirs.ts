import { access, chmod, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { DeployError } from '../deployer.ts'

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
