import { readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import * as esbuild from 'esbuild'
import { type OutputChunk, rolldown } from 'rolldown'
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

/**
 * KiB of minified and gzipped code that a whole entry costs without its dependencies, and without what it loads on demand:
 * what a bundler has that follows only static imports.
 */
const CEILINGS: Readonly<Record<string, number>> = {
  agentwire: 43.53,
  'agentwire/langgraph': 14.31,
  'agentwire/a2a': 27.13,
  'agentwire/ai-sdk': 16.95,
  'agentwire/openai': 17.29,
  'agentwire/ag-ui': 16.85,
  'agentwire/platform': 20.83,
  'agentwire/control-plane': 29.82,
  'agentwire/control-plane/jwt': 2.18,
  'agentwire/control-plane/oauth': 14.2,
  'agentwire/control-plane/process': 17.98,
  'agentwire/mcp': 18.12,
  'agentwire/messages': 6.59,
  'agentwire/sqlite': 18.12,
  'agentwire/postgres': 21.39,
  'agentwire/redis': 25.9,
  'agentwire/storage': 2.02,
  'agentwire/formats': 29.5,
  'agentwire/models': 31.32,
  'agentwire/tracing': 40.78,
  'agentwire/tracing/sse': 35.65,
  'agentwire/tracing/langsmith': 1.7,
  'agentwire/tracing/opentelemetry': 33.64,
  'agentwire/a2a/signature': 1.9,
  'agentwire/opentelemetry': 4.19,
  'agentwire/control-plane/kubernetes': 11.49,
  'agentwire/control-plane/command': 6.4,
  'agentwire/audit': 56.59,
  'agentwire/devtools': 26.96,
  'agentwire/face': 35.46,
  'agentwire/react': 4.73,
  // All schemas with zod: what a server loads of them on demand is within it.
  'agentwire/schemas': 13.1,
  'agentwire/testing': 1.24,
  'agentwire/node': 8.45,
  'agentwire/express': 5.23,
  'agentwire/fastify': 6.51,
  'agentwire/hono': 1.95,
  'agentwire/next': 2.17,
  'agentwire/thread-metadata': 2.63,
}

/** The same for one name alone, after a bundler has dropped the rest of its entry. */
const ALONE: readonly (readonly [name: string, specifier: string, kib: number])[] = [
  ['createAgentServer', 'agentwire', 23.08],
  ['createThreadsHandler', 'agentwire', 17.66],
  ['createA2AHandler', 'agentwire/a2a', 19.31],
  ['AgentRejection', 'agentwire', 0.47],
  ['defineAgent', 'agentwire', 3.63],
  ['memoryCheckpointer', 'agentwire', 4.98],
]

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

/** What every quick start writes, with everything that it loads at any time, and what it loads at the start. */
const THREE_LINES = `
import { createAgentServer, defineAgent } from './dist/index.js'
const agent = defineAgent({ run: ({ message }) => message('Hello there') })
export default createAgentServer({ agents: { agent } })`

test('a server of three lines stays under its ceilings, in one file and at its start', async () => {
  const { bytes } = await bundle(THREE_LINES, { plugins: [] })
  expect(gzipSync(bytes).length / 1024).toBeLessThanOrEqual(193)
  // esbuild takes whole files of those that the entry imports, and Rolldown what is used of them.
  const split = await bundle(THREE_LINES, { plugins: [], splitting: true, outdir: 'split' })
  expect(kibOfTexts(startOf(split.outputs))).toBeLessThanOrEqual(60)
  const build = await rolldown({
    input: 'three-lines',
    cwd: root,
    plugins: [
      {
        name: 'three-lines',
        resolveId: (id) => (id === 'three-lines' ? join(root, id) : undefined),
        load: (id) => (id === join(root, 'three-lines') ? THREE_LINES : undefined),
      },
    ],
  })
  const { output } = await build.generate({ minify: true })
  const chunks = output.filter((file): file is OutputChunk => file.type === 'chunk')
  expect(
    kibOfTexts(
      startOf(
        new Map(
          chunks.map(({ fileName, isEntry, imports, code }) => [fileName, { isEntry, imports, text: code }]),
        ),
      ),
    ),
  ).toBeLessThanOrEqual(33.35)
})

test('a server has nothing of a protocol that it must be given, and not the page of the devtools', async () => {
  const { bytes } = await bundle(THREE_LINES, { plugins: [] })
  const text = Buffer.from(bytes).toString()
  const wires = [
    '/devtools/api/',
    '/v1/chat/completions',
    'RUN_STARTED',
    'x-vercel-ai-ui-message-stream',
    'tools/call',
    '/v2/deployments',
  ]
  expect(wires.filter((wire) => text.includes(wire))).toEqual([])
})

interface Built {
  readonly isEntry: boolean
  readonly imports: readonly string[]
  readonly text: string
}

/** The texts of the entry and of what it imports statically. */
function startOf(files: ReadonlyMap<string, Built>): readonly string[] {
  const names = new Set([...files].filter(([, { isEntry }]) => isEntry).map(([name]) => name))
  for (const name of names) for (const next of files.get(name)?.imports ?? []) names.add(next)
  return [...names].flatMap((name) => files.get(name)?.text ?? [])
}

const kibOfTexts = (texts: readonly string[]): number => gzipSync(texts.join('\n')).length / 1024

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
    'import-messages',
    'import-server',
    'import-storage',
    'index',
    'memory',
    'rolldown-runtime',
    'start-messages',
    'start-server',
    'start-storage',
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

interface Bundle {
  readonly bytes: Uint8Array
  readonly external: readonly string[]
  readonly outputs: ReadonlyMap<string, Built>
}

async function bundle(code: string, options: esbuild.BuildOptions = {}): Promise<Bundle> {
  const { outputFiles, metafile } = await esbuild.build({
    stdin: { contents: code, resolveDir: root, sourcefile: 'stdin.js' },
    absWorkingDir: root,
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    platform: 'neutral',
    packages: 'external',
    external: [...builtinModules],
    plugins: [onDemand],
    logLevel: 'error',
    ...options,
    metafile: true,
    write: false,
  })
  const outputs = Object.entries(metafile.outputs)
  const external = outputs.flatMap(([, { imports }]) =>
    imports.filter((one) => one.external).map(({ path }) => path),
  )
  return {
    bytes: outputFiles[0]!.contents,
    external: [...new Set(external)],
    outputs: new Map(
      outputs.map(([name, { entryPoint, imports }], at) => [
        name,
        {
          isEntry: entryPoint === 'stdin.js',
          imports: imports.filter(({ kind }) => kind === 'import-statement').map(({ path }) => path),
          text: outputFiles[at]!.text,
        },
      ]),
    ),
  }
}

/** Leaves out what is loaded on demand, but not what is loaded at once from the same file. */
const onDemand: esbuild.Plugin = {
  name: 'on-demand',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^\.\// }, ({ kind, path }) =>
      kind === 'dynamic-import' ? { path: `./dist/${basename(path)}`, external: true } : undefined,
    ),
}

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
