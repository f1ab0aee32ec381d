import { readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import * as esbuild from 'esbuild'
import { describe, expect, test } from 'vitest'
import { entries, manifest, root } from './package.ts'

/** The entries that speak to Node. All others must load in a browser, on Workers, Bun and Deno. */
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
  agentwire: 115.5,
  'agentwire/langgraph': 10.5,
  'agentwire/a2a': 98,
  'agentwire/platform': 68.5,
  'agentwire/control-plane': 59.5,
  'agentwire/control-plane/jwt': 1.5,
  'agentwire/control-plane/oauth': 13.5,
  'agentwire/control-plane/process': 16,
  'agentwire/messages': 5.5,
  'agentwire/sqlite': 16.5,
  'agentwire/postgres': 21.5,
  'agentwire/redis': 23.5,
  'agentwire/storage': 50.5,
  'agentwire/formats': 28,
  'agentwire/tracing': 38.5,
  'agentwire/tracing/sse': 33.5,
  'agentwire/tracing/langsmith': 0.5,
  'agentwire/tracing/opentelemetry': 31,
  'agentwire/a2a/signature': 1,
  'agentwire/opentelemetry': 3,
  'agentwire/control-plane/kubernetes': 11,
  'agentwire/control-plane/command': 7,
  'agentwire/audit': 57.5,
  'agentwire/devtools': 75.5,
  'agentwire/node': 6.5,
  'agentwire/express': 4,
  'agentwire/fastify': 5,
  'agentwire/hono': 0.55,
  'agentwire/next': 1,
  'agentwire/thread-metadata': 1.5,
}

/** The same for one name alone, after a bundler has dropped the rest of its entry. */
const ALONE: readonly (readonly [name: string, specifier: string, kib: number])[] = [
  ['createAgentServer', 'agentwire', 97.5],
  ['createThreadsHandler', 'agentwire', 66.5],
  ['defineAgent', 'agentwire', 23.5],
  ['memoryCheckpointer', 'agentwire', 5.5],
]

/**
 * What is loaded when somebody asks for it: the devtools, whose entry has a ceiling of its own, the counts of a memory store, how
 * graphs run for clients of the platform's REST, the streams of those runs, crons, and the requests that deliver something.
 */
const ON_DEMAND = ['group', 'counts', 'run-classic', 'stream', 'join', 'crons-room', 'requests'].map(
  (name) => `./dist/${name}-*.js`,
)

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
      const text = readFileSync(join(root, file), 'utf8')
      const specifiers = [...text.matchAll(/(?:from|import\()\s*['"]([^'".][^'"]*)['"]/g)].map(
        ([, name]) => name!,
      )
      expect(specifiers.map(packageName).filter((name) => !known.includes(name))).toEqual([])
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
    external: [...builtinModules, ...(code.includes('dist/devtools.js') ? [] : ON_DEMAND)],
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

/** The package for which an entry exists. */
function namesake(specifier: string): string {
  const last = specifier.split('/').at(-1)!
  return last === 'opentelemetry' ? '@opentelemetry/api' : last
}

function isBuiltin(name: string): boolean {
  return name.startsWith('node:') || builtinModules.includes(name)
}

function packageName(specifier: string): string {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
}
