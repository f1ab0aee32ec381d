// Plain node runs this, so that no test runner resolves the imports. It loads every entry both ways and prints what it found.
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)
/** @type {Record<string, { esm: string[], cjs: string[] }>} */
const entries = {}
const errors = []
/** @param {object} module */
const names = (module) =>
  Object.keys(module)
    .filter((name) => name !== '__esModule')
    .sort()
for (const specifier of process.argv.slice(2)) {
  const esm = await import(specifier)
  const cjs = require(specifier)
  entries[specifier] = { esm: names(esm), cjs: names(cjs) }
  for (const [name, type] of Object.entries(esm)) {
    if (typeof type !== 'function' || !(type.prototype instanceof Error)) continue
    const [a, b] = [new type('x', 'x', {}), new cjs[name]('x', 'x', {})]
    errors.push({
      name,
      brand: Object.hasOwn(type, 'brand') ? type.brand : null,
      separate: type !== cjs[name],
      crossed: a instanceof cjs[name] && b instanceof type,
      strangers: [new Error('x'), null, 'x', {}].some((value) => value instanceof type),
    })
  }
}
// An engine of one copy of the package, and a face of the other.
const { createAgentEngine, defineAgent } = await import('agentwire')
const engine = createAgentEngine({ agents: { agent: defineAgent({ async run() {} }) } })
const { createThreadsHandler } = require('agentwire')
const face = createThreadsHandler({ engine })
const { status: crossedEngine } = await face.fetch(new Request('http://127.0.0.1/threads'))
await face.close()
await engine.close()
console.log(JSON.stringify({ entries, errors, crossedEngine }))
