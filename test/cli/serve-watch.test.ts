import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { openStream } from '../kit/client.ts'
import { isTerminal } from '../kit/events.ts'
import { chat, commandLine, GRAPH, startRun, write } from './projects.ts'

const { project, serve } = commandLine()

const times = (count: number): RegExp => new RegExp(`(Reloaded[\\s\\S]*){${count}}`)

const config = { graphs: { agent: './src/graph.ts:graph' } }
const graph = GRAPH.replace("'heard'", 'word').replace('import', "import { word } from './helper.ts'\nimport")
const helper = (word: string): string => `export const word: string = '${word}'`

test('an edit of an imported file is loaded, and a thread in memory goes on', async () => {
  const folder = project({ 'langgraph.json': config, 'src/graph.ts': graph, 'src/helper.ts': helper('one') })
  const { origin, output, text } = await serve(folder, ['--watch'])
  const { threadId } = await chat(origin, 'agent')
  // More than an emitter takes listeners before it warns.
  for (let edit = 1; edit <= 12; edit++) {
    write(folder, { 'src/helper.ts': helper(`edit ${edit}`) })
    await output(times(edit))
  }
  const { texts } = await chat(origin, 'agent', threadId)
  expect(texts).toEqual(['hello', 'one hello', 'hello', 'edit 12 hello'])
  expect(text()).not.toMatch(/Warning|leak/)
})

test.each([
  ['ES modules of JavaScript', 'module', '.js', "import { word } from './helper.js'\nimport"],
  ['CommonJS of TypeScript', 'commonjs', '.ts', "import { word } from './helper'\nimport"],
])('an edit of an imported file is loaded in %s', async (_, type, ending, head) => {
  const source = GRAPH.replace("'heard'", 'word').replace('import', head)
  const folder = project({
    'package.json': { type },
    'langgraph.json': { graphs: { agent: `./graph${ending}:graph` } },
    [`graph${ending}`]: source,
    [`helper${ending}`]: "export const word = 'one'",
  })
  const { origin, output } = await serve(folder, ['--watch'])
  expect((await chat(origin, 'agent')).texts[1]).toBe('one hello')
  write(folder, { [`helper${ending}`]: "export const word = 'two'" })
  await output(times(1))
  expect((await chat(origin, 'agent')).texts[1]).toBe('two hello')
})

test('an edit of a required file is loaded', async () => {
  const source = `
const { MessagesAnnotation, StateGraph } = require('@langchain/langgraph')
const { word } = require('./lib/helper.cjs')
const answer = async ({ messages }) => ({ messages: [{ role: 'ai', content: word + ' ' + messages.at(-1).content }] })
exports.graph = new StateGraph(MessagesAnnotation).addNode('answer', answer).addEdge('__start__', 'answer').compile()
`
  const folder = project({
    'langgraph.json': { graphs: { agent: './graph.cjs:graph' } },
    'graph.cjs': source,
    'lib/helper.cjs': "exports.word = 'one'",
  })
  const { origin, output } = await serve(folder, ['--watch'])
  expect((await chat(origin, 'agent')).texts[1]).toBe('one hello')
  write(folder, { 'lib/helper.cjs': "exports.word = 'two'" })
  await output(times(1))
  expect((await chat(origin, 'agent')).texts[1]).toBe('two hello')
})

test('a run under way finishes on the graph of before, and its stream stays open', async () => {
  const slow = graph
    .replace(
      'async ({ messages }) =>',
      "async ({ messages }) => (word === 'one' && await new Promise((done) => setTimeout(done, 2_000)),",
    )
    .replace('content }] })', 'content }] }))')
  const folder = project({ 'langgraph.json': config, 'src/graph.ts': slow, 'src/helper.ts': helper('one') })
  const { origin, output } = await serve(folder, ['--watch'])
  const threadId = crypto.randomUUID()
  const stream = await openStream(`${origin}/threads/${threadId}/stream/events`, {
    channels: ['lifecycle', 'values'],
  })
  await startRun(origin, threadId)
  write(folder, { 'src/helper.ts': helper('two') })
  await output(times(1))
  const ends = () => stream.events.filter(isTerminal).length
  expect(ends()).toBe(0)
  await stream.until((events) => events.some(isTerminal))
  expect(JSON.stringify(stream.events)).toContain('one hello')
  await startRun(origin, threadId)
  await stream.until((events) => events.filter(isTerminal).length === 2)
  expect(JSON.stringify(stream.events)).toContain('two hello')
})

