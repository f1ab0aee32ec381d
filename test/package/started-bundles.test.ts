import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as esbuild from 'esbuild'
import { build as vite } from 'vite'
import { afterAll, expect, test } from 'vitest'
import { entries, root } from './package.ts'

/** What deployments bundle: every entry of the package, and a server that serves a graph and a function. */
const folder = join(root, '.tmp', 'started-bundles')
mkdirSync(folder, { recursive: true })
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const SERVER = `
import { createAgentServer, defineAgent } from './dist/index.js'
import { langgraph } from './dist/langgraph.js'
import { MessagesAnnotation, StateGraph, interrupt } from '@langchain/langgraph'

const graph = new StateGraph(MessagesAnnotation)
  .addNode('ask', async () => ({ messages: [{ role: 'ai', content: String(interrupt('sure?')) }] }))
  .addEdge('__start__', 'ask')
  .compile()
const greeter = defineAgent({ run: async ({ message }) => void (await message('hi')) })

async function main() {
  const server = createAgentServer({
    agents: { graph: langgraph(graph), greeter },
    authenticate: () => ({ id: 'ann' }),
  })
  const body = JSON.stringify({ id: 1, method: 'run.start', params: { assistant_id: 'greeter', input: { messages: [] } } })
  const answer = await server.fetch(new Request('http://x/threads/t/commands', { method: 'POST', body }))
  const thread = { threadId: 'u', principal: { id: 'ann' } }
  const asked = await server.engine.start({ ...thread, assistantId: 'graph', input: { messages: [] } })
  const { interrupts } = await server.engine.wait({ ...thread, ...asked })
  const answered = await server.engine.respond({ ...thread, answers: { [interrupts[0].id]: 'yes' } })
  const { status } = await server.engine.wait({ ...thread, ...answered })
  const message = { kind: 'message', role: 'user', messageId: 'm', parts: [{ kind: 'text', text: 'hi' }] }
  const call = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'message/send', params: { message } })
  const told = await server.fetch(new Request('http://x/a2a/graph', { method: 'POST', body: call }))
  const { result } = await told.json()
  await server.close()
  console.log(answer.status, (await answer.json()).type, status, result.status.state)
}
main()
`

async function start(name: string, contents: string, options: esbuild.BuildOptions): Promise<string> {
  const extension = options.format === 'cjs' ? '.cjs' : '.mjs'
  const outdir = join(folder, name)
  await esbuild.build({
    stdin: { contents, resolveDir: root, sourcefile: 'main.js' },
    bundle: true,
    platform: 'node',
    target: 'node20',
    outdir,
    outExtension: { '.js': extension },
    logLevel: 'error',
    // What CommonJS packages need in a bundle of modules.
    ...(options.format === 'esm' && {
      banner: { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" },
    }),
    ...options,
  })
  return printed(join(outdir, `stdin${extension}`))
}

function printed(file: string): string {
  const { stdout, stderr, status } = spawnSync(process.execPath, [file], {
    encoding: 'utf8',
    timeout: 240_000,
  })
  return status === 0 ? stdout.trim() : `exit ${status}: ${stderr.slice(0, 2_000)}`
}

const DEVTOOLS = `
import { createAgentServer, defineAgent } from './dist/index.js'
const agent = defineAgent({ run: ({ message }) => message('hi') })

async function main() {
  const server = createAgentServer({ agents: { agent }, devtools: true })
  const page = await server.fetch(new Request('http://localhost/devtools'))
  const told = await server.fetch(new Request('http://localhost/devtools/api/server'))
  await server.close()
  console.log(page.status, page.headers.get('content-type').slice(0, 9), told.status, (await page.text()).includes('npm install agentwire'))
}
main()
`

/** Vite's bundler, which is Rollup's successor, with all packages in the bundle. */
async function startRolled(contents: string): Promise<string> {
  const name = 'rolled'
  const input = join(root, 'main.js')
  await vite({
    configFile: false,
    root,
    logLevel: 'error',
    ssr: { noExternal: true },
    plugins: [
      {
        name: 'stdin',
        resolveId: (id) => (id === name ? input : undefined),
        load: (id) => (id === input ? contents : undefined),
      },
    ],
    build: {
      ssr: true,
      target: 'node20',
      outDir: join(folder, name),
      rolldownOptions: { input: name, output: { entryFileNames: 'main.mjs' } },
    },
  })
  return printed(join(folder, name, 'main.mjs'))
}

test.each([
  ['modules in one file', { format: 'esm', splitting: false }],
  ['modules in several files', { format: 'esm', splitting: true }],
  ['CommonJS in one file', { format: 'cjs' }],
  ['minified modules', { format: 'esm', splitting: false, minify: true }],
] as const)(
  'a server with a graph starts and answers when it is bundled as %s',
  async (name, options) => {
    expect(await start(name.replaceAll(' ', '-'), SERVER, options)).toBe('200 success success input-required')
  },
  60_000,
)

test.each(['esm', 'cjs'] as const)(
  'the devtools of a bundle (%s) are those of the package beside it',
  async (format) => {
    // A bundle in the project finds the project's own package.
    expect(await start(`devtools-${format}`, DEVTOOLS, { format, minify: true })).toBe(
      '200 text/html 200 false',
    )
  },
)

test('the copy for CommonJS has the page of the devtools', async () => {
  const code = `
const { defineAgent } = require('./dist/index.cjs')
const { createDevtoolsHandler } = require('./dist/devtools.cjs')
const agent = defineAgent({ run: ({ message }) => message('hi') })
const handler = createDevtoolsHandler({ agents: { agent } })
handler.fetch(new Request('http://localhost/devtools')).then(async (page) => {
  await handler.close()
  console.log(page.status, (await page.text()).slice(0, 15))
})`
  const { stdout } = spawnSync(process.execPath, ['-e', code], { cwd: root, encoding: 'utf8' })
  expect(stdout.trim()).toBe('200 <!doctype html>')
})

test('the devtools of a bundle without the package beside it say what to do', async () => {
  const file = join(tmpdir(), `agentwire-devtools-${process.pid}.mjs`)
  await start('devtools-alone', DEVTOOLS, { format: 'esm', minify: true })
  copyFileSync(join(folder, 'devtools-alone', 'stdin.mjs'), file)
  expect(printed(file)).toBe('501 applicati 501 true')
  rmSync(file)
})

test('every entry starts when all of them are one bundle', async () => {
  const imports = entries.map(({ files }, at) => `import * as e${at} from './${files.esm.default}'`)
  const count = `console.log([${entries.map((_, at) => `e${at}`)}].filter((entry) => Object.keys(entry).length > 0).length)`
  writeFileSync(join(folder, 'package.json'), '{}')
  expect(await start('all', [...imports, count].join('\n'), { format: 'esm', packages: 'external' })).toBe(
    String(entries.length),
  )
})

test('a server with a graph starts and answers when Rollup bundles it', async () => {
  expect(await startRolled(SERVER)).toBe('200 success success input-required')
})
