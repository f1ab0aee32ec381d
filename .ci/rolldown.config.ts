import { fileURLToPath } from 'node:url'
import {
  type CodeSplittingGroup,
  defineConfig,
  type OutputChunk,
  type OutputOptions,
  type Plugin,
  type RolldownOptions,
  rolldown,
} from 'rolldown'
import { library } from './entries.mjs'
import { pages } from './pages.ts'

/** `index` exports it, and an engine without a storage loads it on demand, with nothing else in its file. */
const MEMORY = /\/src\/storage\/(?:index|memory\/(?!on-demand|capabilities|one-database))/

/**
 * A server loads the devtools from the package: a bundler does not follow an import whose name is an argument, and the
 * comments keep it from a warning.
 */
const devtoolsApart: Plugin = {
  name: 'devtools-apart',
  load: (id) => (id.endsWith('/src/ops/devtools/on-demand.ts') ? DEVTOOLS_APART : undefined),
}
const DEVTOOLS_APART = `
const load = (name) => import(/* @vite-ignore */ /* webpackIgnore: true */ /* turbopackIgnore: true */ name)
export const loadDevtools = () => load('agentwire/devtools')
`

/** What checks the bodies of the streaming protocol, which `agentwire/schemas` has without a server. */
const SCHEMAS = /\/node_modules\/zod\/|\/src\/faces\/(?:kit\/schema|threads\/(?:wire|answers|extract))\.ts$/

/** The file of the devtools' page, which both copies of the package know by its name. */
const PAGE = 'devtools-page'
const modules = { ...library, cli: 'src/cli/main.ts', [PAGE]: 'src/ops/devtools/page/compiled.ts' }

const input: RolldownOptions = {
  input: modules,
  platform: 'neutral',
  // What few servers use, or little of, is bundled: nobody has to install it, and what is not used of it is dropped.
  external: /^(?!(?:croner|modern-tar|rfc6902|zod)(?:\/|$))[^./\0]/,
  resolve: { mainFields: ['module', 'main'] },
  treeshake: { moduleSideEffects: false },
  transform: { target: 'node20' },
  plugins: [pages, devtoolsApart],
  checks: { ineffectiveDynamicImport: false },
  // What files are made of is said below: see sharedModules.
  preserveEntrySignatures: 'allow-extension',
  logLevel: 'warn',
}

/** A server of three lines, whose bundles should contain what it loads at the start, and no more of it than it uses. */
const SERVER = 'three-line-server'
const SERVER_CODE = `export { createAgentServer } from './src/server.ts'; export { defineAgent } from './src/agents/function/define-agent.ts'`

/**
 * What is loaded together is one file instead of a hundred small ones, because each file that is loaded costs a quarter
 * of a millisecond. A bundler takes what it uses of a file as a whole into one of its own, so a file has nothing of two
 * stages: what a server loads at the start, what else an import of `agentwire` loads, and what the first run does. Those
 * of a stage that entries without a server share are files of their own.
 */
const SHARED = await sharedModules()

