import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ConfigError } from './config-reader.ts'

interface Loader {
  register(options?: { readonly tsconfig?: string | false }): unknown
}

/** What is read of the package.json of tsx. */
interface Manifest {
  readonly exports: Readonly<Record<string, { readonly import: { readonly default: string } }>>
}

/**
 * Lets this process import TypeScript: with `tsx`, of the project or of this package, else with Node's own stripping of types
 * (22.18 and later).
 */
export async function loadTypeScript(folder: string): Promise<void> {
  const require = [join(folder, 'package.json'), import.meta.url]
    .map((place) => createRequire(place))
    .find((from) => resolves(from, 'tsx/esm/api'))
  if (require) {
    const manifest = require.resolve('tsx/package.json')
    const { exports } = require(manifest) as Manifest
    // As modules: from CommonJS, some releases of tsx do not find their own files.
    const load = async (entry: string): Promise<Loader> =>
      import(pathToFileURL(join(dirname(manifest), exports[entry]!.import.default)).href)
    const config = join(folder, 'tsconfig.json')
    const options = existsSync(config) ? { tsconfig: config } : {}
    // Both: a file of TypeScript is an ES module or CommonJS, as its package.json says.
    ;(await load('./cjs/api')).register()
    ;(await load('./esm/api')).register(options)
    return
  }
  if ((process.features as { readonly typescript?: string | false }).typescript) return
  throw new ConfigError(
    `Node ${process.versions.node} does not read TypeScript. Run “npm install tsx” in ${folder}, or use Node 22.18 or later.`,
  )
}

function resolves(require: NodeJS.Require, entry: string): boolean {
  try {
    require.resolve(entry)
    return true
  } catch {
    return false
  }
}
