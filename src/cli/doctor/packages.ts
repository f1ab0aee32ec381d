import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { VERSION } from '../../core/version.ts'
import { packageFolder } from '../create/examples.ts'
import type { Check } from './check.ts'

interface Manifest {
  readonly version: string
  readonly engines: { readonly node: string }
  readonly peerDependencies: Readonly<Record<string, string>>
}

/** Checks Node, the package that the project has, and those of its peers that are installed. */
export function packageChecks(folder: string, node: string): readonly Check[] {
  const own = manifestIn(packageFolder(dirname(fileURLToPath(import.meta.url))))!
  const { engines, peerDependencies } = own
  return [
    nodeCheck(node, engines.node),
    ownCheck(installed(folder, 'agentwire')?.version, folder),
    ...Object.entries(peerDependencies).flatMap(([name, range]) => peerCheck(name, range, folder)),
  ]
}

function nodeCheck(version: string, range: string): Check {
  const about = { check: 'node' } as const
  if (isInRange(version, range)) return { ...about, level: 'ok', text: `Node ${version}.` }
  return {
    ...about,
    level: 'problem',
    text: `Node ${version} is too old: install Node ${range.slice(2)} or newer.`,
  }
}

function ownCheck(version: string | undefined, folder: string): Check {
  const about = { check: 'package' } as const
  if (version === VERSION) return { ...about, level: 'ok', text: `agentwire ${VERSION}.` }
  if (version === undefined)
    return {
      ...about,
      level: 'warning',
      text: `${folder} has no agentwire: run “npm install agentwire” there.`,
    }
  const text = `${folder} has agentwire ${version}, but this command is of ${VERSION}: run “npx agentwire doctor” in that folder.`
  return { ...about, level: 'warning', text }
}

function peerCheck(name: string, range: string, folder: string): readonly Check[] {
  const version = installed(folder, name)?.version
  if (version === undefined) return []
  if (isInRange(version, range)) return [{ check: 'peer', level: 'ok', text: `${name} ${version}.` }]
  const newest = range.split('||').at(-1)!.trim()
  const text = `${name} ${version} is not in ${range}: run “npm install "${name}@${newest}"”.`
  return [{ check: 'peer', level: 'problem', text }]
}

/** The nearest copy of a package, as an import from the folder finds it. */
function installed(folder: string, name: string): Manifest | undefined {
  const found = manifestIn(join(folder, 'node_modules', name))
  const above = dirname(folder)
  return found ?? (above === folder ? undefined : installed(above, name))
}

function manifestIn(folder: string): Manifest | undefined {
  const path = join(folder, 'package.json')
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Manifest) : undefined
}

/** The version of a release, without what follows a hyphen or a plus sign. */
const numbersOf = (version: string): readonly number[] =>
  version.replace(/^v/, '').split(/[-+]/, 1)[0]!.split('.').map(Number)

function compare(one: readonly number[], other: readonly number[]): number {
  const at = [0, 1, 2].find((index) => (one[index] ?? 0) !== (other[index] ?? 0))
  return at === undefined ? 0 : (one[at] ?? 0) - (other[at] ?? 0)
}

/** Whether a version is in a range of the two forms in the package's own `package.json`: `^1.2.0 || ^2.0.0` and `>=1.2`. */
export const isInRange = (version: string, range: string): boolean =>
  range.split('||').some((part) => {
    const [, operator, lowest] = /^(\^|>=)([\d.]+)$/.exec(part.trim())!
    const [found, from] = [numbersOf(version), numbersOf(lowest!)]
    if (compare(found, from) < 0) return false
    if (operator === '>=') return true
    // The first number that is not 0 stays the same.
    const fixed =
      Math.max(
        0,
        from.findIndex((number) => number !== 0),
      ) + 1
    return compare(found.slice(0, fixed), from.slice(0, fixed)) === 0
  })