async function sharedModules(): Promise<readonly (readonly [name: string, modules: ReadonlySet<string>])[]> {
  const build = await rolldown({
    ...input,
    input: { ...modules, [SERVER]: SERVER },
    experimental: { chunkOptimization: false },
    plugins: [
      ...[input.plugins].flat(),
      {
        name: SERVER,
        resolveId: (id) =>
          id === SERVER ? fileURLToPath(new URL(`../${SERVER}`, import.meta.url)) : undefined,
        load: (id) => (id.endsWith(`/${SERVER}`) ? SERVER_CODE : undefined),
      },
    ],
  })
  const { output } = await build.generate({ format: 'esm' })
  await build.close()
  const chunks = new Map(output.flatMap((file) => (file.type === 'chunk' ? [[file.fileName, file]] : [])))
  const entryModules = new Set(
    [...chunks.values()].flatMap(({ isEntry, facadeModuleId }) => (isEntry ? facadeModuleId : [])),
  )
  /** These files and those that they load, without those that they load on demand. */
  const withImports = (isFirst: (file: OutputChunk) => boolean): readonly OutputChunk[] => {
    const files = new Set([...chunks.values()].filter(isFirst))
    // A set gives what is added to it while it is read.
    for (const { imports } of files)
      for (const name of imports) if (chunks.has(name)) files.add(chunks.get(name)!)
    return [...files]
  }
  const loadedBy = (isFirst: (file: OutputChunk) => boolean): ReadonlySet<string> =>
    new Set(
      withImports(isFirst)
        .flatMap(({ moduleIds }) => moduleIds)
        .filter((id) => !entryModules.has(id)),
    )
  const ofEntries = (...names: readonly string[]) =>
    loadedBy(({ isEntry, name }) => isEntry && names.includes(name))
  const ofSources = (...files: readonly string[]) =>
    loadedBy(({ facadeModuleId }) => files.some((file) => facadeModuleId?.endsWith(`/src/${file}.ts`)))
  const withMessages = ofEntries('messages', 'formats', 'models', 'tracing')
  const withStorage = ofEntries('control-plane', 'redis')
  const withFaces = ofEntries('a2a', 'ai-sdk', 'ag-ui', 'mcp', 'openai', 'platform')
  const withAdapters = ofEntries('node', 'express', 'fastify', 'hono', 'next')
  const withGraphs = ofEntries('langgraph', 'models', 'tracing')
  const start = ofEntries(SERVER)
  const imported = ofEntries('index')
  const run = ofSources(
    'engine/execution/start',
    'engine/execution/cancel',
    'engine/subscriptions/result',
    'engine/subscriptions/events',
    'engine/threads/state',
  )
  const row = ofSources('faces/kit/answer-row')
  const rows = new Set([...row, ...ofSources('faces/threads/routes')])
  const bodies = new Set([...rows].filter((id) => SCHEMAS.test(id)))
  const threads = new Set([...rows].filter((id) => !bodies.has(id)))
  const shared = new Set([
    ...withFaces,
    ...ofEntries('devtools', 'face'),
    ...ofSources(...['ai-sdk', 'ag-ui', 'openai'].map((name) => `faces/${name}/routes`)),
  ])
  const functions = ofSources('agents/function/attempt', 'agents/function/thread-state')
  const soon = new Set([...imported, ...run, ...threads])
  const ofStages = [
    ['start-messages', intersection(start, withMessages)],
    ['start-storage', intersection(start, withStorage)],
    ['start-server', new Set([...start, ...intersection(threads, withAdapters)])],
    ['import-messages', intersection(soon, withMessages)],
    ['import-storage', intersection(soon, withStorage)],
    ['import-server', imported],
    ['run-parse', new Set([...row].filter((id) => id.endsWith('/src/faces/kit/parse.ts')))],
    ['run-row', row],
    ['run-server', run],
    ['run-faces', intersection(threads, shared)],
    ['run-threads', threads],
    ['run-agent', intersection(functions, withGraphs)],
    ['run-function', functions],
    [
      'run-zod',
      intersection(bodies, ofSources('control-plane/operations/all', 'control-plane/api/answer-row')),
    ],
    ['run-bodies', bodies],
    ['adapters', intersection(ofEntries('node'), ofEntries('hono', 'next'))],
    ['adapters-node', ofEntries('node')],
  ] as const
  // What other files import of an entry would be among its exports, so it is no part of the entry's own file.
  const apart = withImports(({ isEntry }) => isEntry)
    .filter(({ isEntry, isDynamicEntry }) => !isEntry && !isDynamicEntry)
    .map(({ name, moduleIds }) => [`${name}-shared`, new Set(moduleIds)] as const)
  return [...ofStages, ...apart]
}

function intersection(some: ReadonlySet<string>, others: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([...some].filter((id) => others.has(id)))
}

/**
 * Readable code needs no source maps, which are twice its size. The copy for CommonJS is compact: functions and classes
 * have their names, as stack traces show them, and variables do not.
 */
const output = (extension: 'js' | 'cjs'): OutputOptions => ({
  dir: 'dist',
  entryFileNames: `[name].${extension}`,
  chunkFileNames: `[name]-[hash].${extension}`,
  polyfillRequire: false,
  minify: {
    compress: extension === 'cjs' || { sequences: false, joinVars: false },
    mangle: extension === 'cjs' && { toplevel: true, keepNames: true },
    codegen: { removeWhitespace: extension === 'cjs' },
  },
  comments: { annotation: true, legal: true, jsdoc: false },
  codeSplitting: {
    includeDependenciesRecursively: false,
    groups: [
      ...SHARED.map(sharedFile),
      { name: 'memory', test: MEMORY },
      { name: 'engine-on-demand', test: /\/src\/engine\//, includeDependenciesRecursively: true },
    ],
  },
})

const sharedFile = ([name, modules]: (typeof SHARED)[number], at: number): CodeSplittingGroup => ({
  debugName: name,
  name: (id) => (modules.has(id) && !MEMORY.test(id) ? name : null),
  // The first file in which a module may be has it.
  priority: SHARED.length - at,
})

/** The page is data, a tenth of the package: the copy for CommonJS loads that of the modules. */
const onePage: Plugin = {
  name: 'one-page',
  resolveId: (id) => (id === './page/compiled.ts' ? { id: `./${PAGE}.js`, external: true } : undefined),
}

export default defineConfig([
  { ...input, output: { ...output('js'), format: 'esm', cleanDir: true } },
  {
    ...input,
    input: library,
    plugins: [onePage, input.plugins],
    // CommonJS has no `import.meta`: even where it is not reached, the whole file could not be loaded.
    transform: { ...input.transform, define: { 'import.meta.url': '__filename' } },
    // A file that requires one which is being loaded finds nothing in it.
    experimental: { chunkOptimization: { mergeCommonChunks: false } },
    output: { ...output('cjs'), format: 'cjs' },
  },
])
