import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Reads files of the examples, which are part of the package. */
export function exampleReader(): (path: string) => string {
  const folder = join(packageFolder(dirname(fileURLToPath(import.meta.url))), 'examples')
  return (path) => readFileSync(join(folder, path), 'utf8')
}

/** The folder of this package above a folder of its code. Sources are deeper in the package than the build. */
export function packageFolder(from: string): string {
  if (existsSync(join(from, 'examples', 'start'))) return from
  const above = dirname(from)
  if (above === from)
    throw new Error('agentwire: the package is not complete: it has no folder examples/start.')
  return packageFolder(above)
}
