// Gives the entries of dist their declarations as modules: `node .ci/declarations.mjs`, after those for CommonJS are built.
// Both have the same types, and the package has them once.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const DIST = fileURLToPath(new URL('../dist/', import.meta.url))
/** A name with a hash is that of a file that entries share. */
const ENTRY = /^([a-z0-9-]+)\.d\.cts$/
/** Some packages have other types for modules, so what imports one has a copy that finds them. */
const PACKAGE = /from '(?!\.|node:)/

for (const file of readdirSync(DIST)) {
  const [, name] = ENTRY.exec(file) ?? []
  if (name === undefined) continue
  const text = readFileSync(`${DIST}${file}`, 'utf8')
  writeFileSync(`${DIST}${name}.d.ts`, PACKAGE.test(text) ? text : `export * from './${name}.cjs'\n`)
}
