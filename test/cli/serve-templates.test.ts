import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@langchain/langgraph-sdk'
import { expect, test } from 'vitest'
import { chat, commandLine, GRAPH, write } from './projects.ts'

const { project, agentwire, serve } = commandLine()

/** The shape of the templates for new projects: `./x.js` is `x.ts`, types are imported without a word, and the `.env` is not there. */
const TEMPLATE = {
  'langgraph.json': { node_version: '20', graphs: { agent: './src/agent/graph.ts:graph' }, env: '.env' },
  'src/agent/state.ts': `
import { BaseMessage } from '@langchain/core/messages'
import { Annotation, messagesStateReducer } from '@langchain/langgraph'
export const State = Annotation.Root({
  messages: Annotation<BaseMessage[]>({ reducer: messagesStateReducer, default: () => [] }),
})`,
  'src/agent/graph.ts': `
import { RunnableConfig } from '@langchain/core/runnables'
import { StateGraph } from '@langchain/langgraph'
import { getLogger } from '@langchain/langgraph-sdk/logging'
import { State } from './state.js'
const logger = getLogger()
logger.info('The graph loads.').debug({ node: 'none' })
const answer = async (state: typeof State.State, _config: RunnableConfig): Promise<typeof State.Update> => {
  logger.warn('It answers.', { so: 'far' })
  return { messages: [{ role: 'assistant', content: 'heard ' + state.messages.at(-1)!.content }] }
}
export const graph = new StateGraph(State)
  .addNode('callModel', answer)
  .addEdge('__start__', 'callModel')
  .addConditionalEdges('callModel', () => '__end__' as const)
  .compile()
graph.name = 'New agent'`,
}

test('a new project serves, without its .env, and its log is that of the server', async () => {
  const { origin, text, told } = await serve(project(TEMPLATE))
  const missing = 'env names .env, but that file does not exist: set its variables in the environment.'
  expect(told).toMatchObject({ agents: ['agent'], failed: [], warnings: [missing] })
  expect((await chat(origin, 'agent')).texts).toEqual(['hello', 'heard hello'])
  expect(text()).toContain(`Warning: ${missing}\n`)
  for (const line of ['info: The graph loads.', "debug: { node: 'none' }", "warn: It answers. { so: 'far' }"])
    expect(text()).toContain(`${line}\n`)
})

test('requests are logged without their queries, and /ok is not', async () => {
  const { origin, output, text } = await serve(project(TEMPLATE), [], { LOG_JSON: 'true' })
  for (const path of ['/ok', '/threads/none/state?secret=1', '/info']) await fetch(origin + path)
  await output(/GET \/info/)
  const lines = text()
    .split('\n')
    .filter((line) => line.includes('GET '))
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    {
      timestamp: expect.any(String),
      level: 'info',
      event: expect.stringMatching(/^GET \/threads\/none\/state 404 \d+ ms$/),
    },
    { timestamp: expect.any(String), level: 'info', event: expect.stringMatching(/^GET \/info 200 \d+ ms$/) },
  ])
  expect(text()).toContain('"node":"none"')
  const quiet = await serve(project(TEMPLATE), [], { LOG_LEVEL: 'warn' })
  await chat(quiet.origin, 'agent')
  expect(quiet.text()).toContain('warn: It answers.')
  expect(quiet.text()).not.toContain('info:')
})

test('a graph that cannot be loaded keeps no other one from being served, and its cause is told', async () => {
  const folder = project({
    'langgraph.json': { graphs: { keyless: './keyless.ts:graph', agent: './graph.ts:graph' } },
    'keyless.ts': 'import "./client.ts"',
    'client.ts':
      '\nthrow new Error("Set MODEL_KEY", { cause: new Error("the environment has no MODEL_KEY") })',
    'graph.ts': GRAPH,
  })
  const { origin, told, output } = await serve(folder, ['--watch'])
  expect(told).toMatchObject({ agents: ['agent'], failed: ['keyless'] })
  expect(await output(/“keyless” is not served/)).toMatch(
    /graphs\.keyless: \.\/keyless\.ts cannot be loaded: Set MODEL_KEY: the environment has no MODEL_KEY\.\n +at .*client\.ts:2/,
  )
  expect((await chat(origin, 'agent')).texts).toEqual(['hello', 'heard hello'])
  await expect(chat(origin, 'keyless')).rejects.toThrow(/Unknown assistant/)
  write(folder, { 'client.ts': '', 'keyless.ts': GRAPH })
  await output(/Reloaded: keyless, agent\./)
  expect((await chat(origin, 'keyless')).texts).toEqual(['hello', 'heard hello'])
  write(folder, { 'keyless.ts': 'throw new Error("no")', 'graph.ts': GRAPH.replace('heard', 'told') })
  await output(/Reloaded: agent\./)
  expect((await chat(origin, 'agent')).texts[1]).toBe('told hello')
  expect((await chat(origin, 'keyless')).texts[1]).toBe('heard hello')
})

test('a project with an older LangGraph is told which one it needs', async () => {
  const langgraph = (version: string) => ({
    'node_modules/@langchain/langgraph/package.json': {
      name: '@langchain/langgraph',
      version,
      main: 'index.js',
    },
    'node_modules/@langchain/langgraph/index.js': '',
  })
  const old = project({ ...TEMPLATE, ...langgraph('0.2.74') }, { packages: false })
  const refused = agentwire(['serve', '--config', join(old, 'langgraph.json'), '--port', '0'])
  expect(await refused.exit).toBe(1)
  expect(refused.text()).toContain(
    `${old} has @langchain/langgraph 0.2.74, but agentwire needs 1.4 or later. Run “npm install @langchain/langgraph@1 @langchain/core@1” in that folder`,
  )
  rmSync(join(old, 'src'), { recursive: true })
  write(old, { ...langgraph('1.2.0'), 'echo.ts': ECHO, 'langgraph.json': { graphs: { agent: './echo.ts' } } })
  const { told } = await serve(old)
  expect(told.warnings).toEqual([
    `${old} has @langchain/langgraph 1.2.0, but agentwire needs 1.4 or later. Some features may not work.`,
  ])
})

const ECHO = `
import { defineAgent } from ${JSON.stringify(join(import.meta.dirname, '../../src/index.ts'))}
export default defineAgent({ run: async ({ message }) => void (await message('heard')) })`

test('threads are there after a restart where a storage was asked for', async () => {
  const folder = project(TEMPLATE)
  const storage = ['--storage', join(folder, 'agents.db')]
  const first = await serve(folder, storage)
  const { threadId } = await chat(first.origin, 'agent')
  first.child.kill('SIGTERM')
  expect(await first.exit).toBe(0)
  const { origin } = await serve(folder, storage)
  const { values } = await new Client({ apiUrl: origin }).threads.getState<{ messages: unknown[] }>(threadId)
  expect(values.messages).toHaveLength(2)
})
