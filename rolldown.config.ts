import { fileURLToPath } from 'node:url'
import {
  type ChunkingContext,
  type CodeSplittingGroup,
  defineConfig,
  type OutputOptions,
  type RolldownOptions,
} from 'rolldown'
import { devtoolsPage } from './devtools-page.config.ts'
import { entry } from './tsup.config.ts'

type EntryName = keyof typeof entry

const SERVER: readonly EntryName[] = ['index']
/**
 * What an import of `agentwire` loads is three files instead of a hundred small ones, because each file that is loaded costs a quarter
 * of a millisecond. Each file is what these entries share with `index`; what is loaded on demand is in none of them.
 */
const SHARED: readonly (readonly [name: string, by: readonly EntryName[]])[] = [
  ['messages', ['messages', 'formats', 'tracing']],
  ['storage', ['control-plane', 'redis']],
  ['server', SERVER],
]

const input: RolldownOptions = {
  input: entry,
  platform: 'neutral',
  // Zod is bundled, so that what is not used of it is dropped.
  external: /^(?!zod(\/|$))[^./\0]/,
  resolve: { mainFields: ['module', 'main'] },
  treeshake: { moduleSideEffects: false },
  transform: { target: 'node20' },
  plugins: [devtoolsPage.vite],
  checks: { ineffectiveDynamicImport: false },
  logLevel: 'warn',
}

/** Readable code needs no source maps, which are twice its size. */
const output = (extension: 'js' | 'cjs'): OutputOptions => ({
  dir: 'dist',
  entryFileNames: `[name].${extension}`,
  chunkFileNames: `[name]-[hash].${extension}`,
  polyfillRequire: false,
  minify: {
    compress: { sequences: false, joinVars: false },
    mangle: false,
    codegen: { removeWhitespace: false },
  },
  comments: { annotation: true, legal: true, jsdoc: false },
  codeSplitting: { groups: [...SHARED.map(sharedFile), { name: 'engine-on-demand', test: /\/src\/runs\// }] },
})

const sharedFile = ([name, by]: (typeof SHARED)[number], at: number): CodeSplittingGroup => ({
  debugName: name,
  name: (id, context) => (loadedBy(SERVER, context).has(id) && loadedBy(by, context).has(id) ? name : null),
  // The first file in which a module may be has it.
  priority: SHARED.length - at,
})

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

export default defineConfig([
  { ...input, output: { ...output('js'), format: 'esm', cleanDir: true } },
  {
    ...input,
    // CommonJS has no `import.meta`: even where it is not reached, the whole file could not be loaded.
    transform: { ...input.transform, define: { 'import.meta.url': '__filename' } },
    output: { ...output('cjs'), format: 'cjs' },
  },
])
