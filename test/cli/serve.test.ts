import { join } from 'node:path'
import { Client } from '@langchain/langgraph-sdk'
import { expect, test } from 'vitest'
import { freePort } from '../kit/listen.ts'
import { chat, commandLine, GRAPH, graphWith, startRun, write } from './projects.ts'

const { project, agentwire, serve } = commandLine()

test('every form of an export is served, and the SDK chats with it', async () => {
  const folder = project({
    'langgraph.json': {
      node_version: '20',
      dependencies: ['.'],
      dockerfile_lines: [],
      graphs: {
        compiled: './graph.ts:graph',
        uncompiled: { path: './forms.ts:uncompiled', description: 'Answers.' },
        standard: './forms.ts',
        made: './forms.ts:made',
        promised: './forms.ts:promised',
        javascript: './plain.mjs:graph',
        common: './common.cjs:graph',
        agent: './forms.ts:reacting',
        echo: './echo.ts:echo',
      },
    },
    'graph.ts': GRAPH,
    'forms.ts': `${graphWith("'heard'")}
import { createAgent } from 'langchain'
import { FakeListChatModel } from '@langchain/core/utils/testing'
import type { LangGraphRunnableConfig } from '@langchain/langgraph'
export const uncompiled = new StateGraph(MessagesAnnotation).addNode('answer', answer).addEdge('__start__', 'answer')
export default uncompiled.compile()
export const made = async (config: LangGraphRunnableConfig, { accessContext }: { accessContext: string }) => {
  const heard = async ({ messages }: typeof MessagesAnnotation.State) => ({
    messages: [{ role: 'ai', content: accessContext + ' of ' + config.configurable!.graph_id + ' heard ' + messages.at(-1)!.content }],
  })
  return new StateGraph(MessagesAnnotation).addNode('answer', heard).addEdge('__start__', 'answer')
}
export const promised = Promise.resolve(uncompiled)
export const reacting = createAgent({ model: new FakeListChatModel({ responses: ['heard hello'] }), tools: [] })
`,
    'plain.mjs': GRAPH,
    'common.cjs': `
const { MessagesAnnotation, StateGraph } = require('@langchain/langgraph')
const answer = async ({ messages }) => ({ messages: [{ role: 'ai', content: 'heard ' + messages.at(-1).content }] })
module.exports = { graph: new StateGraph(MessagesAnnotation).addNode('answer', answer).addEdge('__start__', 'answer').compile() }
`,
    'echo.ts': `
import { defineAgent, textOf } from ${JSON.stringify(join(import.meta.dirname, '../../src/index.ts'))}
export const echo = defineAgent({ run: async ({ messages, message }) => void (await message('heard ' + textOf(messages.at(-1)!))) })
`,
  })
  const { origin, told } = await serve(folder)
  expect(told).toMatchObject({ url: origin, auth: false, a2a: true, storage: 'memory:', unsupported: [] })
  for (const name of told.agents as string[]) {
    const heard = name === 'made' ? 'threads.create_run of made heard hello' : 'heard hello'
    expect([name, (await chat(origin, name)).texts]).toEqual([name, ['hello', heard]])
  }
  expect(told.agents).toHaveLength(9)
  const card = await fetch(`${origin}/a2a/uncompiled/.well-known/agent-card.json`)
  expect(await card.json()).toMatchObject({ description: 'Answers.' })
})

test('a function that makes a graph is asked for it wherever a graph is: to draw it, and to write steps of a run', async () => {
  const folder = project({
    'langgraph.json': { graphs: { made: './made.js:made' } },
    'made.js': `
import { MessagesAnnotation, StateGraph } from '@langchain/langgraph'
export const made = (config, { accessContext }) =>
  new StateGraph(MessagesAnnotation)
    .addNode(accessContext === 'assistants.read' ? 'drawn' : 'answer', async () => ({}))
    .addEdge('__start__', accessContext === 'assistants.read' ? 'drawn' : 'answer')
`,
  })
  const { origin } = await serve(folder)
  const client = new Client({ apiUrl: origin, apiKey: null, callerOptions: { maxRetries: 0 } })
  const { nodes } = await client.assistants.getGraph('made')
  expect(nodes.map(({ id }) => id)).toContain('drawn')
  const said = (content: string) => ({ messages: [{ role: 'user', content }] })
  const { thread_id } = await client.threads.create({
    graphId: 'made',
    supersteps: [
      { updates: [{ values: said('one'), asNode: '__input__' }] },
      { updates: [{ values: said('one'), asNode: '__start__' }] },
      { updates: [{ values: said('two'), asNode: 'answer' }] },
    ],
  })
  const state = await client.threads.getState<{ messages: { content: string }[] }>(thread_id)
  expect(state.values.messages.map(({ content }) => content)).toEqual(['one', 'two'])
})

