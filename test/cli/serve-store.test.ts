import { Client } from '@langchain/langgraph-sdk'
import { expect, test } from 'vitest'
import { chat, commandLine } from './projects.ts'

const { project, agentwire, serve } = commandLine()

/** A graph that keeps what it is told. */
const GRAPH = `
import { MessagesAnnotation, StateGraph } from '@langchain/langgraph'
const answer = async ({ messages }, { store }) => {
  await store.put(['heard'], 'last', { text: messages.at(-1).text })
  return { messages: [{ role: 'ai', content: 'kept' }] }
}
export const graph = new StateGraph(MessagesAnnotation).addNode('answer', answer).addEdge('__start__', 'answer').compile()
`
const EMBED = `
export const embed = async (texts) => texts.map((text) => [text.includes('sun') ? 1 : 0, 1])
export const embeddings = { embedDocuments: (texts) => embed(texts) }
`
const graphs = { agent: './graph.js:graph' }

test.each(['embed', 'embeddings'])('the section store makes the memory of graphs: %s', async (name) => {
  const index = { embed: `./embed.js:${name}`, dims: 2, fields: ['text'] }
  const store = { index, ttl: { default_ttl: 60, refresh_on_read: false, sweep_interval_minutes: 5 } }
  const folder = project({ 'langgraph.json': { graphs, store }, 'graph.js': GRAPH, 'embed.js': EMBED })
  const { origin, told } = await serve(folder)
  expect(told.unsupported).toEqual([])
  await chat(origin, 'agent')
  const client = new Client({ apiUrl: origin }).store
  await client.putItem(['heard'], 'other', { text: 'the sun' })
  const { items } = await client.searchItems(['heard'], { query: 'sun' })
  expect(items.map(({ key }) => key)).toEqual(['other', 'last'])
  expect(items.map(({ value }) => value.text)).toEqual(['the sun', 'hello'])
  expect(items[0]!.score).toBeGreaterThan(items[1]!.score!)
})

test('store.path names a store of the project', async () => {
  const files = {
    'graph.js': GRAPH,
    'store.js':
      "import { InMemoryStore } from '@langchain/langgraph'\nexport const store = () => { const made = new InMemoryStore(); return made.put(['given'], 'k', {}).then(() => made) }",
  }
  const folder = project({ 'langgraph.json': { graphs, store: { path: './store.js:store' } }, ...files })
  const { origin } = await serve(folder)
  await chat(origin, 'agent')
  const { namespaces } = await new Client({ apiUrl: origin }).store.listNamespaces()
  expect(namespaces).toEqual([['given'], ['heard']])
})

test('http.disable_store turns its routes off', async () => {
  const folder = project({ 'langgraph.json': { graphs, http: { disable_store: true } }, 'graph.js': GRAPH })
  const { origin } = await serve(folder)
  expect((await fetch(`${origin}/store/items?namespace=a&key=k`)).status).toBe(404)
})

test.each([
  ['dims that are no number', { index: { dims: 'many' } }, /store\.index\.dims is not a positive number/],
  ['fields that are no list', { index: { fields: 'text' } }, /store\.index\.fields is not a list/],
  [
    'a time to live that is none',
    { ttl: { default_ttl: -1 } },
    /store\.ttl\.default_ttl is not a positive number/,
  ],
  [
    'an export that cannot embed',
    { index: { embed: './graph.js:graph' } },
    /store\.index\.embed must be a function/,
  ],
  ['a path that names no store', { path: './graph.js:graph' }, /store\.path does not name a store/],
])('a section store with %s is refused in one sentence', async (_what, store, sentence) => {
  const folder = project({ 'langgraph.json': { graphs, store }, 'graph.js': GRAPH })
  const program = agentwire(['serve', '--config', `${folder}/langgraph.json`, '--port', '0'])
  expect(await program.exit).toBe(1)
  expect(program.text()).toMatch(sentence)
})
