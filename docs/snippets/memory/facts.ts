import assert from 'node:assert/strict'

// #region engine
import { createAgentServer } from 'agentwire'
import { greeter } from './greeter.ts'

const server = createAgentServer({ agents: { greeter } })

const store = server.engine.graphStore({ id: 'ann' }) // the owner of the memory
await store.put(['facts'], 'tea', { text: 'Ann drinks tea', kind: 'taste' })
await store.put(['facts', 'work'], 'job', { text: 'Ann builds bridges', kind: 'work' })
const tastes = await store.search(['facts'], { filter: { kind: 'taste' } })
const namespaces = await store.listNamespaces({ prefix: ['facts'] }) // [['facts'], ['facts', 'work']]
console.log(tastes, namespaces)
// #endregion

assert.deepEqual(
  tastes.map(({ key }) => key),
  ['tea'],
)
assert.deepEqual(namespaces, [['facts'], ['facts', 'work']])
await server.close()