test('after a broken edit the graphs of before go on, until it is mended', async () => {
  const folder = project({ 'langgraph.json': config, 'src/graph.ts': graph, 'src/helper.ts': helper('one') })
  const { origin, output, child } = await serve(folder, ['--watch'])
  write(folder, { 'src/helper.ts': 'export const word =' })
  expect(await output(/Still serving the graphs from before the change/)).toMatch(
    /graphs\.agent: \.\/src\/graph\.ts cannot be loaded:[\s\S]*helper\.ts:1/,
  )
  expect((await chat(origin, 'agent')).texts[1]).toBe('one hello')
  rmSync(join(folder, 'langgraph.json'))
  await output(/langgraph\.json does not exist/)
  write(folder, { 'src/helper.ts': helper('two'), 'langgraph.json': config })
  await output(times(1))
  expect((await chat(origin, 'agent')).texts[1]).toBe('two hello')
  expect(child.exitCode).toBeNull()
})

test('graphs that the config has more or less, its http and its env are taken over', async () => {
  const folder = project({
    'langgraph.json': { ...config, env: '.env' },
    '.env': 'WORD=first',
    'src/graph.ts': GRAPH.replace("'heard'", 'process.env.WORD'),
    'src/other.ts': GRAPH,
  })
  const { origin, output } = await serve(folder, ['--watch'])
  expect((await chat(origin, 'agent')).texts[1]).toBe('first hello')
  write(folder, { '.env': 'WORD=second' })
  await output(times(1))
  expect((await chat(origin, 'agent')).texts[1]).toBe('second hello')
  expect((await fetch(`${origin}/a2a/agent/.well-known/agent-card.json`)).status).toBe(200)
  write(folder, {
    'langgraph.json': { graphs: { other: './src/other.ts:graph' }, http: { disable_a2a: true } },
  })
  expect(await output(times(2))).toMatch(/Reloaded: other\.\n$/)
  expect((await chat(origin, 'other')).texts[1]).toBe('heard hello')
  await expect(chat(origin, 'agent')).rejects.toThrow(/Unknown assistant/)
  expect((await fetch(`${origin}/a2a/other/.well-known/agent-card.json`)).status).toBe(404)
})

test('a folder that is new is watched, and packages, builds and folders with a dot are not', async () => {
  const folder = project({ 'langgraph.json': config, 'src/graph.ts': graph, 'src/helper.ts': helper('one') })
  const { origin, output, text } = await serve(folder, ['--watch'])
  write(folder, { 'dist/a.js': '', '.git/a.js': '', 'notes.txt': '', 'agents.db': '' })
  await sleep(400)
  expect(text()).not.toContain('Reloaded')
  write(folder, { 'src/words/deep/word.ts': helper('deep') })
  await output(times(1))
  write(folder, { 'src/helper.ts': "export { word } from './words/deep/word.ts'" })
  await output(times(2))
  expect((await chat(origin, 'agent')).texts[1]).toBe('deep hello')
  write(folder, { 'src/words/deep/word.ts': helper('deeper') })
  await output(times(3))
  expect((await chat(origin, 'agent')).texts[1]).toBe('deeper hello')
})

test('an error that the project has not caught is printed, and costs no threads', async () => {
  const folder = project({ 'langgraph.json': config, 'src/graph.ts': graph, 'src/helper.ts': helper('one') })
  const { origin, output, text } = await serve(folder, ['--watch'])
  const { threadId } = await chat(origin, 'agent')
  const faults =
    "setTimeout(() => { throw new Error('thrown later') }); void Promise.reject(new Error('rejected later'))"
  write(folder, { 'src/helper.ts': `${helper('two')}\n${faults}` })
  await output(/thrown later/)
  await output(/rejected later/)
  await output(times(1))
  expect((await chat(origin, 'agent', threadId)).texts).toEqual(['hello', 'one hello', 'hello', 'two hello'])
  expect(text()).toContain('helper.ts:2')
})
