import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import { createAgentServer, defineAgent } from 'agentwire'
import { toNode } from 'agentwire/node'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import { type Listening, openServer } from '../kit/listen.ts'
import { ORIGIN, type Program, startProgram } from '../kit/program.ts'
import { names, pathOf, read } from './examples.ts'

/** What starts the server of an example. Bun and Deno, which `test/runtimes` runs, take the module that exports `fetch`. */
const serverOf = (name: string): readonly string[] =>
  name === 'bun-deno-workers'
    ? ['test/examples/serve-fetch.ts', pathOf(name, 'server.ts')]
    : [pathOf(name, 'server.ts')]

/** Where the examples find the scripted provider, as it prints it. */
const providers: Record<string, string> = {}

const tsx = (...args: readonly string[]): Program =>
  startProgram(process.execPath, ['--import', 'tsx', ...args], { ...process.env, ...providers, PORT: '0' })

const ended = (program: Program) => async () => {
  program.child.kill()
  await program.exit
}

describe('the examples', () => {
  let provider: Program
  beforeAll(async () => {
    provider = tsx(pathOf('offline', 'provider.ts'))
    const printed = await provider.output(/ANTHROPIC_BASE_URL=\S+\n/)
    for (const [, name, value] of printed.matchAll(/(\w+)=(\S+)/g)) providers[name!] = value!
  })
  afterAll(() => provider && ended(provider)())

  test.each(names)('%s has a README, a server of less than 40 lines, and a client', (name) => {
    for (const file of ['README.md', 'server.ts', 'client.ts'])
      expect([file, existsSync(pathOf(name, file))]).toEqual([file, true])
    const lines = read(name, 'server.ts').split('\n')
    expect(lines.filter((line) => !/^\s*\/\/ #/.test(line)).length - 1).toBeLessThan(40)
    expect(read(name, 'README.md')).toContain('client.ts')
    expect(read('', 'README.md')).toContain(`](${name}/README.md)`)
  })

  test.each(names)('%s installs the versions that are tested here, as a project of its own', (name) => {
    const { type, dependencies } = JSON.parse(read(name, 'package.json'))
    const tested: Readonly<Record<string, string>> = packageJson.devDependencies
    const expected = Object.keys(dependencies).map((name) => [
      name,
      name === 'agentwire' ? 'latest' : `^${tested[name]}`,
    ])
    expect({ type, dependencies }).toEqual({ type: 'module', dependencies: Object.fromEntries(expected) })
  })

  describe.concurrent('run', () => {
    test.for(names)(
      '%s: its server answers what its client expects',
      { timeout: 240_000 },
      async (name, { onTestFinished }) => {
        const server = tsx(...serverOf(name))
        onTestFinished(ended(server))
        const [origin] = ORIGIN.exec(await server.output(ORIGIN))!
        const client = tsx(pathOf(name, 'client.ts'), origin!)
        onTestFinished(ended(client))
        expect(await client.exit, `${client.text()}\n${server.text()}`).toBe(0)
        expect(client.text()).toMatch(/\S/)
      },
    )
  })

  describe('mean what they assert', () => {
    let wrong: Listening
    beforeAll(async () => {
      wrong = await serveWrongAnswers()
    })
    afterAll(() => wrong?.close())

    test('every client refuses another answer', { timeout: 240_000 }, async ({ onTestFinished }) => {
      const clients = names.map((name) => pathOf(name, 'client.ts'))
      const refuse = tsx('test/examples/refuse.ts', wrong.origin, ...clients)
      onTestFinished(ended(refuse))
      await refuse.exit
      const outcomes = refuse
        .text()
        .split('\n')
        .filter((line) => line.startsWith('/'))
      expect(outcomes).toEqual(clients.map((client) => `${client} AssertionError`))
    })

    test('a client that refuses an answer exits with 1', { timeout: 240_000 }, async ({ onTestFinished }) => {
      const client = tsx(pathOf('node', 'client.ts'), wrong.origin)
      onTestFinished(ended(client))
      expect([await client.exit, client.text()]).toEqual([1, expect.stringContaining('AssertionError')])
    })
  })
})

/** A server that has all agents of the examples, where the examples have them, and all say something else. */
async function serveWrongAnswers(): Promise<Listening> {
  const other = defineAgent({
    async run({ message }) {
      await message('Something else.')
    },
  })
  const ids = names.flatMap((name) => [...read(name, 'client.ts').matchAll(/assistantId: '(\w+)'/g)])
  const server = createAgentServer({
    agents: Object.fromEntries(ids.map(([, id]) => [id, other])),
    authenticate: () => ({ id: 'everybody' }),
  })
  const reports = { threadId: 'reports', assistantId: 'report', principal: { id: 'everybody' } }
  for (const content of ['1', '2', '3'])
    await server.engine.start({ ...reports, input: { messages: [{ role: 'user', content }] } })
  const [below, above] = [toNode(server, { basePath: '/agents' }), toNode(server)]
  return openServer(
    createServer((request, response) => below(request, response, () => above(request, response))),
  )
}
