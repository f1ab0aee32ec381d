import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, renameSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, extname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build, type Loader, type Plugin } from 'esbuild'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
/** Below `node_modules`, so that packages are found as from the project. */
const BUNDLES = join(ROOT, 'node_modules/.cache/agentwire/programs')
const SOURCES = ['src', 'adapters', 'test', 'examples', 'package.json']

const bundles = new Map<string, Promise<string>>()

/**
 * One JavaScript file of a program of the project, which starts in a fraction of the time that tsx takes for its hundreds of files. It
 * is made once for a state of the sources, whichever process asks first.
 *
 * @param path From the root of the project.
 */
export function bundleOf(path: string): Promise<string> {
  const known = bundles.get(path)
  if (known) return known
  const made = bundle(path)
  bundles.set(path, made)
  return made
}

async function bundle(path: string): Promise<string> {
  const changed = Math.max(...SOURCES.map((source) => changedAt(join(ROOT, source))))
  const state = createHash('sha256').update(`${path} ${changed}`).digest('hex').slice(0, 16)
  const file = join(BUNDLES, `${path.replaceAll(/\W+/g, '-')}-${state}.mjs`)
  if (existsSync(file)) return file
  mkdirSync(BUNDLES, { recursive: true })
  // Other workers may write or start the same file at this moment, so it is replaced in one step.
  const written = `${file}.${process.pid}`
  await build({
    entryPoints: [join(ROOT, path)],
    outfile: written,
    bundle: true,
    platform: 'node',
    target: 'node20',
    format: 'esm',
    packages: 'external',
    plugins: [OWN_URLS],
    logLevel: 'error',
  })
  renameSync(written, file)
  return file
}

/** A module that looks for files beside its own still finds them. */
const OWN_URLS: Plugin = {
  name: 'own-urls',
  setup({ onLoad }) {
    onLoad({ filter: /\.tsx?$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8')
      if (!text.includes('import.meta.url')) return undefined
      const url = JSON.stringify(pathToFileURL(path).href)
      return {
        contents: text.replaceAll('import.meta.url', url),
        loader: extname(path).slice(1) as Loader,
        resolveDir: dirname(path),
      }
    })
  },
}

/** When the newest file at and below a path was changed. */
function changedAt(path: string): number {
  const stat = statSync(path)
  if (!stat.isDirectory()) return stat.mtimeMs
  return readdirSync(path).reduce(
    (newest, name) => (name === 'node_modules' ? newest : Math.max(newest, changedAt(join(path, name)))),
    stat.mtimeMs,
  )
}
