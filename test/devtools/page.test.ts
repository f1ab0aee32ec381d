import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { createAgentServer } from '../../src/index.ts'
import { createDevtoolsHandler } from '../../src/ops/devtools/index.ts'
import { request } from '../kit/client.ts'
import { engineOf } from '../kit/engine.ts'
import { serveAgents } from '../kit/host.ts'
import { puppet } from '../kit/puppet.ts'

const agents = { a: puppet().agent }
const authenticate = () => ({ id: 'ann' })
const ask = (handler: { fetch(request: Request): Promise<Response> }, path: string, init?: RequestInit) =>
  handler.fetch(new Request(`http://host${path}`, init))

test('the page is one document of at most 50 KiB, and its policy lets nothing else in', async () => {
  const handler = createDevtoolsHandler({ agents, authenticate })
  const response = await ask(handler, '/devtools')
  const html = await response.text()
  expect(gzipSync(html).length).toBeLessThanOrEqual(50 * 1024)
  const policy = response.headers.get('content-security-policy')!
  for (const element of ['script', 'style']) {
    const [, text] = new RegExp(`<${element}[^>]*>([\\s\\S]*?)</${element}>`).exec(html)!
    const hash = createHash('sha256').update(text!).digest('base64')
    expect(policy).toContain(`${element}-src 'sha256-${hash}'`)
  }
  // The script that a graph needs comes later, and is the only other one that may run.
  const { script } = await (await ask(handler, '/devtools/api/layout')).json()
  const scripts = /script-src ([^;]+)/.exec(policy)![1]!.split(' ')
  expect(scripts.slice(1)).toEqual([`'sha256-${createHash('sha256').update(script).digest('base64')}'`])
  expect(policy).toContain("default-src 'none'")
  expect(policy).toContain("frame-ancestors 'none'")
  expect(html.replaceAll('http://www.w3.org/', '')).not.toMatch(/(src|href)=["']?https?:/)
  expect(response.headers.get('cache-control')).toBe('no-store')
  await handler.close()
})

test('nothing is there by default', async () => {
  const server = createAgentServer({ agents, authenticate })
  expect((await ask(server, '/devtools')).status).toBe(404)
  expect((await server.routes()).some(([, pattern]) => pattern.includes('devtools'))).toBe(false)
  await server.close()
})

test('a server has it where it is asked for, under its prefix, behind authenticate, until it closes', async () => {
  const only = (request: Request) => (request.headers.has('cookie') ? { id: 'ann' } : null)
  const devtools = { basePath: '/internal' }
  const server = createAgentServer({ agents, authenticate: only, devtools, onError: () => {} })
  const headers = { cookie: 'session=1' }
  expect((await ask(server, '/devtools', { headers })).status).toBe(404)
  expect((await ask(server, '/internal/devtools')).status).toBe(401)
  expect((await ask(server, '/internal/devtools', { headers })).status).toBe(200)
  expect((await ask(server, '/internal/devtools/api/threads')).status).toBe(401)
  await server.close()
  expect((await ask(server, '/internal/devtools', { headers })).status).toBe(503)
})

test('a handler of its own watches the engine of another one', async () => {
  const engine = engineOf(agents)
  await engine.createThread({ threadId: 't' })
  const handler = createDevtoolsHandler({ engine })
  const answer = await (await ask(handler, '/devtools/api/threads')).json()
  expect(answer.threads).toMatchObject([{ thread_id: 't', status: 'idle' }])
  // The host's prefix takes precedence.
  const mounted = await handler.fetch(new Request('http://host/x/devtools/api/server'), { basePath: '/x' })
  expect(mounted.status).toBe(200)
  await handler.close()
  expect(await engine.countThreads()).toBe(1)
  await engine.close()
})

test('refuses what a page of another origin can send with the cookies of this one', async () => {
  const host = await serveAgents({ agents, devtools: true })
  const path = '/devtools/api/threads/t/answers'
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data'])
    expect(
      (await request(host.origin, 'POST', path, '{"answers":{"a":1}}', { 'content-type': type })).status,
    ).toBe(415)
  expect((await request(host.origin, 'POST', path, { answers: {} })).status).toBe(400)
  expect((await request(host.origin, 'POST', path, { answers: { a: 1 } })).status).toBe(404)
})
