import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { type ControlPlaneOptions, createControlPlaneHandler } from '../../src/control-plane/index.ts'
import { createAgentServer, defineAgent, memoryStore } from '../../src/index.ts'
import { eventually } from '../kit/wait.ts'
import { scriptedDeployer } from './support/scripted-deployer.ts'
import { created, GITHUB, serve } from './support/served.ts'

const KEY = btoa('k'.repeat(32))

function open(options: Partial<ControlPlaneOptions> = {}) {
  const plane = createControlPlaneHandler({
    deployer: scriptedDeployer(),
    authenticate: () => ({ id: 'ann' }),
    ...options,
  })
  onTestFinished(() => plane.close())
  return plane
}

const durable = () => {
  const store = memoryStore()
  return { ...store, capabilities: { ...store.capabilities, durable: true } }
}

const JSON_TYPE = { 'content-type': 'application/json' }
const post = (path: string, body: unknown) =>
  new Request(`http://control.test${path}`, {
    method: 'POST',
    headers: JSON_TYPE,
    body: JSON.stringify(body),
  })
const get = (path: string) => new Request(`http://control.test${path}`)

describe('the key of the secrets', () => {
  test('is needed over a durable store', () => {
    expect(() => open({ store: durable() })).toThrow(
      /a durable store requires secrets\.key.*openssl rand -base64 32/,
    )
    expect(() => open({ store: durable(), secrets: { show: 'none' } })).toThrow(/secrets\.key/)
    expect(() => open({ store: durable(), secrets: { key: KEY } })).not.toThrow()
  })

  test('must be 32 bytes', () => {
    expect(() => open({ secrets: { key: btoa('short') } })).toThrow(/32 bytes/)
  })

  test('opens what another instance has sealed, and what an older key has sealed', async () => {
    const store = durable()
    const one = open({ store, worker: false, secrets: { key: KEY, show: 'plaintext' } })
    const secrets = [{ name: 'A', value: 'b' }]
    const { id } = await (await one.fetch(post('/v2/deployments', { ...GITHUB, secrets }))).json()
    const two = open({
      store,
      worker: false,
      secrets: { key: [btoa('n'.repeat(32)), KEY], show: 'plaintext' },
    })
    expect((await (await two.fetch(get(`/v2/deployments/${id}`))).json()).secrets).toEqual(secrets)
  })

  test('keeps the values out of the store', async () => {
    const store = memoryStore()
    const plane = open({ store, worker: false })
    const secrets = [{ name: 'A', value: 'hush-hush' }]
    const { id } = await (await plane.fetch(post('/v2/deployments', { ...GITHUB, secrets }))).json()
    const { docs } = await store.list('deployments', { partition: `deployment:${id}` })
    expect(docs).toHaveLength(1)
    expect(JSON.stringify(docs)).not.toContain('hush-hush')
  })
})

test('a server without authentication says so once', async () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
  // Another file of this process may have opened one.
  vi.resetModules()
  const { createControlPlaneHandler } = await import('../../src/control-plane/index.ts')
  for (let count = 0; count < 2; count++)
    await createControlPlaneHandler({ deployer: scriptedDeployer(), authenticate: undefined }).close()
  expect(warn.mock.calls).toEqual([[expect.stringContaining('anyone who can reach it can deploy code')]])
  warn.mockRestore()
})

test('it works in the background by itself, and only on request where it is told so', async () => {
  const deployer = scriptedDeployer()
  const plane = open({ deployer })
  const { id } = await (await plane.fetch(post('/v2/deployments', GITHUB))).json()
  const status = async () =>
    (await (await plane.fetch(get(`/v2/deployments/${id}`))).json()).active_revision_id
  await eventually(async () => (await status()) !== null, { what: 'A deployment' })

  const quiet = serve()
  await created(quiet)
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(quiet.deployer.calls).toEqual([])
  expect(await quiet.work()).toEqual({ deployments: 1 })
  expect(quiet.deployer.servers.size).toBe(1)
})

