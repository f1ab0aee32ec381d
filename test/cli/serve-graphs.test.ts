import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@langchain/langgraph-sdk'
import { afterAll, describe, expect, test } from 'vitest'
import { oneStep } from '../../src/agents/description.ts'
import { graphTypes } from '../../src/cli/serve/graph-types.ts'
import type { Json } from '../kit/events.ts'
import { root } from '../package/package.ts'
import { commandLine, GRAPH, write } from './projects.ts'

const { project, agentwire, serve } = commandLine()

const graphs = { agent: './graph.js:graph' }
const input = { messages: [{ role: 'user', content: 'hello' }] }
type Values = { messages: { content: string }[] }

const TELLS = GRAPH.replace('async ({ messages }) =>', 'async ({ messages }, config) =>').replace(
  "'heard'",
  'config.configurable.model + config.context?.user',
)

describe('LANGGRAPH_CONFIG', () => {
  const env = { LANGGRAPH_CONFIG: '{"agent":{"configurable":{"model":"small"},"context":{"user":"ann"}}}' }

  test('configures the assistants of graphs, and what says more wins over it', async () => {
    const config = { graphs: { ...graphs, other: './graph.js:graph' }, env }
    const { origin } = await serve(project({ 'langgraph.json': config, 'graph.js': TELLS }))
    const client = new Client({ apiUrl: origin })
    const [assistant] = await client.assistants.search({ graphId: 'agent' })
    const settings = { config: { configurable: { model: 'small' } }, context: { user: 'ann' } }
    expect(assistant).toMatchObject({ name: 'agent', metadata: { created_by: 'system' }, ...settings })
    const [other] = await client.assistants.search({ graphId: 'other' })
    expect(other).toMatchObject({ config: {}, context: {} })

    const answer = async (id: string, more: object = {}) => {
      const values = (await client.runs.wait(null, id, { input, ...more })) as Values
      return values.messages[1]!.content
    }
    expect(await answer('agent')).toBe('smallann hello')
    expect(await answer(assistant!.assistant_id)).toBe('smallann hello')
    expect(await answer('agent', { context: { user: 'bob' } })).toBe('smallbob hello')
    expect(await answer('other', { context: { user: 'bob' } })).toBe('undefinedbob hello')

    const stream = client.threads.stream(crypto.randomUUID(), { assistantId: 'agent' })
    await stream.run.start({ input })
    await stream.output
    const { values } = await client.threads.getState<Values>(stream.threadId)
    await stream.close()
    expect(JSON.stringify(values)).toContain('smallann hello')
  })

  test.each([
    ['{"agent":', /LANGGRAPH_CONFIG: the variable is not an object/],
    ['{"agent":1}', /LANGGRAPH_CONFIG: agent is not an object/],
    ['{"agent":{"context":[]}}', /LANGGRAPH_CONFIG: agent\.context is not an object/],
  ])('is refused at the start as %s', async (text, problem) => {
    const folder = project({ 'langgraph.json': { graphs }, 'graph.js': GRAPH })
    const { output } = agentwire(['serve', '--config', join(folder, 'langgraph.json')], {
      LANGGRAPH_CONFIG: text,
    })
    await output(problem)
  })
})

describe('a function that makes a graph', () => {
  const make = `
import { MessagesAnnotation, StateGraph } from '@langchain/langgraph'
export const graph = (config, runtime) => {
  const name = config.configurable?.name ?? 'none'
  const answer = () => ({ messages: [{ role: 'ai', content: name }] })
  console.error('made', name, runtime.accessContext)
  return new StateGraph(MessagesAnnotation).addNode(name, answer).addEdge('__start__', name).compile()
}
`

  test('is called with the config of the last run for states, and with that of the assistant for drawings', async () => {
    const { origin, output } = await serve(project({ 'langgraph.json': { graphs }, 'graph.js': make }))
    const client = new Client({ apiUrl: origin })
    const config = { configurable: { name: 'mine' } }
    const { assistant_id } = await client.assistants.create({ graphId: 'agent', config })
    const drawn = await client.assistants.getGraph(assistant_id)
    expect(drawn.nodes.map(({ id }) => id)).toEqual(['__start__', 'mine', '__end__'])
    await output(/made mine assistants\.read/)

    const { thread_id } = await client.threads.create()
    await client.runs.wait(thread_id, assistant_id, { input })
    await client.threads.updateState(thread_id, { values: { messages: [] }, asNode: 'mine' })
    await output(/made mine threads\.update/)
    const { values } = await client.threads.getState<Values>(thread_id)
    expect(values.messages.map(({ content }) => content)).toEqual(['hello', 'mine'])
    await output(/made mine threads\.read/)
  })
})

