import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { root } from './package.ts'

/** The declarations that an example assumes, by a word that it contains. */
const GIVEN: Readonly<Record<string, string>> = {
  './graph.ts': 'declare function userOf(request: Request): Promise<string>',
  'agentwire/express': `declare const server: import('agentwire').WebHandler
    declare const app: { use(path: string, handler: (req: never, res: never, next: () => void) => void): void }`,
  'agentwire/fastify': `declare const server: import('agentwire').WebHandler
    declare const app: import('fastify').FastifyInstance`,
  'agentwire/hono': `declare const server: import('agentwire').WebHandler
    declare const app: import('hono').Hono`,
  'agentwire/next': `declare const server: import('agentwire').WebHandler`,
  'agentwire/node': `declare const server: import('agentwire').WebHandler`,
  'agentwire/postgres': `import { createAgentServer } from 'agentwire'
    declare const agents: Record<string, import('agentwire').Agent>`,
  'agentwire/control-plane/process': `import { createAgentServer } from 'agentwire'
    declare const agents: Record<string, import('agentwire').Agent>
    declare const store: import('agentwire').Store`,
  'agentwire/tracing': `declare const openai: import('openai').OpenAI
    declare const request: import('openai/resources').ChatCompletionCreateParamsStreaming
    declare function show(chunk: import('openai/resources').ChatCompletionChunk): void`,
  'createAgentEngine(': `declare const agents: Record<string, import('agentwire').Agent>
    declare const input: unknown`,
  "organization: 'Example'": `import { createAgentServer } from 'agentwire'
    import { langgraph } from 'agentwire/langgraph'
    import { graph } from './graph.ts'`,
  'createFromUrl(': '',
  findPrincipal: `import type { SecuritySchemes } from 'agentwire'
    declare function findPrincipal(request: Request): Promise<{ id: string }>`,
  'agentwire/a2a/signature': 'declare const key: CryptoKey',
  freshToken: `import { createAgentServer } from 'agentwire'
    declare function freshToken(): Promise<string>`,
  "subagent('weather'": `declare const weather: import('agentwire/a2a').A2AAgent
    declare const subagent: import('agentwire').Writer['subagent']`,
  'askWeather(': `import { Command, END, interrupt } from '@langchain/langgraph'
    import { AIMessage } from '@langchain/core/messages'
    import type { A2ALink } from 'agentwire/a2a'
    declare const weather: import('agentwire/a2a').A2AAgent
    interface State { readonly messages: readonly AIMessage[]; readonly link: A2ALink | undefined }
    interface Config { readonly signal: AbortSignal }`,
  CompiledGraphLike: '',
  textOfRun: '',
  'clientOf(': '',
  'langgraph-sdk': '',
}

test('every example of the README and of the guides to the engine and to A2A has the types it needs, from the built package', {
  timeout: 60_000,
}, () => {
  const pages = ['README.md', 'docs/engine.md', 'docs/a2a.md']
    .map((page) => readFileSync(join(root, page), 'utf8'))
    .join('\n')
  const examples = [...pages.matchAll(/```ts\n(.*?)```/gs)].map(([, code]) => code!)
  expect(examples.length).toBe(Object.keys(GIVEN).length + 1)
  const graph = "declare const graph: import('langchain').ReactAgent\nexport { graph }"
  const sources = new Map(
    examples.map((code, at) => [join(root, `readme-example-${at}.ts`), `${code}\n${given(code)}\nexport {}`]),
  )
  expect(problems(new Map([...sources, [join(root, 'graph.ts'), graph]]))).toEqual([])
})

function given(code: string): string {
  const [, declarations] = Object.entries(GIVEN).find(([word]) => code.includes(word)) ?? []
  if (declarations === undefined) throw new Error(`No example of this kind is known:\n${code}`)
  return declarations
}

/** The errors of the compiler for sources that exist in memory only. */
function problems(sources: ReadonlyMap<string, string>): string[] {
  const config = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent(config.config, ts.sys, root)
  const host = ts.createCompilerHost(options)
  const { fileExists, readFile, getSourceFile } = host
  host.fileExists = (path) => sources.has(path) || fileExists(path)
  host.readFile = (path) => sources.get(path) ?? readFile(path)
  host.getSourceFile = (path, ...rest) => {
    const text = sources.get(path)
    return text === undefined
      ? getSourceFile(path, ...rest)
      : ts.createSourceFile(path, text, ts.ScriptTarget.ES2022)
  }
  const program = ts.createProgram([...sources.keys()], options, host)
  return ts
    .getPreEmitDiagnostics(program)
    .filter(({ file }) => file === undefined || sources.has(file.fileName))
    .map(
      ({ file, messageText }) =>
        `${file?.fileName ?? ''}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`,
    )
}
