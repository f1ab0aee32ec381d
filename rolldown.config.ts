import { fileURLToPath } from 'node:url'
import {
  type ChunkingContext,
  type CodeSplittingGroup,
  defineConfig,
  type OutputOptions,
  type RolldownOptions,
} from 'rolldown'
import { pages } from './pages.config.ts'
import { entry } from './tsup.config.ts'

type EntryName = keyof typeof entry

const SERVER: readonly EntryName[] = ['index']
/**
 * What an import of `agentwire` loads is three files instead of a hundred small ones, because each file that is loaded costs a quarter
 * of a millisecond. Each file is what these entries share with `index`; what is loaded on demand is in none of them.
 */
const SHARED: readonly (readonly [name: string, by: readonly EntryName[]])[] = [
  ['shared-messages', ['messages', 'formats', 'models', 'tracing']],
  ['shared-storage', ['control-plane', 'redis']],
  ['shared-server', SERVER],
]

/** `index` exports it, and an engine without a storage loads it on demand, with nothing else in its file. */
const MEMORY = /\/src\/storage\/(?:index|memory\/(?!on-demand|capabilities|one-database))/

const input: RolldownOptions = {
  input: entry,
  platform: 'neutral',
  // What few servers use, or little of, is bundled: nobody has to install it, and what is not used of it is dropped.
  external: /^(?!(?:croner|modern-tar|rfc6902|zod)(?:\/|$))[^./\0]/,
  resolve: { mainFields: ['module', 'main'] },
  treeshake: { moduleSideEffects: false },
  transform: { target: 'node20' },
  plugins: [pages],
  checks: { ineffectiveDynamicImport: false },
  logLevel: 'warn',
}

/** Readable code needs no source maps, which are twice its size. The copy for CommonJS is compact, and has the same names. */
const output = (extension: 'js' | 'cjs'): OutputOptions => ({
  dir: 'dist',
  entryFileNames: `[name].${extension}`,
  chunkFileNames: `[name]-[hash].${extension}`,
  polyfillRequire: false,
  minify: {
    compress: extension === 'cjs' || { sequences: false, joinVars: false },
    mangle: false,
    codegen: { removeWhitespace: extension === 'cjs' },
  },
  comments: { annotation: true, legal: true, jsdoc: false },
  codeSplitting: {
    groups: [
      ...SHARED.map(sharedFile),
      { name: 'memory', test: MEMORY },
      { name: 'engine-on-demand', test: /\/src\/runs\// },
    ],
  },
})

const sharedFile = ([name, by]: (typeof SHARED)[number], at: number): CodeSplittingGroup => ({
  debugName: name,
  name: (id, context) => (isIn(by, id, context) ? name : null),
  // The first file in which a module may be has it.
  priority: SHARED.length - at,
})

const isIn = (by: readonly EntryName[], id: string, context: ChunkingContext): boolean =>
  !context.getModuleInfo(id)?.isEntry &&
  !MEMORY.test(id) &&
  loadedBy(SERVER, context).has(id) &&
  loadedBy(by, context).has(id)

const loaded = new Map<readonly EntryName[], ReadonlySet<string>>()

/** The modules that entries load, without those that they load on demand. */
function loadedBy(names: readonly EntryName[], context: ChunkingContext): ReadonlySet<string> {
  const known = loaded.get(names)
  if (known) return known
  const modules = new Set(names.map((name) => fileURLToPath(new URL(entry[name], import.meta.url))))
  // A set gives what is added to it while it is read.
  for (const id of modules) for (const next of context.getModuleInfo(id)?.importedIds ?? []) modules.add(next)
  loaded.set(names, modules)
  return modules
}

const { cli: _, ...library } = entry

export default defineConfig([
  { ...input, output: { ...output('js'), format: 'esm', cleanDir: true } },
  {
    ...input,
    input: library,
    // CommonJS has no `import.meta`: even where it is not reached, the whole file could not be loaded.
    transform: { ...input.transform, define: { 'import.meta.url': '__filename' } },
    output: { ...output('cjs'), format: 'cjs' },
  },
])
