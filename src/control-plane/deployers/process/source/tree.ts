import { constants } from 'node:fs'
import { copyFile, lstat, mkdir, readdir, readlink, realpath, symlink } from 'node:fs/promises'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { DeployError } from '../../deployer.ts'

export interface TreeLimits {
  readonly maxBytes: number
  readonly maxEntries: number
}

export interface Link {
  /** Relative to the source's folder. */
  readonly path: string
  readonly target: string
}

/** Counts the entries and bytes of a source, and throws a `DeployError` when a limit is exceeded. */
export function limiter({ maxBytes, maxEntries }: TreeLimits) {
  let entries = 0
  let bytes = 0
  return {
    addEntry(): void {
      if (++entries > maxEntries)
        throw new DeployError(`The source contains more than ${maxEntries} files and folders.`)
    },
    addBytes(count: number): void {
      if ((bytes += count) <= maxBytes) return
      const megabytes = Math.round(maxBytes / 10_000) / 100
      throw new DeployError(`The unpacked source is larger than ${megabytes} MB.`)
    },
  }
}

/** Whether a path is the folder or inside it, by name only. */
export function isInside(folder: string, path: string): boolean {
  const from = relative(folder, path)
  return from !== '..' && !from.startsWith(`..${sep}`) && !isAbsolute(from)
}

/** Creates a source's links after its files, so that no file is written through a link. */
export async function makeLinks(folder: string, links: readonly Link[]): Promise<void> {
  for (const { path, target } of links) {
    checkTarget(folder, { path, target })
    try {
      await symlink(target, join(folder, path))
    } catch (cause) {
      throw new DeployError(`The link ${JSON.stringify(path)} of the source could not be created.`, { cause })
    }
  }
  for (const link of links) await checkLink(folder, link)
}

/**
 * Rejects with a `DeployError` if a link leads out of the source, or it is too large or has a special file.
 */
export async function checkTree(folder: string, limits: TreeLimits): Promise<void> {
  for await (const { path, target } of entriesOf(folder, limits))
    if (target !== undefined) await checkLink(folder, { path, target })
}

/** Copies a folder without its `.git`. Rejects like `checkTree`. */
export async function copyFolder(
  from: string,
  to: string,
  limits: TreeLimits,
  signal: AbortSignal,
): Promise<void> {
  const links: Link[] = []
  await mkdir(to, { recursive: true })
  for await (const { path, isFolder, target } of entriesOf(from, limits)) {
    signal.throwIfAborted()
    if (isFolder) await mkdir(join(to, path), { recursive: true })
    else if (target !== undefined) links.push({ path, target })
    else await copyFile(join(from, path), join(to, path), constants.COPYFILE_FICLONE)
  }
  await makeLinks(to, links)
}

interface Entry {
  /** Relative to the source's folder. */
  readonly path: string
  readonly isFolder: boolean
  /** For a link. */
  readonly target?: string
}

/** All entries of a folder except its `.git`, each folder before its contents. */
async function* entriesOf(folder: string, limits: TreeLimits): AsyncGenerator<Entry> {
  const { addEntry, addBytes } = limiter(limits)
  const folders = ['']
  for (let at = folders.pop(); at !== undefined; at = folders.pop())
    for (const entry of await readdir(join(folder, at), { withFileTypes: true })) {
      const path = join(at, entry.name)
      if (path === '.git') continue
      addEntry()
      const isFolder = entry.isDirectory()
      if (isFolder) folders.push(path)
      else if (entry.isFile()) addBytes((await lstat(join(folder, path))).size)
      else if (!entry.isSymbolicLink())
        throw new DeployError(`${JSON.stringify(path)} of the source is not a file, folder or link.`)
      const target = entry.isSymbolicLink() ? await readlink(join(folder, path)) : undefined
      yield { path, isFolder, ...(target !== undefined && { target }) }
    }
}

async function checkLink(folder: string, link: Link): Promise<void> {
  checkTarget(folder, link)
  // The target may be behind another link, so its name alone does not show where it is.
  const real = await realpath(join(folder, link.path)).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return undefined
    throw new DeployError(`The link ${JSON.stringify(link.path)} of the source cannot be followed.`, {
      cause,
    })
  })
  if (real !== undefined && !isInside(await realpath(folder), real)) throw leadsOut(link)
}

function checkTarget(folder: string, link: Link): void {
  const target = resolve(folder, dirname(link.path), link.target)
  if (isAbsolute(link.target) || !isInside(resolve(folder), target)) throw leadsOut(link)
}

const leadsOut = ({ path }: Link): DeployError =>
  new DeployError(`The link ${JSON.stringify(path)} leads outside the source.`)
