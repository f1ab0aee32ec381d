/**
 * Runs the built package on the runtimes that are not Node: `node test/runtimes/run.mjs [options of vitest]`. They come from the
 * npm registry, into a temporary folder. A runtime that cannot be installed or started here is skipped, which one line says.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { install, ROOT, run } from '../kit/install.mjs'

/** What the tests call it, its package, its program. */
const RUNTIMES = /** @type {const} */ ([
  ['workerd', 'miniflare', 'workerd'],
  ['bun', 'bun', 'bun'],
  ['deno', 'deno', 'deno'],
])

const folder = mkdtempSync(join(tmpdir(), 'agentwire-runtimes-'))
process.exitCode = 1
try {
  const packed = execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  const agentwire = `file:${join(folder, packed.trim())}`
  const found = RUNTIMES.flatMap(([name, dependency, program]) => {
    const own = join(folder, name)
    mkdirSync(own)
    try {
      if (!install(own, { agentwire, [dependency]: '*' })) throw new Error('npm could not install it.')
      const version = execFileSync(join(own, 'node_modules/.bin', program), ['--version'], {
        encoding: 'utf8',
      })
      console.log(`${name}: ${version.split('\n')[0]}`)
      return [name]
    } catch (error) {
      console.log(`${name}: skipped. ${String(error).split('\n')[0]}`)
      return []
    }
  })
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs')
  const args = [vitest, 'run', '--project', 'programs', 'test/runtimes', ...process.argv.slice(2)]
  process.exitCode = run(process.execPath, args, ROOT, {
    ...process.env,
    RUNTIMES_FOLDER: folder,
    RUNTIMES: found.join(),
  })
} finally {
  rmSync(folder, { recursive: true, force: true })
}
