/**
 * Runs the official conformance suite of MCP against the agents of this folder:
 *
 *   node test/mcp/conformance/run.mjs
 *
 * It is installed in a temporary folder, in two versions: the newest pre-release for both revisions of the protocol, and the latest
 * release. The files `expected-*.yml` name the scenarios that do not apply, and why; one of them that passes is an error, too.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT, run } from '../../kit/install.mjs'

const HERE = join(ROOT, 'test/mcp/conformance')
const SUITE = '@modelcontextprotocol/conformance'
const VERSIONS = { old: `npm:${SUITE}@0.1.16`, new: `npm:${SUITE}@0.2.0-alpha.12` }
/** @type {readonly { version: 'new' | 'old', options: string[], expected: string }[]} */
const RUNS = [
  { version: 'new', options: ['--requirements', '2026-07-28'], expected: 'expected-2026-07-28.yml' },
  { version: 'new', options: ['--requirements', '2025-11-25'], expected: 'expected-2025-11-25.yml' },
  { version: 'old', options: ['--suite', 'all'], expected: 'expected-0.1.16.yml' },
]

/** Node 20 has no `fs.globSync`, which the suite imports for its reports. */
const HOOKS = `
export async function load(url, context, next) {
  const loaded = await next(url, context)
  if (!/conformance\\/dist\\/index\\.js$|(old|new)\\/dist\\/index\\.js$/.test(url)) return loaded
  let source = String(loaded.source)
  const [imported, name] = /globSync as (\\w+),?/.exec(source) ?? []
  if (imported) source = source.replace(imported, '') + ';function ' + name + '() { return [] }'
  return { ...loaded, source }
}`
const REGISTER = `import { register } from 'node:module'
register('data:text/javascript,' + encodeURIComponent(${JSON.stringify(HOOKS)}))`
const hook = `data:text/javascript,${encodeURIComponent(REGISTER)}`

const folder = mkdtempSync(join(tmpdir(), 'agentwire-mcp-'))
const server = spawn(process.execPath, ['--import', 'tsx', join(HERE, 'serve.ts')], {
  cwd: ROOT,
  stdio: ['ignore', 'pipe', 'ignore'],
})
try {
  const packages = Object.entries(VERSIONS).map(([name, version]) => `${name}@${version}`)
  const npm = ['install', '--no-audit', '--no-fund', '--loglevel=error', '--prefix', folder, ...packages]
  if (run('npm', npm, folder) !== 0) throw new Error('npm could not install the suite.')
  const [line] = await once(server.stdout, 'data')
  const url = String(line).trim()
  const failed = RUNS.filter(({ version, options, expected }) => {
    const main = join(folder, 'node_modules', version, 'dist/index.js')
    const known = ['--expected-failures', join(HERE, expected)]
    const args = [
      '--import',
      hook,
      main,
      'server',
      '--url',
      url,
      ...options,
      ...known,
      '-o',
      join(folder, 'results'),
    ]
    return run(process.execPath, args, folder) !== 0
  })
  for (const { version, options } of failed)
    console.error(`Failed: ${VERSIONS[version]} ${options.join(' ')}`)
  process.exitCode = failed.length > 0 ? 1 : 0
} finally {
  server.kill()
  rmSync(folder, { recursive: true, force: true })
}
