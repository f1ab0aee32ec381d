import { readFileSync } from 'node:fs'

/** The version of this package. Its manifest lies one folder above this file, in the sources and in `dist`. */
export function version(): string {
  const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  return (JSON.parse(manifest) as { readonly version: string }).version
}