test('/ok and /info are answered, also with a look into the database', async () => {
  const { origin } = await serve(
    project({ 'langgraph.json': { graphs: { agent: './graph.js:graph' } }, 'graph.js': GRAPH }),
  )
  for (const path of ['/ok', '/ok?check_db=1']) {
    const response = await fetch(origin + path)
    expect([response.status, await response.json()]).toEqual([200, { ok: true }])
  }
  expect(await (await fetch(`${origin}/info`)).json()).toMatchObject({
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    langgraph_js_version: expect.stringMatching(/^1\./),
    context: 'js',
    flags: { assistants: true, crons: true },
  })
})

test('a storage keeps the threads over a restart, and SIGTERM ends the process with 0', async () => {
  const folder = project({ 'langgraph.json': { graphs: { agent: './graph.js:graph' } }, 'graph.js': GRAPH })
  const env = { STORAGE_URL: `file:${join(folder, 'agents.db')}` }
  const first = await serve(folder, [], env)
  const { threadId } = await chat(first.origin, 'agent')
  first.child.kill('SIGTERM')
  expect(await first.exit).toBe(0)
  const second = await serve(folder, [], env)
  expect(second.told.storage).toBe(env.STORAGE_URL)
  const { texts } = await chat(second.origin, 'agent', threadId)
  expect(texts).toEqual(['hello', 'heard hello', 'hello', 'heard hello'])
})

test('a graph that was compiled with a saver of its own keeps its state in the storage of the server', async () => {
  const graph = GRAPH.replace('.compile()', '.compile({ checkpointer: new MemorySaver() })').replace(
    '{ Mess',
    '{ MemorySaver, Mess',
  )
  const folder = project({ 'langgraph.json': { graphs: { agent: './graph.js:graph' } }, 'graph.js': graph })
  const args = ['--storage', join(folder, 'agents.db')]
  const first = await serve(folder, args)
  const { threadId } = await chat(first.origin, 'agent')
  first.child.kill('SIGINT')
  expect(await first.exit).toBe(0)
  const second = await serve(folder, args)
  expect((await chat(second.origin, 'agent', threadId)).texts).toHaveLength(4)
})

test('env comes from a file or the config, and never takes the place of what the environment has', async () => {
  const graph = GRAPH.replace("'heard'", 'process.env.WORD + process.env.OTHER')
  const folder = project({
    'langgraph.json': { graphs: { agent: './graph.js:graph' }, env: '.env' },
    '.env': 'WORD="from the file"\nOTHER=, too',
    'graph.js': graph,
  })
  const { origin } = await serve(folder)
  expect((await chat(origin, 'agent')).texts[1]).toBe('from the file, too hello')
  write(folder, {
    'langgraph.json': { graphs: { agent: './graph.js:graph' }, env: { WORD: 'config', OTHER: '!' } },
  })
  const second = await serve(folder, [], { WORD: 'environment' })
  expect((await chat(second.origin, 'agent')).texts[1]).toBe('environment! hello')
})

test('a run under way finishes before the process ends, and a second signal ends it at once', async () => {
  const slow = GRAPH.replace(
    '=> ({ messages: [',
    '=> (await new Promise((done) => setTimeout(done, 600)), { messages: [',
  )
  const folder = project({ 'langgraph.json': { graphs: { agent: './graph.js:graph' } }, 'graph.js': slow })
  const storage = ['--storage', join(folder, 'agents.db')]
  const first = await serve(folder, storage)
  const threadId = crypto.randomUUID()
  await startRun(first.origin, threadId)
  first.child.kill('SIGTERM')
  expect(await first.exit).toBe(0)
  const second = await serve(folder, storage)
  const { values } = await new Client({ apiUrl: second.origin }).threads.getState<{ messages: unknown[] }>(
    threadId,
  )
  expect(values.messages).toHaveLength(2)
  await startRun(second.origin, threadId)
  second.child.kill('SIGTERM')
  second.child.kill('SIGTERM')
  second.child.kill('SIGINT')
  expect([130, 143]).toContain(await second.exit)
})

test('it prints what it serves, and PORT and HOST name the place', async () => {
  const folder = project({
    'langgraph.json': {
      graphs: { agent: './graph.js:graph' },
      store: { index: { embed: 'openai:text-embedding-3-small' } },
      checkpointer: { ttl: {} },
    },
    'graph.js': GRAPH,
  })
  const port = await freePort()
  const served = agentwire(['serve', '--config', join(folder, 'langgraph.json')], {
    PORT: `${port}`,
    HOST: '::1',
  })
  const text = await served.output(/Not supported: checkpointer/)
  expect(text).toContain(`agentwire serves langgraph.json on http://[::1]:${port}\n`)
  expect(text).toMatch(/agents +agent\n/)
  expect(text).toMatch(
    /storage +the memory of this process: a restart loses all threads; pass --storage agents.db to keep them\n/,
  )
  expect(text).toMatch(/auth +none/)
  expect(text).toMatch(/Not supported: store\.index\.embed: /)
  expect((await fetch(`http://[::1]:${port}/ok`)).status).toBe(200)
})

