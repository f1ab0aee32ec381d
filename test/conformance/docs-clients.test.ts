import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { expect, onTestFinished, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const ROUNDS = 100

const examplesOf = (page: string): string[] =>
  [...readFileSync(join(root, page), 'utf8').matchAll(/```ts\n(.*?)```/gs)].map(([, code]) => code!)

/** Runs the code in as many fresh modules over one copy of the library, and gives what each exports as `seen`. */
async function runs(name: string, code: string): Promise<unknown[]> {
  const folder = join(root, '.tmp', `docs-${name}-${process.pid}`)
  mkdirSync(folder, { recursive: true })
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const options = { bundle: true, packages: 'external', format: 'esm', target: 'node20' } as const
  const library = './agentwire.mjs'
  const testing = './testing.mjs'
  await build({ ...options, entryPoints: [join(root, 'src/index.ts')], outfile: join(folder, library) })
  await build({
    ...options,
    entryPoints: [join(root, 'src/agents/testing.ts')],
    outfile: join(folder, testing),
  })
  const { outputFiles } = await build({
    ...options,
    stdin: { contents: code, loader: 'ts', resolveDir: root },
    alias: { 'agentwire/testing': testing, agentwire: library },
    external: [library, testing],
    write: false,
  })
  const all: unknown[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const file = join(folder, `${round}.mjs`)
    writeFileSync(file, outputFiles[0]!.contents)
    const { seen } = (await import(/* @vite-ignore */ pathToFileURL(file).href)) as { seen: unknown }
    all.push(seen)
  }
  return all
}

const everyTime = (seen: unknown): unknown[] => Array.from({ length: ROUNDS }, () => seen)

test('the examples of the guide to the engine work together, a hundred times out of a hundred', {
  timeout: 240_000,
}, async () => {
  const examples = examplesOf('docs/engine.md')
  const [starts, reads, connects] = ['createAgentEngine(', 'textOfRun(', 'clientOf('].map((word) =>
    examples.find((code) => code.includes(word)),
  )
  const seen = await runs(
    'engine',
    `import { createAgentServer } from 'agentwire'
    ${starts}${reads}${connects}
    const text = await textOfRun(engine, { threadId: 'report-2026-11', principal: { id: 'cron' }, runId })
    const server = createAgentServer({ engine, authenticate: () => ({ id: 'cron' }) })
    const fetch = (url: string, init?: RequestInit) => server.fetch(new Request(url, init))
    const thread = clientOf(server).threads.stream({ assistantId: 'agent', fetch })
    const messages = thread.messages[Symbol.asyncIterator]()
    await thread.run.start({ input })
    const { value: message } = await messages.next()
    export const seen = [status, text, await message?.text]
    await thread.close()
    await server.close()
    await engine.close()`,
  )
  expect(seen).toEqual(everyTime(['success', 'Hello there', 'Hello there']))
})

test('the test of the guide to testing passes, a hundred times out of a hundred', {
  timeout: 240_000,
}, async () => {
  const [example] = examplesOf('docs/testing.md')
  const seen = await runs(
    'testing',
    `${example}
    export const seen = [done.status, done.text, done.interrupts]`,
  )
  expect(seen).toEqual(everyTime(['success', 'It is done.', []]))
})
