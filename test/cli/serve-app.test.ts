import { Client } from '@langchain/langgraph-sdk'
import { describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { commandLine, GRAPH } from './projects.ts'

const { project, serve } = commandLine()

const graphs = { agent: './graph.js:graph' }
const input = { messages: [{ role: 'user', content: 'hello' }] }
const post = { method: 'POST', headers: { 'content-type': 'application/json' } }

const APP = `
import { Hono } from 'hono'
import { Client } from '@langchain/langgraph-sdk'
const told = []
export const app = new Hono()
app.use(async (c, next) => {
  if (c.req.query('stop') !== undefined) return c.json({ stopped: c.req.path })
  if (c.req.method === 'POST') await c.req.json()
  await next()
  c.header('x-seen', 'yes')
})
app.get('/hello/:name', (c) => c.text('hello ' + c.req.param('name')))
app.post('/echo', async (c) => c.json(await c.req.json()))
app.get('/runs/mine', (c) => c.text('mine'))
app.get('/threads/count', (c) => c.text('of the app'))
app.get('/fails', () => { throw new Error('secret') })
app.get('/run', async (c) => c.json(await new Client({ apiKey: null }).runs.wait(null, 'agent', { input: ${JSON.stringify(input)} })))
app.post('/done', async (c) => { told.push(await c.req.json()); return c.json({}) })
app.get('/told', (c) => c.json(told))
app.notFound((c) => c.text('not this one'))
`
const files = { 'graph.js': GRAPH, 'app.js': APP }
const http = { app: './app.js:app' }

const textOf = async (url: string, init?: RequestInit): Promise<string> => (await fetch(url, init)).text()

describe('an app of Hono', () => {
  test.each(['', '/api'])('its routes go before all others (prefix %j)', async (prefix) => {
    const section = { ...http, mount_prefix: prefix }
    const { told, origin } = await serve(project({ ...files, 'langgraph.json': { graphs, http: section } }))
    const { url } = told
    expect(await textOf(`${url}/hello/ann`)).toBe('hello ann')
    expect(await textOf(`${url}/echo`, { ...post, body: '{"a":1}' })).toBe('{"a":1}')
    expect(await textOf(`${url}/runs/mine`)).toBe('mine')
    expect(await textOf(`${url}/threads/count`)).toBe('of the app')
    expect((await fetch(`${url}/threads/count`, { ...post, body: '{}' })).status).toBe(200)
    expect((await fetch(`${url}/fails`)).status).toBe(500)
    const unknown = await fetch(`${url}/nothing`)
    expect([unknown.status, (await unknown.json()).error]).toEqual([404, 'not_found'])
    if (prefix !== '') expect((await fetch(`${origin}/hello/ann`)).status).toBe(404)
    expect(await textOf(`${origin}/ok`)).toBe('{"ok":true}')
  })

  test.each(['', '/api'])('its middleware sees every request and answer (prefix %j)', async (prefix) => {
    const section = { ...http, mount_prefix: prefix }
    const { told } = await serve(project({ ...files, 'langgraph.json': { graphs, http: section } }))
    const { url } = told
    expect((await fetch(`${url}/info`)).headers.get('x-seen')).toBe('yes')
    expect(await textOf(`${url}/info?stop`)).toBe('{"stopped":"/info"}')
    // It has read the bodies of these.
    const client = new Client({ apiUrl: url })
    const { thread_id } = await client.threads.create()
    const values = await client.runs.wait(thread_id, 'agent', { input })
    expect(values).toMatchObject({ messages: [{ content: 'hello' }, { content: 'heard hello' }] })
    const stream = await fetch(`${url}/threads/${thread_id}/runs/stream`, {
      ...post,
      body: JSON.stringify({ assistant_id: 'agent', input }),
    })
    expect(stream.headers.get('x-seen')).toBe('yes')
    expect(await stream.text()).toContain('heard hello')
  })

  test('lets web sockets through, or refuses them', async () => {
    const { told } = await serve(project({ ...files, 'langgraph.json': { graphs, http } }))
    const at = (path: string) => `${told.url.replace('http', 'ws')}/threads/t/stream/events${path}`
    const opened = (url: string) =>
      new Promise<boolean>((done) => {
        const socket = new WebSocket(url)
        socket.on('open', () => {
          socket.close()
          done(true)
        })
        socket.on('error', () => done(false))
      })
    expect(await opened(at(''))).toBe(true)
    expect(await opened(at('?stop'))).toBe(false)
  })

  test('needs what auth asks for, unless it is open to everybody', async () => {
    const auth = `
import { Auth } from '@langchain/langgraph-sdk/auth'
let asked = 0
export const auth = new Auth().authenticate(async (request) => {
  if (request.headers.get('x-api-key') !== 'a') throw new Error('nobody')
  return { identity: 'ann' + ++asked, permissions: [] }
})
`
    const config = { graphs, auth: { path: './auth.js:auth' } }
    const closed = await serve(project({ ...files, 'auth.js': auth, 'langgraph.json': { ...config, http } }))
    const statusOf = async (url: string, key?: string) =>
      (await fetch(url, { headers: key ? { 'x-api-key': key } : {} })).status
    expect(await statusOf(`${closed.origin}/hello/ann`)).not.toBe(200)
    expect(await statusOf(`${closed.origin}/hello/ann`, 'a')).toBe(200)
    expect(await statusOf(`${closed.origin}/threads`)).not.toBe(200)
    expect(await statusOf(`${closed.origin}/threads`, 'a')).toBe(200)
    expect(await statusOf(`${closed.origin}/ok`)).toBe(200)

    const open = { ...http, enable_custom_route_auth: false }
    const other = await serve(
      project({ ...files, 'auth.js': auth, 'langgraph.json': { ...config, http: open } }),
    )
    expect(await statusOf(`${other.origin}/hello/ann`)).toBe(200)
    expect(await statusOf(`${other.origin}/threads`)).not.toBe(200)
    expect(await statusOf(`${other.origin}/threads`, 'a')).toBe(200)
  })

  test('its routes call the server with a client that was given no URL, and are webhooks of runs', async () => {
    const { origin } = await serve(project({ ...files, 'langgraph.json': { graphs, http } }))
    expect(await textOf(`${origin}/run`)).toContain('heard hello')
    const client = new Client({ apiUrl: origin })
    const { thread_id } = await client.threads.create()
    const run = await client.runs.create(thread_id, 'agent', { input, webhook: '/done' })
    const told = async () => JSON.parse(await textOf(`${origin}/told`))
    await expect.poll(told).toMatchObject([{ run_id: run.run_id, status: 'success' }])
    const body = JSON.stringify({ assistant_id: 'agent', input, webhook: '//127.0.0.1/done' })
    expect((await fetch(`${origin}/threads/${thread_id}/runs`, { ...post, body })).status).toBe(400)
  })
})

test('any other app answers what nothing else does, also below a prefix', async () => {
  const plain = `
export const app = { fetch: async (request) => new Response(new URL(request.url).pathname + await request.text()) }
`
  for (const prefix of ['', '/api']) {
    const section = { ...http, mount_prefix: prefix }
    const config = { graphs, http: section }
    const { told, origin } = await serve(project({ ...files, 'app.js': plain, 'langgraph.json': config }))
    expect(await textOf(`${told.url}/echo`, { ...post, body: '{"a":1}' })).toBe('/echo{"a":1}')
    expect(await textOf(`${told.url}/ok`)).toBe('{"ok":true}')
    if (prefix !== '') expect((await fetch(`${origin}/echo`)).status).toBe(404)
  }
})

test('apps answer what nothing else does below their paths, the deeper one first', async () => {
  const sources = {
    'graph.js': GRAPH,
    'apps.ts': `
import { Hono } from 'hono'
const says = (name: string) => new Hono().all('*', (c) => c.text(name + ' ' + new URL(c.req.url).pathname))
export const app = new Hono().get('/pagesandmore', (c) => c.text('app ' + c.req.path))
export const pages = says('pages')
export const admin = says('admin')
`,
  }
  for (const prefix of ['', '/api']) {
    const apps = { '/pages': './apps.ts:pages', 'pages/admin/': './apps.ts:admin' }
    const section = { app: './apps.ts:app', apps, mount_prefix: prefix }
    const { told } = await serve(project({ ...sources, 'langgraph.json': { graphs, http: section } }))
    const says = async (path: string) => (await fetch(told.url + path)).text()
    expect(await says('/pages')).toBe('pages /')
    expect(await says('/pages/a/b')).toBe('pages /a/b')
    expect(await says('/pages/admin/users')).toBe('admin /users')
    expect(await says('/pagesandmore')).toBe('app /pagesandmore')
    expect(JSON.parse(await says('/ok'))).toEqual({ ok: true })
  }
})
