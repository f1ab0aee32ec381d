import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { chat, GRAPH, graphWith, write } from '../cli/projects.ts'
import { programs } from '../kit/program.ts'
import { manifest, root } from './package.ts'

const start = programs()
const folder = mkdtempSync(join(tmpdir(), 'agentwire-packed-'))

beforeAll(() => {
  const packed = execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
    cwd: root,
    encoding: 'utf8',
  })
  const [{ filename }] = JSON.parse(packed)
  execFileSync('tar', ['xzf', join(folder, filename), '-C', folder])
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A folder whose packages are these of this project. */
function folderWith(name: string, packages: readonly string[]): string {
  const path = join(folder, name)
  for (const one of packages) {
    const place = join(path, 'node_modules', one)
    mkdirSync(dirname(place), { recursive: true })
    symlinkSync(join(root, 'node_modules', one), place)
  }
  write(path, { 'package.json': { type: 'module' } })
  return path
}

/** The packed package, installed in a folder. */
function install(path: string): string {
  const place = join(path, 'node_modules', 'agentwire')
  mkdirSync(dirname(place), { recursive: true })
  execFileSync('cp', ['-r', join(folder, 'package'), place])
  return join(place, 'dist', 'cli.js')
}

async function serve(cli: string, project: string): Promise<string> {
  const config = join(project, 'langgraph.json')
  const storage = join(project, 'agents.db')
  const served = start(process.execPath, [
    cli,
    'serve',
    '--config',
    config,
    '--port',
    '0',
    '--json',
    '--storage',
    storage,
  ])
  const [line] = /^\{.*\}$/m.exec(await served.output(/^\{.*\}$/m))!
  return JSON.parse(line).url
}

const dependencies = Object.keys(manifest.dependencies)
const ours = [...dependencies, 'libsql']
const langchain = ['@langchain', 'langchain']
const config = { graphs: { agent: './graph.ts:graph' } }

test('a project that has installed the package serves its graph of TypeScript, and an agent of defineAgent', {
  timeout: 240_000,
}, async () => {
  const project = folderWith('installed', [...ours, ...langchain, 'tsx'])
  const cli = install(project)
  write(project, {
    'langgraph.json': { graphs: { ...config.graphs, echo: './echo.ts' } },
    'graph.ts': GRAPH,
    'echo.ts': `
import { defineAgent } from 'agentwire'
export default defineAgent({ run: async ({ message }) => void (await message('heard hello')) })`,
  })
  const url = await serve(cli, project)
  for (const name of ['agent', 'echo'])
    expect((await chat(url, name)).texts).toEqual(['hello', 'heard hello'])
  expect((await (await fetch(`${url}/info`)).json()).version).toMatch(/^\d+\.\d+\.\d+/)
})

test('the package alone, without LangGraph or React, serves the demo with its page', async () => {
  const cli = install(folderWith('demo', dependencies))
  const demo = start(process.execPath, [cli, 'demo', '--port', '0', '--no-open'])
  const [, origin] = /chat {5}(http\S+)/.exec(await demo.output(/chat {5}http\S+\n/))!
  const page = await fetch(origin!, { headers: { accept: 'text/html' } })
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<script type="module">')])
  expect((await chat(origin!, 'echo')).texts).toEqual(['hello', 'hello'])
})

test('a package that lies elsewhere, without LangGraph, reads states with the LangGraph of the project', {
  timeout: 240_000,
}, async () => {
  const cli = install(folderWith('elsewhere', [...ours, 'tsx']))
  const project = folderWith('without', langchain)
  const graph = `
import { MessagesAnnotation, StateGraph } from '@langchain/langgraph'
import { AIMessage, BaseMessage } from '@langchain/core/messages'
const answer = async ({ messages }) => ({ messages: [new AIMessage(messages.map((one) => one instanceof BaseMessage).join())] })
export const graph = new StateGraph(MessagesAnnotation).addNode('answer', answer).addEdge('__start__', 'answer').compile()`
  write(project, { 'langgraph.json': config, 'graph.ts': graph })
  const url = await serve(cli, project)
  const { threadId } = await chat(url, 'agent')
  expect((await chat(url, 'agent', threadId)).texts.at(-1)).toBe('true,true,true')
})

test('a project without tsx is read by its own compiler, where ./x.js is x.ts and types are imported without a word', async () => {
  const project = folderWith('compiled', [...ours, ...langchain, 'typescript'])
  const cli = install(project)
  write(project, {
    'langgraph.json': { graphs: { agent: './src/graph.ts:graph' } },
    'tsconfig.json': { compilerOptions: { paths: { 'words/*': ['./src/words/*'] } } },
    'src/words/heard.ts': "export enum Word { heard = 'heard' }",
    'src/helper.ts':
      "import { Word } from 'words/heard'\nexport interface Helper { readonly word: Word }\nexport const word: string = Word.heard",
    'src/graph.ts': `import { RunnableConfig } from '@langchain/core/runnables'
import { Helper, word } from './helper.js'
const typed = (_: RunnableConfig, helper?: Helper): string => helper?.word ?? word
${graphWith('typed({})')}
export const graph = new StateGraph(MessagesAnnotation).addNode('answer', answer).addEdge('__start__', 'answer').compile()`,
  })
  expect((await chat(await serve(cli, project), 'agent')).texts).toEqual(['hello', 'heard hello'])
})

test.skipIf((process.features as { typescript?: unknown }).typescript)(
  'without tsx or a compiler a graph of TypeScript is refused, and the message says what to install',
  async () => {
    const project = folderWith('untyped', [...ours, ...langchain])
    const cli = install(project)
    write(project, { 'langgraph.json': config, 'graph.ts': GRAPH })
    const served = start(process.execPath, [
      cli,
      'serve',
      '--config',
      join(project, 'langgraph.json'),
      '--port',
      '0',
    ])
    expect(await served.exit).toBe(1)
    expect(served.text()).toMatch(
      /cannot load TypeScript, and no compiler was found\. Run “npm install typescript” \(or tsx\) in/,
    )
  },
)
