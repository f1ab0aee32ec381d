/** The root of a mount: a page for browsers, JSON for others; and the lines that a server prints as it starts. */
import { createServer } from 'node:http'
import express from 'express'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { toExpress } from '../../adapters/express.ts'
import { toNext } from '../../adapters/next.ts'
import { serve } from '../../adapters/node.ts'
import { aiSdk } from '../../src/faces/ai-sdk/index.ts'
import { openAi } from '../../src/faces/openai/index.ts'
import { createAgentServer, defineAgent, type ServerOptions } from '../../src/index.ts'
import { openServer } from '../kit/listen.ts'

const agent = defineAgent({ run: async ({ message }) => void (await message('hello')) })
const create = (more: Partial<ServerOptions> = {}) =>
  createAgentServer({ agents: { agent }, devtools: true, faces: [openAi()], ...more } as ServerOptions)
const HTML = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

describe.each(['', '/'])('below a prefix, with “%s” at its end', (end) => {
  test('a browser gets a page whose curl line works, others JSON', async () => {
    const app = express().use('/api/agents', toExpress(create()))
    const { origin, close } = await openServer(createServer(app))
    onTestFinished(close)
    const response = await fetch(`${origin}/api/agents${end}`, { headers: HTML })
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    const page = await response.text()
    expect(page).toContain('<code>agent</code>')
    expect(page).toContain(`href="${origin}/api/agents/devtools"`)
    const [, url, body] = /curl (\S+) .* -d '([^']+)'/.exec(page.replaceAll('&quot;', '"'))!
    const called = await fetch(url!, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: body!,
    })
    expect(await called.json()).toMatchObject({ messages: [{ content: 'Hello' }, { content: 'hello' }] })
    const told = await (await fetch(`${origin}/api/agents${end}`)).json()
    expect(told).toMatchObject({ agents: ['agent'], devtools: `${origin}/api/agents/devtools` })
    expect(told.doors).toContainEqual({ name: 'OpenAI', path: '/v1' })
    expect((await fetch(`${origin}/api/agents${end}`, { method: 'POST' })).status).toBe(404)
  })
})

test('a server of its own has it at its root, and so has a route of Next; a host keeps its own root', async () => {
  const { origin, close } = await serve(create(), { port: 0, silent: true })
  onTestFinished(close)
  expect(await (await fetch(origin, { headers: HTML })).text()).toContain(`${origin}/runs/wait`)
  const { GET } = toNext(create(), { basePath: '/agents' })
  expect((await GET(new Request('http://localhost/agents', { headers: HTML }))).status).toBe(200)
  expect(await create().handle(new Request('http://localhost/', { headers: HTML }))).toBeUndefined()
})

test('it needs a caller as every other route does', async () => {
  const server = create({ authenticate: () => null })
  expect((await server.fetch(new Request('http://localhost/'))).status).toBe(401)
  const { GET } = toNext(create(), { basePath: '/agents', principal: () => null })
  expect((await GET(new Request('http://localhost/agents') as never)).status).toBe(401)
})

test('a name with markup stays text', async () => {
  const server = createAgentServer({ agents: { '<img src=x>': agent } })
  const page = await (await server.fetch(new Request('http://localhost/', { headers: HTML }))).text()
  expect(page).toContain('&lt;img src=x&gt;')
  expect(page).not.toContain('<img')
})

test('the banner names agents, doors, storage, sign-in, errors and devtools', async () => {
  const server = create({ faces: [openAi(), aiSdk()] })
  expect(server.banner('http://localhost:3000/agents').split('\n')).toEqual([
    'agentwire serves http://localhost:3000/agents',
    '  agents   agent',
    '  doors    Agent Streaming Protocol /threads, REST of LangGraph Platform /runs, A2A /a2a, AI SDK /chat, OpenAI /v1',
    '  storage  memory: a restart loses all threads',
    '  sign-in  none: anyone who can reach this server can read and change every thread',
    '  errors   clients see an error id',
    '  devtools http://localhost:3000/agents/devtools',
  ])
  toExpress(server, { principal: () => null })
  expect(server.banner('http://localhost:3000')).toContain('sign-in  principal of the adapter')
  const shown = create({ errorMessage: true, authenticate: () => null, devtools: false })
  expect(shown.banner('http://localhost:3000')).toMatch(
    /sign-in {2}authenticate\n {2}errors {3}clients see the text of an agent’s error$/,
  )
})

test('next dev, which loads a route with its first request, says once what is served there', async () => {
  const print = vi.spyOn(console, 'log').mockImplementation(() => {})
  onTestFinished(() => {
    print.mockRestore()
    vi.unstubAllEnvs()
  })
  const server = create()
  const { GET } = toNext(server, { basePath: '/api/agents' })
  const ask = () =>
    GET(new Request('http://localhost:3000/api/agents/ok', { headers: { host: 'my.site:3000' } }))
  vi.stubEnv('NODE_ENV', 'production')
  await ask()
  expect(print).not.toHaveBeenCalled()
  vi.stubEnv('NODE_ENV', 'development')
  await ask()
  await ask()
  expect(print.mock.calls).toEqual([[server.banner('http://my.site:3000/api/agents')]])
})
