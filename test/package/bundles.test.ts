import { readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import * as esbuild from 'esbuild'
import { describe, expect, test } from 'vitest'
import { entries, manifest, root } from './package.ts'

/** The entries that speak to Node. All others must load in a browser, on Workers, Bun and Deno. */
/** The adapters whose `principal` gets a request of `node:http`. */
const OF_NODE = ['agentwire/node', 'agentwire/fastify']
const NODE_ENTRIES = [
  'agentwire/node',
  'agentwire/express',
  'agentwire/fastify',
  'agentwire/thread-metadata',
  'agentwire/sqlite',
  'agentwire/postgres',
  'agentwire/redis',
  'agentwire/storage',
  'agentwire/control-plane/command',
  'agentwire/control-plane/kubernetes',
  'agentwire/control-plane/process',
]

/** KiB of minified and gzipped code that a whole entry costs without its dependencies. */
const CEILINGS: Readonly<Record<string, number>> = {
  agentwire: 89.14,
  'agentwire/langgraph': 14.35,
  'agentwire/a2a': 73.64,
  'agentwire/ai-sdk': 40.92,
  'agentwire/openai': 41.4,
  'agentwire/ag-ui': 40.82,
  'agentwire/platform': 45.28,
  'agentwire/control-plane': 59.5,
  'agentwire/control-plane/jwt': 2.2,
  'agentwire/control-plane/oauth': 15,
  'agentwire/control-plane/process': 17.85,
  'agentwire/mcp': 42.3,
  'agentwire/messages': 6.6,
  'agentwire/sqlite': 18.1,
  'agentwire/postgres': 21.33,
  'agentwire/redis': 25.6,
  'agentwire/storage': 46.65,
  'agentwire/formats': 29.5,
  'agentwire/models': 31.2,
  'agentwire/tracing': 40.75,
  'agentwire/tracing/sse': 35.5,
  'agentwire/tracing/langsmith': 1.7,
  'agentwire/tracing/opentelemetry': 33.5,
  'agentwire/a2a/signature': 1.9,
  'agentwire/opentelemetry': 4.2,
  'agentwire/control-plane/kubernetes': 11.5,
  'agentwire/control-plane/command': 6.4,
  'agentwire/audit': 56.35,
  'agentwire/devtools': 111.6,
  'agentwire/face': 53.2,
  'agentwire/react': 4.79,
  // All schemas with zod: what a server loads of them on demand is within it.
  'agentwire/schemas': 13.25,
  'agentwire/testing': 1.25,
  'agentwire/node': 8.37,
  'agentwire/express': 5.24,
  'agentwire/fastify': 6.51,
  'agentwire/hono': 2.07,
  'agentwire/next': 2.18,
  'agentwire/thread-metadata': 2.7,
}

/** The same for one name alone, after a bundler has dropped the rest of its entry. */
const ALONE: readonly (readonly [name: string, specifier: string, kib: number])[] = [
  ['createAgentServer', 'agentwire', 53.49],
  ['createThreadsHandler', 'agentwire', 47.45],
  ['createA2AHandler', 'agentwire/a2a', 43.31],
  ['AgentRejection', 'agentwire', 0.5],
  ['defineAgent', 'agentwire', 26.25],
  ['memoryCheckpointer', 'agentwire', 4.95],
]

/**
 * What is loaded when somebody asks for it: the devtools, whose entry has a ceiling of its own; what answers A2A, the platform's REST and
 * requests about threads beside their runs; the loop of agents with a model; web sockets; the storage in memory; what an engine seldom does; the store for graphs; approvals in both spellings; how
 * graphs run for clients of the platform's REST, and their streams; crons and webhooks, the runner of jobs, and the requests that deliver
 * something, with what reads schedules and archives; the documents of APIs and the page of a deployment; and the schemas with zod, which come with the first body.
 */
const ON_DEMAND = [
  'approvals',
  'batch',
  'croner',
  'describe',
  'document',
  'endpoints',
  'engine-on-demand',
  'follow-webhook',
  'group',
  'handlers',
  'join',
  'loop',
  'memory',
  'migrate',
  'open',
  'openapi',
  'page',
  'read',
  'records',
  'report',
  'requests',
  'run-classic',
  'runner',
  'stream',
  'unknown-graph',
  'v03-read',
  'v1-read',
  'web',
  'wire',
]
const DEVTOOLS = 'group'

const allowed = new Set([...Object.keys(manifest.dependencies), ...Object.keys(manifest.peerDependencies)])

describe.each(entries)('$specifier', ({ specifier, files }) => {
  test('stays under its size ceiling', async () => {
    expect(await kibOf(`export * from './${files.esm.default}'`)).toBeLessThanOrEqual(
      CEILINGS[specifier] ?? 0,
    )
  })

  test('loads only what package.json declares, and Node only where it may', async () => {
    const { external } = await bundle(`export * from './${files.esm.default}'`)
    const packages = external
      .filter((name) => !isBuiltin(name) && !name.startsWith('./dist/'))
      .map(packageName)
    expect(packages.filter((name) => !allowed.has(name))).toEqual([])
    if (!NODE_ENTRIES.includes(specifier)) expect(external.filter(isBuiltin)).toEqual([])
  })

  test('has types that need no package but its own dependencies, and the framework it is named after', () => {
    const known = [...Object.keys(manifest.dependencies), namesake(specifier)]
    for (const file of [files.esm.types, files.cjs.types]) {
      const text = declarationsFrom(join(root, file)).join('\n')
      // Requests of Node have Node's own type.
      const packages = specifiersIn(text).filter(
        (name) => !name.startsWith('.') && !(name === 'node:http' && OF_NODE.includes(specifier)),
      )
      expect(packages.map(packageName).filter((name) => !known.includes(name))).toEqual([])
      expect(text).not.toContain('/// <reference')
    }
  })
})

test.each(ALONE)('%s of %s alone stays under its ceiling', async (name, specifier, kib) => {
  const { files } = entries.find((entry) => entry.specifier === specifier)!
  expect(await kibOf(`export { ${name} } from './${files.esm.default}'`)).toBeLessThanOrEqual(kib)
})

test.each([
  ['createAgentEngine', 'agentwire'],
  ['createThreadsHandler', 'agentwire'],
  ['defineAgent', 'agentwire'],
])('%s of %s alone has nothing of A2A', async (name, specifier) => {
  const { files } = entries.find((entry) => entry.specifier === specifier)!
  const { bytes } = await bundle(`export { ${name} } from './${files.esm.default}'`)
  expect(Buffer.from(bytes).toString()).not.toMatch(/SendMessage|message\/send|TASK_STATE_|agent-card/)
})

test('the import of a server loads no schema: zod comes with the first value that it checks', () => {
  const loaded = new Map<string, string>()
  const load = (file: string): void => {
    if (loaded.has(file)) return
    const text = readFileSync(file, 'utf8')
    loaded.set(file, text)
    const imports = text.matchAll(/^(?:import|export|\})(?:[^;"']*? from)? ?["'](\.\/[^"']+)["'];/gm)
    for (const [, name] of imports) load(join(dirname(file), name!))
  }
  load(join(root, 'dist/index.js'))
  // Each file that is loaded costs a quarter of a millisecond.
  expect([...loaded.keys()].map(nameOf).sort()).toEqual([
    'index',
    'memory',
    'rolldown-runtime',
    'shared-messages',
    'shared-server',
    'shared-storage',
  ])
  expect([...loaded].filter(([, text]) => text.includes('ZodMiniType')).map(([file]) => file)).toEqual([])
})

/** The name of a built file, without the hash of its text. */
const nameOf = (file: string): string => basename(file, '.js').replace(/-[\w-]{8}$/, '')

/** The text of a file of declarations and of all files that it imports, which must be there. */
function declarationsFrom(file: string, seen = new Set<string>()): readonly string[] {
  if (seen.has(file)) return []
  seen.add(file)
  const text = readFileSync(file, 'utf8')
  const imported = specifiersIn(text)
    .filter((name) => name.startsWith('.'))
    .map((name) => join(dirname(file), name.replace(/\.(c?)js$/, '.d.$1ts')))
  return [text, ...imported.flatMap((path) => declarationsFrom(path, seen))]
}

function specifiersIn(text: string): readonly string[] {
  return [...text.matchAll(/(?:from|import\()\s*['"]([^'"]+)['"]/g)].map(([, name]) => name!)
}

async function kibOf(code: string): Promise<number> {
  return gzipSync((await bundle(code)).bytes).length / 1024
}

async function bundle(code: string): Promise<{ bytes: Uint8Array; external: readonly string[] }> {
  const result = await esbuild.build({
    stdin: { contents: code, resolveDir: root },
    absWorkingDir: root,
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    platform: 'neutral',
    packages: 'external',
    external: [...builtinModules],
    plugins: [onDemand(code.includes('dist/devtools.js') ? ON_DEMAND.filter(isNotDevtools) : ON_DEMAND)],
    metafile: true,
    write: false,
    logLevel: 'error',
  })
  const outputs = Object.values(result.metafile.outputs)
  const external = outputs.flatMap(({ imports }) =>
    imports.filter((one) => one.external).map(({ path }) => path),
  )
  return { bytes: result.outputFiles[0]!.contents, external: [...new Set(external)] }
}

const isNotDevtools = (name: string): boolean => name !== DEVTOOLS

/** Leaves out what is loaded on demand, but not what is loaded at once from the same file. */
const onDemand = (names: readonly string[]): esbuild.Plugin => ({
  name: 'on-demand',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^\.\// }, ({ kind, path }) =>
      kind === 'dynamic-import' && names.includes(nameOf(path))
        ? { path: `./dist/${basename(path)}`, external: true }
        : undefined,
    ),
})

/** The package for which an entry exists. */
function namesake(specifier: string): string {
  const last = specifier.split('/').at(-1)!
  return { opentelemetry: '@opentelemetry/api', react: '@langchain/react' }[last] ?? last
}

function isBuiltin(name: string): boolean {
  return name.startsWith('node:') || builtinModules.includes(name)
}

function packageName(specifier: string): string {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
}
