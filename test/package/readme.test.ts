import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { root } from './package.ts'

/** The declarations that an example assumes, by a word that it contains. */
const GIVEN: Readonly<Record<string, string>> = {
  findPrincipal: `import type { SecuritySchemes } from 'agentwire'
    declare function findPrincipal(request: Request): Promise<{ id: string }>`,
  'agentwire/a2a/signature': 'declare const key: CryptoKey',
  'createFromUrl(': '',
  'askWeather(': `import { Command, END, interrupt } from '@langchain/langgraph'
    import { AIMessage } from '@langchain/core/messages'
    import type { A2ALink } from 'agentwire/a2a'
    declare const weather: import('agentwire/a2a').A2AAgent
    interface State { readonly messages: readonly AIMessage[]; readonly link: A2ALink | undefined }
    interface Config { readonly signal: AbortSignal }`,
}

const SNIPPETS = join(root, 'docs/snippets')
const snippets = readdirSync(SNIPPETS, { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.tsx?$/.test(path))
  .map((path) => join(SNIPPETS, path))

test('every example of the guides has the types it needs, from the built package', {
  timeout: 300_000,
}, () => {
  const examples = ['README.md', 'docs/engine.md', 'docs/a2a.md'].flatMap((path) => [
    ...readFileSync(join(root, path), 'utf8').matchAll(/^(?:<!-- (snippet): \S+ -->\n)?```ts\n(.*?)^```$/gms),
  ])
  const unmarked = examples.flatMap(([, mark, code]) => (mark === undefined ? [code!] : []))
  expect(unmarked.length).toBe(Object.keys(GIVEN).length)
  expect(snippets.length).toBeGreaterThan(20)
  const sources = unmarked.map(
    (code, at) => [join(root, `readme-example-${at}.ts`), `${code}\n${given(code)}\nexport {}`] as const,
  )
  expect(
    problems(new Map([...sources, ...snippets.map((path) => [path, readFileSync(path, 'utf8')] as const)])),
  ).toEqual([])
})

test('every link of the README names a file that is in the package', () => {
  const { status, stdout, stderr } = spawnSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: root,
    encoding: 'utf8',
  })
  expect(status, stderr).toBe(0)
  const [{ files }] = JSON.parse(stdout) as [{ files: { path: string }[] }]
  const packed = new Set(files.map(({ path }) => path))
  for (const page of ['README.md', ...[...packed].filter((path) => /^docs\/[^/]+\.md$/.test(path))]) {
    const text = readFileSync(join(root, page), 'utf8').replace(/^```.*?^```/gms, '')
    // npm shows pictures from the repository.
    const links = text.replace(/!\[[^\]]*\]\([^)]*\)/g, '')
    const targets = [...links.matchAll(/\]\((?!\w+:)([^)\s#]+)(?:#[^)\s]+)?\)/g)].map(([, target]) =>
      posix.join(posix.dirname(page), target!),
    )
    if (page === 'README.md') expect(targets.length).toBeGreaterThan(20)
    // The examples are in the repository alone. The README's links must work in the package too.
    const missing = targets.filter((target) => !packed.has(target))
    const broken = missing.filter((target) => page === 'README.md' || !target.startsWith('examples/'))
    expect([page, broken]).toEqual([page, []])
  }
})

function given(code: string): string {
  const [, declarations] = Object.entries(GIVEN).find(([word]) => code.includes(word)) ?? []
  if (declarations === undefined) throw new Error(`No example of this kind is known:\n${code}`)
  return declarations
}

/** The errors of the compiler for sources, some of which exist in memory only. */
function problems(sources: ReadonlyMap<string, string>): string[] {
  const config = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent(config.config, ts.sys, root)
  delete options.paths // which names the sources
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
  const untyped = join(root, 'test/conformance/untyped.d.ts') // express brings no types
  const program = ts.createProgram([...sources.keys(), untyped], options, host)
  return ts
    .getPreEmitDiagnostics(program)
    .filter(({ file }) => file === undefined || sources.has(file.fileName))
    .map(
      ({ file, messageText }) =>
        `${file?.fileName ?? ''}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`,
    )
}