test('webhooks are told of the changes that requests and the worker make', async () => {
  const told: string[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => (body += chunk))
    request.on('end', () => {
      told.push(JSON.parse(body).type)
      response.writeHead(204).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
  const plane = open({ webhooks: [{ url, secret: `whsec_${KEY}` }] })
  await plane.fetch(post('/v2/deployments', GITHUB))
  await eventually(() => told.includes('deployment.revision.deployed'), { what: 'The last message' })
  expect(told).toEqual(
    expect.arrayContaining(['deployment.awaiting_database', 'deployment.revision.creating']),
  )
})

test('unknown paths and methods are answered as FastAPI does it', async () => {
  const plane = open()
  const nothing = await plane.fetch(get('/v2/nothing'))
  expect([nothing.status, await nothing.json()]).toEqual([404, { detail: 'Not Found' }])
  const method = await plane.fetch(new Request('http://control.test/v2/deployments', { method: 'PUT' }))
  expect([method.status, await method.json()]).toEqual([405, { detail: 'Method Not Allowed' }])
  expect(method.headers.get('allow')).toContain('DELETE')
})

test('it is mounted under any prefix, its own or that of the host', async () => {
  const plane = open({ basePath: '/api-host' })
  expect((await plane.fetch(get('/api-host/v2/deployments'))).status).toBe(200)
  expect((await plane.fetch(get('/v2/deployments'))).status).toBe(404)
  expect(await plane.handle(get('/other/v2/deployments'))).toBeUndefined()
  expect((await plane.fetch(get('/a/b/v2/deployments'), { basePath: '/a/b' })).status).toBe(200)
  const document = await (await plane.fetch(get('/api-host/openapi.json'))).json()
  expect(document.info.version).toBe('0.1.0')
  expect(Object.keys(document.paths)).toContain('/v2/deployments/{deployment_id}')
})

test('larger bodies are 413, and bodies that are no JSON are 422, for callers that are authenticated', async () => {
  const large = () => post('/v2/deployments', { ...GITHUB, name: 'x'.repeat(200) })
  const broken = () =>
    new Request('http://control.test/v2/deployments', { method: 'POST', headers: JSON_TYPE, body: '{' })
  const known = open({ http: { maxBodyBytes: 100 }, authenticate: () => ({ id: 'me' }) })
  expect((await known.fetch(large())).status).toBe(413)
  const refused = await known.fetch(broken())
  expect(refused.status).toBe(422)
  expect((await refused.json()).detail).toMatchObject([{ type: 'json_invalid', loc: ['body'] }])
  const unknown = open({ http: { maxBodyBytes: 100 }, authenticate: () => null })
  for (const request of [large(), broken(), post('/v2/deployments', {})]) {
    expect((await unknown.fetch(request)).status).toBe(401)
    expect(request.bodyUsed).toBe(false)
  }
})

test('after its close it answers 503, and its deployer is closed', async () => {
  const close = vi.fn(async () => {})
  const plane = open({ deployer: { ...scriptedDeployer(), close } })
  await Promise.all([plane.close(), plane.close()])
  expect(close).toHaveBeenCalledTimes(1)
  expect((await plane.fetch(get('/v2/deployments'))).status).toBe(503)
})

describe('createAgentServer', () => {
  const agents = { echo: defineAgent({ async run() {} }) }

  test('serves it beside the threads, and closes it', async () => {
    const close = vi.fn(async () => {})
    const controlPlane = open({
      deployer: { ...scriptedDeployer(), close },
      authenticate: () => ({ id: 'ann' }),
    })
    const server = createAgentServer({ agents, controlPlane, authenticate: () => ({ id: 'bob' }) })
    expect((await server.fetch(get('/v2/deployments'))).status).toBe(200)
    expect((await server.fetch(post('/threads', {}))).status).toBeLessThan(300)
    expect((await server.fetch(get('/v2/nothing'))).status).toBe(404)
    await server.close()
    expect(close).toHaveBeenCalledTimes(1)
  })

  test('has none by itself', async () => {
    const server = createAgentServer({ agents, authenticate: () => ({ id: 'bob' }) })
    onTestFinished(() => server.close())
    expect((await server.fetch(get('/v2/deployments'))).status).toBe(404)
  })
})
