import { constants } from 'node:fs'
import { copyFile, lstat, mkdir, readdir, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { type Link, limiter, makeLinks, notAFile, type TreeLimits } from './tree.ts'

/** Copies a folder without its `.git`. Rejects with a `DeployError` where a link leads out of it, or it holds too much. */
export async function copyFolder(
  from: string,
  to: string,
  limits: TreeLimits,
  signal: AbortSignal,
): Promise<void> {
  const { addEntry, addBytes } = limiter(limits)
  const links: Link[] = []
  const copy = async (at: string): Promise<void> => {
    signal.throwIfAborted()
    await mkdir(join(to, at), { recursive: true })
    for (const entry of await readdir(join(from, at), { withFileTypes: true })) {
      const path = join(at, entry.name)
      if (path === '.git') continue
      addEntry()
      if (entry.isDirectory()) await copy(path)
      else if (entry.isSymbolicLink()) links.push({ path, target: await readlink(join(from, path)) })
      else if (entry.isFile()) {
        addBytes((await lstat(join(from, path))).size)
        await copyFile(join(from, path), join(to, path), constants.COPYFILE_FICLONE)
      } else throw notAFile(path)
    }
  }
  await copy('')
  await makeLinks(to, links)
}