test('a port that is taken is told in one sentence', async () => {
  const folder = project({ 'langgraph.json': { graphs: { agent: './graph.js:graph' } }, 'graph.js': GRAPH })
  const { told } = await serve(folder)
  const second = agentwire(['serve', '--config', join(folder, 'langgraph.json'), '--port', `${told.port}`])
  expect(await second.exit).toBe(1)
  expect(second.text()).toMatch(new RegExp(`^Port ${told.port} is already in use\\.`, 'm'))
})

test.each([
  ['no file', {}, /langgraph\.json does not exist/],
  ['no JSON', { 'langgraph.json': '{"graphs":' }, /langgraph\.json is not valid JSON/],
  ['no graphs', { 'langgraph.json': {} }, /langgraph\.json: graphs is missing/],
  ['an empty list of graphs', { 'langgraph.json': { graphs: {} } }, /graphs has no graphs/],
  ['a graph that is a number', { 'langgraph.json': { graphs: { a: 1 } } }, /graphs\.a is not an object/],
  [
    'a graph of Python',
    { 'langgraph.json': { graphs: { a: './a.py:graph' } } },
    /graphs\.a names \.\/a\.py, but Python graphs are not supported/,
  ],
  [
    'a file that is not there',
    { 'langgraph.json': { graphs: { a: './a.ts:graph' } } },
    /graphs\.a names \.\/a\.ts, but .* does not exist/,
  ],
  [
    'an export that is not there',
    { 'langgraph.json': { graphs: { a: './a.ts:graph' } }, 'a.ts': 'export const grph = 1' },
    /graphs\.a: \.\/a\.ts has no export graph; it exports grph\./,
  ],
  [
    'an export that is no graph',
    { 'langgraph.json': { graphs: { a: './a.ts:graph' } }, 'a.ts': 'export const graph = 1' },
    /graphs\.a: \.\/a\.ts:graph is of type number/,
  ],
  [
    'a file that is no TypeScript',
    { 'langgraph.json': { graphs: { a: './a.ts:graph' } }, 'a.ts': 'export const graph =\n\n= 3' },
    /graphs\.a: \.\/a\.ts cannot be loaded: (.|\n)*a\.ts:3:0/,
  ],
  [
    'a file that throws',
    {
      'langgraph.json': { graphs: { a: './a.ts:graph' } },
      'a.ts': 'import "./b.js"',
      'b.js': '\nthrow new Error("no key")',
    },
    /graphs\.a: \.\/a\.ts cannot be loaded: no key\.\n +at .*b\.js:2/,
  ],
  [
    'a variable that is not set',
    { 'langgraph.json': { graphs: { a: './a.ts' }, env: ['NOT_SET_AT_ALL'] } },
    /env requires NOT_SET_AT_ALL/,
  ],
  [
    'a pattern that is none',
    { 'langgraph.json': { graphs: { a: './a.ts' }, http: { cors: { allow_origin_regex: '(' } } } },
    /http\.cors\.allow_origin_regex is not a regular expression/,
  ],
  [
    'an app at no path',
    { 'langgraph.json': { graphs: { a: './a.ts' }, http: { apps: { '/': './a.ts:app' } } } },
    /http\.apps\.\/ is not a path/,
  ],
  [
    'an app that is none',
    {
      'langgraph.json': { graphs: { a: './a.js:graph' }, http: { apps: { '/b': './a.js:graph' } } },
      'a.js': GRAPH,
    },
    /http\.apps\.\/b: \.\/a\.js must have a fetch method/,
  ],
  [
    'a switch that is no switch',
    { 'langgraph.json': { graphs: { a: './a.ts' }, http: { disable_a2a: 'yes' } } },
    /http\.disable_a2a is not a boolean/,
  ],
])('%s: 1, and the place', async (_, files, message) => {
  const folder = project(files)
  const broken = agentwire(['serve', '--config', join(folder, 'langgraph.json'), '--port', '0'])
  expect(await broken.exit).toBe(1)
  expect(broken.text()).toMatch(message)
  expect(broken.text()).not.toMatch(/node:internal|node_modules\//)
})

test.each([
  [['--frob'], "Unknown option '--frob'."],
  [['--port', 'x'], '--port must be a number'],
  [['now'], 'takes only options'],
])('serve %j makes no sense: 2, and where to read how it would', async (args, why) => {
  const { exit, text } = agentwire(['serve', ...args])
  expect(await exit).toBe(2)
  expect(text()).toContain(why)
  expect(text()).toContain('agentwire serve --help')
})

test('--version is that of the package', async () => {
  const { exit, text } = agentwire(['--version'])
  expect(await exit).toBe(0)
  expect(text()).toMatch(/^\d+\.\d+\.\d+/)
})
