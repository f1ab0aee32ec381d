// The entries of the package: the import paths of tsconfig.json, under which examples and tests have the sources. What the package exports of
// them is in package.json, and `test/package/entries.test.ts` compares the two.
import { readFileSync } from 'node:fs'

/** @type {{ compilerOptions: { paths: Record<string, [source: string]> } }} */
const { compilerOptions } = JSON.parse(readFileSync(new URL('../tsconfig.json', import.meta.url), 'utf8'))

/**
 * The sources of the library by their files in `dist`: `agentwire/tracing/sse` is `tracing-sse`.
 * @type {Readonly<Record<string, string>>}
 */
export const library = Object.fromEntries(
  Object.entries(compilerOptions.paths).map(([name, [source]]) => [fileOf(name), source.replace('./', '')]),
)

/**
 * The file of an import path in `dist`.
 * @param {string} name
 */
export function fileOf(name) {
  return name.replace(/^agentwire\/?/, '').replaceAll('/', '-') || 'index'
}
