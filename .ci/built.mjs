// Builds the package, unless dist is newer than every source: `node .ci/built.mjs`
import { execFileSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const SOURCES = ['src', 'adapters', '.ci', 'package.json', 'tsconfig.json']

export function buildUnlessBuilt() {
  const changed = Math.max(...SOURCES.flatMap((path) => times(join(ROOT, path))))
  if (Math.min(...times(join(ROOT, 'dist'))) > changed) return
  execFileSync('npm', ['run', 'build'], { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] })
}

/**
 * When the files at and below a path were changed; 0 where there are none.
 * @param {string} path
 * @returns {number[]}
 */
function times(path) {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat === undefined) return [0]
  if (!stat.isDirectory()) return [stat.mtimeMs]
  return readdirSync(path).flatMap((name) => (name === 'tools' ? [] : times(join(path, name))))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) buildUnlessBuilt()
