import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { transform } from 'esbuild'
import { expect, onTestFinished, test } from 'vitest'
import { defineAgent } from '../../src/index.ts'
import { serveAgents } from '../kit/host.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** The README's own agent, under the name that its client asks for. */
const greeter = defineAgent({
  async run({ message }) {
    const answer = message()
    for (const word of ['Hello', ' there']) await answer.text(word)
  },
})

test('the client of the README prints the whole answer and is done, a hundred times out of a hundred', {
  timeout: 240_000,
}, async () => {
  const host = await serveAgents({ agents: { agent: greeter } })
  const [, example] = /```ts\n(import \{ Client \}.*?)```/s.exec(
    readFileSync(join(root, 'README.md'), 'utf8'),
  )!
  const source = example!
    .replace('http://127.0.0.1:3000', host.origin)
    .replace('console.log(', 'export const printed: unknown[] = []; printed.push(')
  const { code } = await transform(source, { loader: 'ts', format: 'esm', target: 'node20' })
  const folder = join(root, '.tmp', `readme-client-${process.pid}`)
  mkdirSync(folder, { recursive: true })
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (let round = 0; round < 100; round++) {
    const file = join(folder, `${round}.mjs`)
    writeFileSync(file, code)
    const { printed } = (await import(/* @vite-ignore */ pathToFileURL(file).href)) as { printed: unknown[] }
    expect([round, ...printed]).toEqual([round, 'Hello there'])
  }
})
