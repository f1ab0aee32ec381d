import { execFileSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './package.ts'

const SOURCES = [
  'src',
  'adapters',
  'cli',
  'devtools-page.config.ts',
  'tsup.config.ts',
  'package.json',
  'tsconfig.json',
]

/** Builds the package once before the tests of this folder, unless dist is newer than every source. */
export default function setup(): void {
  if (oldest(join(root, 'dist')) > Math.max(...SOURCES.map((path) => newest(join(root, path))))) return
  execFileSync('npm', ['run', 'build'], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] })
}

function newest(path: string): number {
  return Math.max(...times(path))
}

function oldest(path: string): number {
  return Math.min(...times(path))
}

function times(path: string): number[] {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat === undefined) return [0]
  if (!stat.isDirectory()) return [stat.mtimeMs]
  return readdirSync(path).flatMap((name) => times(join(path, name)))
}
