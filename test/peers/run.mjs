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
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { install as installFolders } from '../../.ci/installed.mjs'
import { copySources, install, ROOT, run, versionOf } from '../kit/install.mjs'

/** The peers of package.json, the packages that belong to them, and the SDKs whose objects and streams are read. */
const RANGES = {
  ...JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).peerDependencies,
  // Version 2 needs Node 22.19, and does not say so.
  ...(Number.parseInt(process.versions.node, 10) < 22 && { '@kubernetes/client-node': '^1.0.0' }),
  // What the oldest deepagents asks for.
  langsmith: '>=0.7.1',
  // The first release of 0.5.
  libsql: '>=0.5.1',
  '@langchain/langgraph-checkpoint': '^1.1.0',
  // The tag `latest` is 2.0.0, which has no `threads.stream`.
  '@langchain/langgraph-sdk': '^1.9.25',
  '@langchain/protocol': '~0.0.16',
  // The pages of older ones do not survive a lost connection.
  '@langchain/react': '^1.1.0',
  deepagents: '^1.10.7',
  langchain: '^1.5.0',
  // Next builds only what is no link.
  croner: '^11.0.1',
  react: '^19.0.0',
  'react-dom': '^19.0.0',
  ai: '^6.0.0 || ^7.0.0',
  openai: '^5.0.0 || ^6.0.0 || ^7.0.0',
  '@anthropic-ai/sdk': '>=0.60',
  // The clients that other agents call ours with, of both versions of A2A.
  '@a2a-js/sdk': '^1.0.1',
  'a2a-sdk-03': '~0.3.6',
}
/** Both majors of Express are tested at once. */
const EXPRESS = RANGES.express.split(' || ')
RANGES.express = EXPRESS[1]
RANGES.express4 = EXPRESS[0]

/** Packages of which the tests have a second version, under a name of its own. */
const ALIASES = { express4: 'express', 'a2a-sdk-03': '@a2a-js/sdk' }

/** Packages that pass each other's objects around. Others may bring a copy of their own, as applications let them. */
const SHARED = [
  '@langchain/langgraph',
  '@langchain/core',
  '@langchain/langgraph-checkpoint',
  '@langchain/protocol',
  'deepagents',
  'langchain',
]

const TESTS = [
  // LangGraph, LangChain, deepagents and the SDK.
  'test/agents/langgraph/agents.test.ts',
  'test/agents/langgraph/events.test.ts',
  'test/agents/langgraph/interrupts.test.ts',
  'test/agents/langgraph/runs.test.ts',
  'test/agents/langgraph/state.test.ts',
  'test/platform/frames/modes.test.ts',
  'test/graph-store/langgraph.test.ts',
  'test/storage/langgraph.test.ts',
  'test/storage/langchain-objects.test.ts',
  'test/threads/breakpoints.test.ts',
  'test/threads/context.test.ts',
  'test/conformance/sdk-threads.test.ts',
  'test/conformance/sdk-functions.test.ts',
  'test/chat/graphs.test.ts',
  // The clients of A2A, with graphs; jose.
  'test/a2a/clients.test.ts',
  'test/a2a/remote/remote.test.ts',
  'test/a2a/remote/agent.test.ts',
  'test/a2a/card/card.test.ts',
  'test/a2a/card/signature.test.ts',
  // @modelcontextprotocol/server.
  'test/mcp/clients.test.ts',
  'test/mcp/tasks.test.ts',
  // The bindings for React, with the SDK inside of them, and in a browser.
  'test/conformance/sdk-of-react.test.ts',
  'test/adapters/cors-browser.test.ts',
  // The AI SDK, openai, @anthropic-ai/sdk.
  'test/formats/sdks.test.ts',
  'test/tracing/libraries.test.ts',
  'test/tracing/observe/observe-stream.test.ts',
  // pg, ioredis, redis, libsql.
  'test/storage/postgres/details.test.ts',
  'test/storage/postgres/setup.test.ts',
  'test/storage/redis/details.test.ts',
  'test/storage/sqlite/audits.test.ts',
  'test/storage/sqlite/migrations.test.ts',
  // Express, Fastify, Hono, Next.
  'test/adapters/frameworks.test.ts',
  'test/tracing/thread-middleware.test.ts',
  'test/conformance/express.test.ts',
  'test/conformance/fastify.test.ts',
  'test/conformance/hono.test.ts',
  'test/conformance/next.test.ts',
  // langsmith, @opentelemetry/api.
  'test/tracing/sinks/langsmith.test.ts',
  'test/tracing/sinks/opentelemetry.test.ts',
  'test/opentelemetry/spans.test.ts',
  // @kubernetes/client-node, oauth4webapi, jose, tsx.
  'test/control-plane/deployers/kubernetes/client.test.ts',
  'test/control-plane/auth/flows.test.ts',
  'test/control-plane/auth/tokens.test.ts',
  'test/control-plane/authentication/authentication.test.ts',
  'test/cli/serve.test.ts',
]