test('clients are told what a graph has thrown in development, else an error id, and the start says which', async () => {
  const failing = GRAPH.replace("'heard'", "(() => { throw new TypeError('no luck') })()")
  const folder = project({ 'langgraph.json': { graphs }, 'graph.js': failing })
  const problemOf = async (args: string[], env: Record<string, string> = {}) => {
    const { origin, told } = await serve(folder, args, { NODE_ENV: '', ...env })
    const failed = new Client({ apiUrl: origin }).runs.wait(null, 'agent', { input })
    return [told.errors, await failed.then(String, String)]
  }
  const shown = ['text', expect.stringContaining('TypeError: no luck')]
  const hidden = ['id', expect.stringMatching(/^(?!.*no luck).*Error id/s)]
  expect(await problemOf([])).toEqual(shown)
  expect(await problemOf(['--hide-errors'])).toEqual(hidden)
  expect(await problemOf([], { NODE_ENV: 'production' })).toEqual(hidden)
  expect(await problemOf(['--host', '0.0.0.0'])).toEqual(hidden)
  expect(await problemOf(['--host', '0.0.0.0', '--show-errors'])).toEqual(shown)
})

test('approvals of JavaScript are asked in both spellings, as pages for LangGraph read them', async () => {
  const asks = "interrupt({ actionRequests: [{ name: 'add', args: {} }], reviewConfigs: [] })"
  const asking = `import { interrupt } from '@langchain/langgraph'\n${GRAPH.replace("'heard'", asks)}`
  const { origin } = await serve(project({ 'langgraph.json': { graphs }, 'graph.js': asking }))
  const client = new Client({ apiUrl: origin })
  const { thread_id } = await client.threads.create()
  await client.runs.wait(thread_id, 'agent', { input })
  const [task] = (await client.threads.getState(thread_id)).tasks
  expect(task!.interrupts[0]!.value).toMatchObject({
    actionRequests: [{ name: 'add' }],
    action_requests: [{ name: 'add' }],
  })
})

