import { readFile } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'

/**
 * The folder of the workspace that a folder is a package of, as npm, Yarn, pnpm and Bun declare it. Its
 * install also installs the package, and knows which names are those of its own packages. Undefined for a
 * folder that is no such package.
 */
export async function workspaceOf(folder: string): Promise<string | undefined> {
  for (let at = dirname(folder); ; at = dirname(at)) {
    const patterns = await patternsIn(at)
    if (isMember(relative(at, folder).split(sep), patterns)) return at
    if (dirname(at) === at) return undefined
  }
}

/** The patterns of a workspace's packages. Empty for any other folder. */
export async function patternsIn(folder: string): Promise<readonly string[]> {
  const { workspaces } = manifestOf(await textOf(join(folder, 'package.json')))
  const listed: unknown = Array.isArray(workspaces) ? workspaces : Object(workspaces).packages
  const ofPnpm = pnpmPatterns(await textOf(join(folder, 'pnpm-workspace.yaml')))
  return [...(Array.isArray(listed) ? listed.map(String) : []), ...ofPnpm]
}

const textOf = (file: string): Promise<string> => readFile(file, 'utf8').catch(() => '')

function manifestOf(text: string): { readonly workspaces?: unknown } {
  try {
    return Object(JSON.parse(text))
  } catch {
    return {}
  }
}

/** The list below `packages:`, which is all that is read of the file. */
function pnpmPatterns(text: string): readonly string[] {
  const lines = text.split('\n').map((line) => line.trim())
  const begin = lines.indexOf('packages:')
  if (begin < 0) return []
  const rest = lines.slice(begin + 1).filter((line) => line !== '' && !line.startsWith('#'))
  const end = rest.findIndex((line) => !line.startsWith('-'))
  const items = end < 0 ? rest : rest.slice(0, end)
  return items.map((line) => (line.slice(1).split(' #')[0] ?? '').trim().replaceAll(/^['"]|['"]$/g, ''))
}

/** Whether a path is that of a package. A later pattern with `!` takes packages out. */
function isMember(path: readonly string[], patterns: readonly string[]): boolean {
  let isOne = false
  for (const pattern of patterns) {
    const isOut = pattern.startsWith('!')
    const parts = pattern
      .slice(isOut ? 1 : 0)
      .split('/')
      .filter((part) => part !== '' && part !== '.')
    if (matches(path, parts)) isOne = !isOut
  }
  return isOne
}

function matches(path: readonly string[], [part, ...others]: readonly string[]): boolean {
  if (part === undefined) return path.length === 0
  if (part === '**') return path.some((_, at) => matches(path.slice(at), others)) || matches([], others)
  const [name, ...rest] = path
  return name !== undefined && matchesName(name, part) && matches(rest, others)
}

/** A name with one `*`, as patterns of packages have them. */
function matchesName(name: string, part: string): boolean {
  const [start = '', end] = part.split('*')
  if (end === undefined) return name === part
  return name.length >= start.length + end.length && name.startsWith(start) && name.endsWith(end)
}