/** Those without the built package and the pages of the chat. */
const PROJECTS = ['source', 'alone', 'servers', 'programs', 'browser']

/**
 * The first version that a range names: `^8.11.0 || ^9` becomes `8.11.0`, and `>=5` becomes `5.0.0`.
 *
 * @param {string} range
 */
const lowest = (range) => {
  const [version = ''] = /[\d.]+/.exec(range) ?? []
  return [...version.split('.'), '0', '0'].slice(0, 3).join('.')
}

const given = process.argv.slice(2)
const options = given.filter((one) => one.startsWith('-'))
const files = given.filter((one) => one.startsWith('test/'))
const named = given.filter((one) => !one.startsWith('-') && one.lastIndexOf('@') > 0)
if (named.length === 0 && !given.includes('oldest') && !given.includes('newest')) {
  console.error('Usage: node test/peers/run.mjs oldest|newest|name@version... [test files...]')
  process.exit(2)
}
// For a range npm takes the newest release whose `engines` have this Node.
const wanted = {
  ...Object.fromEntries(
    Object.entries(RANGES).map(([name, range]) => [name, given.includes('oldest') ? lowest(range) : range]),
  ),
  ...Object.fromEntries(
    named.map((one) => [one.slice(0, one.lastIndexOf('@')), one.slice(one.lastIndexOf('@') + 1)]),
  ),
}

// The guides compile with the newest TypeScript, too. It has a name of its own, because its `tsc` would take the place of the project's.
if (given.includes('newest')) {
  wanted['typescript-newest'] = 'npm:typescript@latest'
  // Its types are those of the API that it is installed with.
  wanted['@opentelemetry/sdk-metrics'] = '^2.0.0'
  TESTS.push('test/docs/strangers.test.ts')
  installFolders(['docs'])
}

for (const [name, other] of Object.entries(ALIASES)) wanted[name] = `npm:${other}@${wanted[name]}`

const folder = mkdtempSync(join(tmpdir(), 'agentwire-peers-'))
process.exitCode = 1
try {
  const overrides = Object.fromEntries(Object.entries(wanted).filter(([name]) => SHARED.includes(name)))
  if (!install(folder, wanted, overrides)) throw new Error('npm could not install them.')
  copySources(folder)
  for (const name of Object.keys(wanted)) console.log(`${name} ${versionOf(folder, name)}`)
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs')
  const tests = files.length > 0 ? files : TESTS
  process.exitCode = run(
    process.execPath,
    [vitest, 'run', ...PROJECTS.flatMap((name) => ['--project', name]), ...tests, ...options],
    folder,
    // Versions of clients are no matter of adapters, which have tests of their own.
    { ...process.env, ADAPTERS: 'one' },
  )
} finally {
  // A process that a test has just ended may still be writing.
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 })
}