describe('types of graphs', () => {
  const folders: string[] = []
  afterAll(() => {
    for (const folder of folders) rmSync(folder, { recursive: true })
  })

  const withParser = (source: string): string => {
    const folder = mkdtempSync(join(tmpdir(), 'agentwire-types-'))
    folders.push(folder)
    const place = join(folder, 'node_modules/@langchain/langgraph-api')
    mkdirSync(place, { recursive: true })
    const manifest = {
      name: '@langchain/langgraph-api',
      type: 'module',
      exports: { './schema': './schema.js' },
    }
    writeFileSync(join(place, 'package.json'), JSON.stringify(manifest))
    writeFileSync(join(place, 'schema.js'), source)
    return folder
  }
  const entry = { name: 'a', key: 'graphs.a', file: './a.ts', symbol: 'graph', description: undefined }
  const unknown = { input: null, output: null, state: null, config: null }
  const described = {
    ...oneStep('a'),
    subgraphs: async () => ({ child: unknown, known: { ...unknown, state: { type: 'array' } } }),
  }

  test('are read once for all graphs, and fill in what is not known', async () => {
    const folder = withParser(`
let calls = 0
export const getStaticGraphSchema = async (specs) => ({
  a: { graph: { state: { title: JSON.stringify(specs), call: ++calls } }, 'graph|child': { input: { title: 'child' } } },
})`)
    const script = { ...entry, name: 'b', file: './b.js' }
    const types = graphTypes({ folder, graphs: [entry, script] }).describe
    const specs = { a: { sourceFile: join(folder, 'a.ts'), exportSymbol: 'graph' } }
    const state = { title: JSON.stringify(specs), call: 1 }
    expect(await types(entry, described).schemas()).toEqual({ ...unknown, state })
    expect(await types(entry, described).subgraphs({ recurse: true })).toEqual({
      child: { ...unknown, input: { title: 'child' } },
      known: { ...unknown, state: { type: 'array' } },
    })
    expect(await types(script, described).schemas()).toEqual(unknown)
    expect((await types(entry, described).schemas()).state).toEqual(state)
  })

  test('that cannot be read are null, also in a project without the parser', async () => {
    const failing = withParser(`export const getStaticGraphSchema = async () => { throw new Error('no') }`)
    const none = mkdtempSync(join(tmpdir(), 'agentwire-types-'))
    folders.push(none)
    for (const folder of [failing, none]) {
      const types = graphTypes({ folder, graphs: [entry] }).describe
      expect(await types(entry, described).schemas()).toEqual(unknown)
    }
  })

  test('are those that the compiler of the project reads, where there is no parser of LangGraph', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'agentwire-types-'))
    folders.push(folder)
    mkdirSync(join(folder, 'node_modules/@langchain'), { recursive: true })
    for (const name of ['typescript', '@langchain/core', '@langchain/langgraph', 'zod', 'langchain'])
      symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name))
    write(folder, {
      'tsconfig.json': { compilerOptions: { strict: false, types: [] } },
      'state.ts': `
import { BaseMessage } from '@langchain/core/messages'
import { Annotation, messagesStateReducer } from '@langchain/langgraph'
export const State = Annotation.Root({
  messages: Annotation<BaseMessage[]>({ reducer: messagesStateReducer, default: () => [] }),
  list: Annotation<string[]>({ reducer: (a: string[], b: string[]) => a.concat(b), default: () => [] }),
  trip: Annotation<{ from: Date, how?: 'train' | 'ship' | null, at: [string, number], seats: Record<string, number>, next?: Trip } | undefined>,
  sure: Annotation<boolean>,
})
export interface Trip {
  /** Where it goes. */
  readonly to: string
  readonly next?: Trip
}
`,
      'graph.ts': `
import { Annotation, MessagesAnnotation, StateGraph } from '@langchain/langgraph'
import { State } from './state.js'
const node = () => ({})
const Context = Annotation.Root({ model: Annotation<'small' | 'large'> })
const Input = Annotation.Root({ count: Annotation<number> })
const Output = Annotation.Root({ sure: Annotation<boolean> })
export const graph = new StateGraph({ stateSchema: State, input: Input, output: Output }, Context).addNode('node', node).addEdge('__start__', 'node').compile()
const trip = new StateGraph(Annotation.Root({ city: Annotation<'here' | 'there'> })).addNode('twice', graph).addEdge('__start__', 'twice').compile()
export const uncompiled = new StateGraph(MessagesAnnotation).addNode('trip', trip).addNode('twice', trip).addNode('node', node).addEdge('__start__', 'node')
export const make = async () => uncompiled
export const nothing: any = 1
`,
    })
    const entryOf = (symbol: string) => ({ ...entry, name: symbol, file: './graph.ts', symbol })
    const graphs = ['graph', 'uncompiled', 'make', 'nothing'].map(entryOf)
    const types = graphTypes({ folder, graphs }).describe
    const read = (symbol: string) => types(entryOf(symbol), oneStep('a')).schemas()
    const messages = { type: 'array', items: { title: 'Message' }, langgraph_type: 'messages' }
    const { input, output, state, config } = await read('graph')
    expect(input).toMatchObject({ type: 'object', properties: { count: { type: 'number' } } })
    expect(output).toMatchObject({ properties: { sure: { type: 'boolean' } }, required: ['sure'] })
    expect(config).toMatchObject({ properties: { model: { type: 'string', enum: ['small', 'large'] } } })
    expect(state).toMatchObject({
      $schema: 'http://json-schema.org/draft-07/schema#',
      properties: {
        messages,
        list: { type: 'array', items: { type: 'string' } },
        trip: {
          properties: {
            from: { type: 'string', format: 'date-time' },
            how: { anyOf: [{ type: 'string', enum: ['train', 'ship'] }, { type: 'null' }] },
            at: { type: 'array', items: [{ type: 'string' }, { type: 'number' }], minItems: 2, maxItems: 2 },
            seats: { additionalProperties: { type: 'number' } },
            next: { properties: { to: { type: 'string', description: 'Where it goes.' }, next: {} } },
          },
          required: ['from', 'at', 'seats'],
        },
      },
      required: ['messages', 'list', 'sure'],
    })
    for (const symbol of ['uncompiled', 'make'])
      expect(await read(symbol)).toMatchObject({
        input: { properties: { messages } },
        state: { properties: { messages } },
        config: null,
      })
    expect(await read('nothing')).toEqual(unknown)
    const nodes = {
      ...oneStep('a'),
      subgraphs: async () => ({ trip: unknown, 'trip|twice': unknown, none: unknown }),
    }
    const subgraphs = await types(entryOf('uncompiled'), nodes).subgraphs({ recurse: true })
    expect(subgraphs).toMatchObject({
      trip: { state: { properties: { city: { enum: ['here', 'there'] } } } },
    })
    expect([subgraphs['trip|twice'], subgraphs.none]).toEqual([unknown, unknown])
  })

  test('are read ahead, and again only after a change of their files', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'agentwire-types-'))
    folders.push(folder)
    mkdirSync(join(folder, 'node_modules/typescript'), { recursive: true })
    mkdirSync(join(folder, 'node_modules/@langchain'), { recursive: true })
    for (const name of ['@langchain/core', '@langchain/langgraph', 'zod'])
      symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name))
    const compiler = join(root, 'node_modules/typescript')
    const graph = (type: string) => `
import { Annotation, StateGraph } from '@langchain/langgraph'
export const graph = new StateGraph(Annotation.Root({ count: Annotation<${type}> }))
  .addNode('one', () => ({})).addEdge('__start__', 'one').compile()
`
    write(folder, {
      'graph.ts': graph('number'),
      'node_modules/typescript/package.json': { version: '5.9.0', main: 'index.js' },
      'node_modules/typescript/index.js': `
require('node:fs').appendFileSync(${JSON.stringify(join(folder, 'reads'))}, 'x')
module.exports = require(${JSON.stringify(compiler)})
`,
    })
    const reads = () => readFileSync(join(folder, 'reads'), 'utf8')
    const types = () =>
      graphTypes({ folder, graphs: [{ ...entry, name: 'a', file: './graph.ts', symbol: 'graph' }] })
    const typeOf = async ({ describe }: ReturnType<typeof types>): Promise<unknown> => {
      const { state }: Json = await describe({ ...entry, name: 'a', symbol: 'graph' }, oneStep('a')).schemas()
      return state.properties.count.type
    }
    const first = types()
    first.readAhead()
    expect(await typeOf(first)).toBe('number')
    expect(reads()).toBe('x')
    expect(await typeOf(types())).toBe('number')
    expect(reads()).toBe('x')
    write(folder, { 'graph.ts': graph('string') })
    expect(await typeOf(types())).toBe('string')
    expect(reads()).toBe('xx')
  })

  test('are those that the parser of LangGraph reads', { timeout: 240_000 }, async () => {
    const source = `
import { Annotation, StateGraph } from '@langchain/langgraph'
const child = new StateGraph(Annotation.Root({ city: Annotation<'here' | 'there'> }))
  .addNode('look', () => ({})).addEdge('__start__', 'look').compile()
export const graph = new StateGraph(Annotation.Root({ count: Annotation<number> }))
  .addNode('child', child).addEdge('__start__', 'child').compile()
`
    const config = { graphs: { agent: './graph.ts:graph' } }
    const { origin } = await serve(project({ 'langgraph.json': config, 'graph.ts': source }))
    const client = new Client({ apiUrl: origin, timeoutMs: 170_000 })
    const schemas = await client.assistants.getSchemas('agent')
    expect(schemas.state_schema).toMatchObject({ type: 'object', properties: { count: { type: 'number' } } })
    const subgraphs = await client.assistants.getSubgraphs('agent')
    expect(subgraphs).toMatchObject({
      child: { state: { properties: { city: { enum: ['here', 'there'] } } } },
    })
  })
})
