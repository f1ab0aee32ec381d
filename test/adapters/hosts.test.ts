import { request as httpRequest } from 'node:http'
import { describe, expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { type ServeOptions, serve } from '../../adapters/node/serve.ts'
import { mcp } from '../../src/faces/mcp/index.ts'
import { openAi } from '../../src/faces/openai/index.ts'
import { createAgentServer, defineAgent, type ServerOptions } from '../../src/index.ts'

const agent = defineAgent({ run: async ({ message }) => void (await message('hello')) })

async function served(options: Partial<ServeOptions> = {}, more: Partial<ServerOptions> = {}) {
  const server = createAgentServer({
    agents: { agent },
    devtools: true,
    faces: [openAi(), mcp()],
    ...more,
  } as ServerOptions)
  const { port, close } = await serve(server, { port: 0, silent: true, ...options })
  onTestFinished(close)
  /** A request of a page whose host name leads to this machine. */
  const ask = (method: string, path: string, host: string, body?: object) =>
    new Promise<{ status: number; text: string }>((resolve, reject) => {
      const headers = {
        host,
        origin: `http://${host}`,
        'sec-fetch-site': 'same-origin',
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      }
      const asked = httpRequest({ port, host: '127.0.0.1', method, path, headers }, (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (part) => {
          text += part
        })
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
      })
      asked.on('error', reject)
      asked.end(body && JSON.stringify(body))
    })
  return { ask, port }
}

const DOORS: readonly (readonly [string, string, object?])[] = [
  ['GET', '/devtools'],
  ['GET', '/devtools/api/threads'],
  ['POST', '/threads/search', {}],
  ['POST', '/threads/one/commands', { id: 1, method: 'run.start', params: { input: {} } }],
  ['POST', '/runs/wait', { assistant_id: 'agent', input: {} }],
  ['POST', '/v1/responses', { model: 'agent', input: 'hi' }],
  ['POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }],
  ['GET', '/.well-known/agent-card.json'],
  ['GET', '/nothing'],
]

describe('a server that anyone may call, on a loopback address', () => {
  test.each(DOORS.map(([method, path, body]) => ({ method, path, body })))(
    'answers $method $path only under a name of this machine',
    async ({ method, path, body }) => {
      const { ask, port } = await served()
      for (const host of [
        'evil.example',
        `evil.example:${port}`,
        'localhost.evil.example',
        '127.0.0.1.evil.example',
      ]) {
        const { status, text } = await ask(method, path, host, body)
        expect([host, status]).toEqual([host, 421])
        expect(JSON.parse(text)).toMatchObject({ error: 'host_not_allowed' })
        expect(text).toContain('allowedHosts')
      }
      for (const host of ['localhost', `localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`])
        expect((await ask(method, path, host, body)).status).not.toBe(421)
    },
  )

  test('opens no socket under another name', async () => {
    const { port } = await served()
    const socket = new WebSocket(`ws://127.0.0.1:${port}/threads/one/stream/events`, {
      headers: { host: 'evil.example', origin: 'http://evil.example' },
    })
    const status = await new Promise((resolve) => {
      socket.on('unexpected-response', (_, response) => resolve(response.statusCode))
      socket.on('open', () => resolve('open'))
      socket.on('error', () => {})
    })
    expect(status).toBe(421)
  })

  test('answers the names that it is given', async () => {
    const { ask } = await served({ allowedHosts: ['Agents.test'] })
    expect((await ask('GET', '/devtools/api/threads', 'agents.test:80')).status).toBe(200)
    expect((await ask('GET', '/devtools/api/threads', 'evil.example')).status).toBe(421)
  })
})

test('a server with authenticate answers every name', async () => {
  const { ask } = await served({}, { authenticate: () => ({ id: 'ann' }) })
  expect((await ask('POST', '/threads/search', 'agents.example', {})).status).toBe(200)
})

test('a server on all addresses answers every name, unless some are given', async () => {
  const { ask } = await served({ hostname: '0.0.0.0' })
  expect((await ask('POST', '/threads/search', 'agent', {})).status).toBe(200)
  const named = await served({ hostname: '0.0.0.0', allowedHosts: ['agent'] })
  expect((await named.ask('POST', '/threads/search', 'agent', {})).status).toBe(200)
  expect((await named.ask('POST', '/threads/search', 'evil.example', {})).status).toBe(421)
})
