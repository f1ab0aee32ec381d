import assert from 'node:assert/strict'
import { createAgentServer, defineAgent } from 'agentwire'
import { embed } from './kit/embed.ts'

// #region function
const greeter = defineAgent({
  async run({ store, principal, message }) {
    const profile = await store.get(['profiles', principal?.id ?? 'anybody'], 'name')
    await message(profile ? `Hello again, ${profile.value.name}.` : 'Who are you?')
  },
})
// #endregion

// #region embed
const server = createAgentServer({
  agents: { greeter },
  graphStore: {
    embed, // (texts: string[]) => Promise<number[][]>
    fields: ['text', 'notes[*].text'], // default: the whole value as JSON
    ttl: { defaultTtl: 60 * 24 * 30 }, // minutes; reading an item begins its time anew
  },
})
// #endregion

// #region engine
const store = server.engine.graphStore({ id: 'ann' }) // whose memory it is
await store.put(['facts'], 'tea', { text: 'Ann drinks tea', kind: 'taste' })
await store.put(['facts', 'work'], 'job', { text: 'Ann builds bridges', kind: 'work' })
const tastes = await store.search(['facts'], { filter: { kind: 'taste' } })
const [nearest] = await store.search(['facts'], { query: 'what does she drink?', limit: 1 })
const namespaces = await store.listNamespaces({ prefix: ['facts'] }) // [['facts'], ['facts', 'work']]
// #endregion

assert.deepEqual(
  tastes.map(({ key }) => key),
  ['tea'],
)
assert.equal(nearest?.key, 'tea')
assert.deepEqual(namespaces, [['facts'], ['facts', 'work']])
await server.close()
