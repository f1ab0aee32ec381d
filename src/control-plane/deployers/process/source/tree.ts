import { lstat, readdir, readlink, realpath, symlink } from 'node:fs/promises'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { DeployError } from '../../errors.ts'

/** How much a source may hold. */
export interface TreeLimits {
  readonly maxBytes: number
  readonly maxEntries: number
}

/** A symbolic link of a source. */
export interface Link {
  /** From the folder of the source. */
  readonly path: string
  readonly target: string
}

/** Counts entries and bytes of a source, and throws a `DeployError` at the first one too many. */
export function limiter({ maxBytes, maxEntries }: TreeLimits): {
  readonly addEntry: () => void
  readonly addBytes: (count: number) => void
} {
  let entries = 0
  let bytes = 0
  return {
    addEntry: () => {
      if (++entries > maxEntries)
        throw new DeployError(`The source holds more than ${maxEntries} files and folders.`)
    },
    addBytes: (count) => {
      if ((bytes += count) > maxBytes)
        throw new DeployError(`The source is larger than ${inMegabytes(maxBytes)} when it is unpacked.`)
    },
  }
}

export const inMegabytes = (bytes: number): string => `${Math.round(bytes / 10_000) / 100} MB`

/** Whether a path is the folder, or lies in it, judged by their names alone. */
export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

/** Makes the links of a source, once all its files are there: no file can have been written through one. */
export async function makeLinks(folder: string, links: readonly Link[]): Promise<void> {
  for (const { path, target } of links) {
    checkTarget(folder, { path, target })
    try {
      await symlink(target, join(folder, path))
    } catch (error) {
      throw new DeployError(`The link ${JSON.stringify(path)} of the source could not be made.`, {
        cause: error,
      })
    }
  }
  for (const link of links) await checkLink(folder, link)
}

/** Walks through the source. Rejects with a `DeployError` where a link leads out of it, where it holds too much, or what is no file. */
export async function checkTree(folder: string, limits: TreeLimits): Promise<void> {
  const { addEntry, addBytes } = limiter(limits)
  const walk = async (at: string): Promise<void> => {
    for (const entry of await readdir(join(folder, at), { withFileTypes: true })) {
      const path = join(at, entry.name)
      addEntry()
      if (entry.isDirectory()) await walk(path)
      else if (entry.isSymbolicLink())
        await checkLink(folder, { path, target: await readlink(join(folder, path)) })
      else if (entry.isFile()) addBytes((await lstat(join(folder, path))).size)
      else throw notAFile(path)
    }
  }
  await walk('')
}

export const notAFile = (path: string): DeployError =>
  new DeployError(`${JSON.stringify(path)} of the source is no file, folder or link.`)

async function checkLink(folder: string, link: Link): Promise<void> {
  checkTarget(folder, link)
  // A target may lie behind another link, so that its name alone does not tell where it is.
  const real = await realpath(join(folder, link.path)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw new DeployError(`The link ${JSON.stringify(link.path)} of the source cannot be followed.`, {
      cause: error,
    })
  })
  if (real !== undefined && !isInside(await realpath(folder), real)) throw leadsOut(link)
}

function checkTarget(folder: string, link: Link): void {
  const target = resolve(folder, dirname(link.path), link.target)
  if (isAbsolute(link.target) || !isInside(resolve(folder), target)) throw leadsOut(link)
}

const leadsOut = ({ path }: Link): DeployError =>
  new DeployError(`The link ${JSON.stringify(path)} leads out of the source.`)
