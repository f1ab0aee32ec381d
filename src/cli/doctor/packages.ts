import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { VERSION } from '../../core/version.ts'
import { packageFolder } from '../create/examples.ts'
import type { Check } from './check.ts'
import { isInRange } from './ranges.ts'

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
