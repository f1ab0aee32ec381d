import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Client } from '@langchain/langgraph-sdk'
import { build } from 'esbuild'
import { afterAll, beforeAll, expect } from 'vitest'
import { type Program, programs } from '../kit/program.ts'
import { root } from '../package/package.ts'

/** Files by their paths. Objects are written as JSON. */
export type Files = Readonly<Record<string, string | object>>

export interface CliServer extends Program {
  /** Without the mount prefix. */
  readonly origin: string
  /** The line that `--json` has printed. */
  readonly told: Readonly<Record<string, unknown>> & { readonly url: string; readonly port: number }
}

/** A graph with one node, which answers with a word and what it was told. */
export const graphWith = (word: string): string => `
import { MessagesAnnotation, StateGraph } from '@langchain/langgraph'
const answer = async ({ messages }) => ({ messages: [{ role: 'ai', content: ${word} + ' ' + messages.at(-1).content }] })
`
export const GRAPH = `${graphWith("'heard'")}
export const graph = new StateGraph(MessagesAnnotation).addNode('answer', answer).addEdge('__start__', 'answer').compile()
`

/** Tools for tests of the command line: the program in one bundle, and projects in folders of their own. */
export function commandLine() {
  const spawn = programs()
  // It lies in this project, so that it finds the clients of databases.
  const program = join(root, '.tmp', `agentwire-${process.pid}.mjs`)
  const folders: string[] = []
  beforeAll(() =>
    build({
      entryPoints: [join(root, 'src/cli/main.ts')],
      outfile: program,
      bundle: true,
      packages: 'external',
      platform: 'node',
      format: 'esm',
      target: 'node20',
    }),
  )
  afterAll(() => {
    for (const folder of folders) rmSync(folder, { recursive: true, force: true })
    rmSync(program, { force: true })
  })

  /** Its packages are those of this project, unless it brings its own. */
  function project(files: Files, { packages = true } = {}): string {
    const folder = mkdtempSync(join(tmpdir(), 'agentwire-project-'))
    folders.push(folder)
    if (packages) symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
    write(folder, { 'package.json': { type: 'module' }, ...files })
    return folder
  }

  const agentwire = (args: readonly string[], env: NodeJS.ProcessEnv = {}): Program =>
    spawn(process.execPath, [program, ...args], {
      ...process.env,
      STORAGE_URL: undefined,
      PORT: undefined,
      HOST: undefined,
      ...env,
    })

  /** Serves a project on a free port, and settles once it listens. */
  async function serve(
    folder: string,
    args: readonly string[] = [],
    env: NodeJS.ProcessEnv = {},
  ): Promise<CliServer> {
    const config = join(folder, 'langgraph.json')
    const served = agentwire(['serve', '--config', config, '--port', '0', '--json', ...args], env)
    const [line] = /^\{"url".*\}$/m.exec(await served.output(/^\{"url".*\}$/m))!
    const told = JSON.parse(line)
    return { ...served, told, origin: `http://127.0.0.1:${told.port}` }
  }

  return { project, agentwire, serve }
}

export function write(folder: string, files: Files): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), typeof content === 'string' ? content : JSON.stringify(content))
  }
}

/** The answers of a thread after one more message, through the SDK. */
export async function chat(
  apiUrl: string,
  assistantId: string,
  threadId?: string,
): Promise<{ threadId: string; texts: string[] }> {
  const client = new Client({ apiUrl })
  const thread = client.threads.stream(threadId ?? crypto.randomUUID(), { assistantId })
  await thread.run.start({ input: { messages: [{ role: 'user', content: 'hello' }] } })
  await thread.output
  const { values } = await client.threads.getState<{ messages: { content: unknown }[] }>(thread.threadId)
  await thread.close()
  return { threadId: thread.threadId, texts: values.messages.map(({ content }) => textOf(content)) }
}

const textOf = (content: unknown): string =>
  typeof content === 'string' ? content : (content as { text: string }[]).map(({ text }) => text).join('')

/** Starts a run of the assistant `agent`, and does not wait for it. */
export async function startRun(origin: string, threadId: string): Promise<void> {
  const params = { assistant_id: 'agent', input: { messages: [{ role: 'user', content: 'hello' }] } }
  const response = await fetch(`${origin}/threads/${threadId}/commands`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ id: 1, method: 'run.start', params }),
  })
  expect(await response.json()).toMatchObject({ type: 'success' })
}
