// Writes the declarations of dist, after `tsc -p .ci/tsconfig.build.json` has written those of each source: `node .ci/declarations.mjs`.
// Deriving them from the sources, of all entries at once, takes gigabytes. The entries for CommonJS and those of modules have the same
// types, and the package has them once.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'tsup'
import { library } from './entries.mjs'

const DIST = fileURLToPath(new URL('../dist/', import.meta.url))
/** A name with a hash is that of a file that entries share. */
const ENTRY = /^([a-z0-9-]+)\.d\.cts$/
/** Some packages have other types for modules, so what imports one has a copy that finds them. */
const PACKAGE = /from '(?!\.|node:)/

const entry = Object.fromEntries(
  Object.entries(library).map(([name, source]) => [name, `.tmp/types/${source.replace(/\.ts$/, '.d.ts')}`]),
)
await build({ config: false, entry: library, format: ['cjs'], dts: { only: true, entry } })

for (const file of readdirSync(DIST)) {
  const [, name] = ENTRY.exec(file) ?? []
  if (name === undefined) continue
  const text = readFileSync(`${DIST}${file}`, 'utf8')
  writeFileSync(`${DIST}${name}.d.ts`, PACKAGE.test(text) ? text : `export * from './${name}.cjs'\n`)
}
