/**
 * Runs tests against other versions of the packages that users bring along:
 *
 *   node test/peers/run.mjs oldest [test files...]
 *   node test/peers/run.mjs newest [test files...]
 *   node test/peers/run.mjs @langchain/langgraph@1.5.0 @langchain/core@1.2.14 [test files...]
 *
 * Options of vitest, such as `--reporter=json`, are passed on. The tests run in a temporary folder with a copy of the sources, the
 * named versions, and links to all other packages.
 */
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { install, ROOT, run, versionOf } from '../kit/install.mjs'

/** Packages that depend on each other by their version. A run installs all of them, so that there is one copy of each. */
const OLDEST = {
  '@langchain/langgraph': '1.4.0',
  '@langchain/core': '1.2.0',
  '@langchain/langgraph-checkpoint': '1.1.0',
  '@langchain/langgraph-sdk': '1.9.25',
  '@langchain/protocol': '0.0.16',
  deepagents: '1.10.7',
  langchain: '1.5.0',
}
const NEWEST = {
  '@langchain/langgraph': '^1.4.0',
  '@langchain/core': '^1.0.0',
  '@langchain/langgraph-checkpoint': '^1.0.0',
  // The tag `latest` is 2.0.0, which has no `threads.stream`.
  '@langchain/langgraph-sdk': '^1.0.0',
  '@langchain/protocol': '~0.0.1',
  deepagents: '^1.0.0',
  langchain: '^1.0.0',
}
const TESTS = [
  'test/agents/langgraph-agents.test.ts',
  'test/agents/langgraph-events.test.ts',
  'test/agents/langgraph-interrupts.test.ts',
  'test/agents/langgraph-runs.test.ts',
  'test/agents/langgraph-state.test.ts',
  'test/storage/langgraph.test.ts',
  'test/threads/breakpoints.test.ts',
  'test/storage/langchain-objects.test.ts',
  'test/conformance/sdk-threads.test.ts',
  'test/conformance/sdk-functions.test.ts',
]

const given = process.argv.slice(2)
const options = given.filter((one) => one.startsWith('-'))
const files = given.filter((one) => one.startsWith('test/'))
const named = given.filter((one) => !one.startsWith('-') && one.lastIndexOf('@') > 0)
if (named.length === 0 && !given.includes('oldest') && !given.includes('newest')) {
  console.error('Usage: node test/peers/run.mjs oldest|newest|name@version... [test files...]')
  process.exit(2)
}
const wanted = {
  ...(given.includes('oldest') ? OLDEST : NEWEST),
  ...Object.fromEntries(
    named.map((one) => [one.slice(0, one.lastIndexOf('@')), one.slice(one.lastIndexOf('@') + 1)]),
  ),
}

const folder = mkdtempSync(join(tmpdir(), 'agentwire-peers-'))
process.exitCode = 1
try {
  if (!install(folder, wanted)) throw new Error('npm could not install them.')
  for (const name of [
    'src',
    'adapters',
    'cli',
    'test',
    'examples',
    'docs',
    'tsconfig.json',
    'vitest.config.ts',
  ])
    cpSync(join(ROOT, name), join(folder, name), {
      recursive: true,
      filter: (path) => !path.includes('/node_modules'),
    })
  for (const name of Object.keys(wanted)) console.log(`${name} ${versionOf(folder, name)}`)
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs')
  const tests = files.length > 0 ? files : TESTS
  process.exitCode = run(
    process.execPath,
    [vitest, 'run', '--project', 'source', ...tests, ...options],
    folder,
  )
} finally {
  rmSync(folder, { recursive: true, force: true })
}
