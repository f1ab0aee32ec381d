import { join } from 'node:path'
import { Client } from '@langchain/langgraph-sdk'
import { describe, expect, test } from 'vitest'
import { chat, commandLine, GRAPH } from './projects.ts'

const { project, serve } = commandLine()

const graphs = { agent: './graph.js:graph' }
const json = { 'content-type': 'application/json' }
const status = async (url: string, init?: RequestInit): Promise<number> => (await fetch(url, init)).status

describe('the section http', () => {
  test.each([
    ['disable_a2a', { '/.well-known/agent-card.json': 404, '/threads': 200, '/ok': 200 }],
    ['disable_mcp', { '/mcp': 404, '/threads': 200, '/ok': 200 }],
    ['disable_meta', { '/ok': 404, '/info': 404, '/threads': 200 }],
    [
      'disable_threads',
      { '/threads': 404, '/threads/t/state': 404, '/threads/t/stream/events': 426, '/ok': 200 },
    ],
    [
      'disable_runs',
      {
        '/threads': 200,
        '/threads/t/stream/events': 404,
        '/threads/t/commands': 404,
        '/threads/t/runs': 404,
        '/runs/wait': 404,
        '/ok': 200,
      },
    ],
    ['disable_assistants', { '/assistants/agent': 404, '/threads': 200 }],
  ])('%s', async (key, expected) => {
    const folder = project({ 'langgraph.json': { graphs, http: { [key]: true } }, 'graph.js': GRAPH })
    const { origin } = await serve(folder)
    const found = await Promise.all(
      Object.keys(expected).map(async (path) => [path, await status(origin + path)]),
    )
    expect(Object.fromEntries(found)).toEqual(expected)
  })

  test('--no-a2a turns A2A off', async () => {
    const folder = project({ 'langgraph.json': { graphs }, 'graph.js': GRAPH })
    const { origin, told } = await serve(folder, ['--no-a2a'])
    expect(told.a2a).toBe(false)
    expect(await status(`${origin}/.well-known/agent-card.json`)).toBe(404)
  })

  test('graphs are tools of MCP, below the prefix, for pages of this machine', async () => {
    const http = { mount_prefix: '/my/api' }
    const folder = project({ 'langgraph.json': { graphs, http }, 'graph.js': GRAPH })
    const { told } = await serve(folder)
    expect(told.mcp).toBe(true)
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
    const headers = { ...json, accept: 'application/json, text/event-stream' }
    const ask = (origin: string) =>
      fetch(`${told.url}/mcp`, { method: 'POST', headers: { ...headers, origin }, body })
    expect(await (await ask('http://localhost:6274')).text()).toContain('"name":"agent"')
    expect((await ask('http://evil.example')).status).toBe(403)
  })

  test('mount_prefix is before everything, also before the URLs of the card, and /ok is at the root as well', async () => {
    const folder = project({
      'langgraph.json': { graphs, http: { mount_prefix: '/my/api' } },
      'graph.js': GRAPH,
    })
    const { origin, told } = await serve(folder)
    expect(told.url).toBe(`${origin}/my/api`)
    expect((await chat(told.url, 'agent')).texts).toEqual(['hello', 'heard hello'])
    expect(await status(`${origin}/threads`)).toBe(404)
    expect([await status(`${origin}/ok`), await status(`${origin}/my/api/ok`)]).toEqual([200, 200])
    const card = await (await fetch(`${told.url}/a2a/agent/.well-known/agent-card.json`)).json()
    expect(card.url).toBe(`${told.url}/a2a/agent`)
  })

  test('cors names the pages that may call; without it those of this machine may', async () => {
    const folder = project({
      'langgraph.json': { graphs, http: { cors: { allow_origins: ['https://app.example.com'] } } },
      'graph.js': GRAPH,
      'plain.json': { graphs },
    })
    const allowed = async (origin: string, page: string) =>
      (await fetch(`${origin}/ok`, { headers: { origin: page } })).headers.get('access-control-allow-origin')
    const named = await serve(folder)
    expect(await allowed(named.origin, 'https://app.example.com')).toBe('https://app.example.com')
    expect(await allowed(named.origin, 'http://localhost:5173')).toBeNull()
    const plain = await serve(folder, ['--config', join(folder, 'plain.json')])
    expect(await allowed(plain.origin, 'http://localhost:5173')).toBe('http://localhost:5173')
    expect(await allowed(plain.origin, 'https://app.example.com')).toBeNull()
  })

  test.each([
    ['by default', undefined, { 'x-user': 'ann', 'user-agent': 'me' }],
    [
      'as chosen',
      { includes: ['x-*', 'Authorization'], excludes: ['x-user'] },
      { 'x-other': 'o', authorization: 'secret' },
    ],
  ])('headers of the request are in configurable, %s', async (_, configurable_headers, expected) => {
    const folder = project({
      'langgraph.json': { graphs, http: { configurable_headers } },
      'graph.js': GRAPH.replace(
        'async ({ messages }) =>',
        'async ({ messages }, { configurable }) =>',
      ).replace(
        "'heard'",
        "JSON.stringify(Object.fromEntries(['x-user', 'x-other', 'user-agent', 'authorization', 'x-api-key'].map((name) => [name, configurable[name]])))",
      ),
    })
    const { origin } = await serve(folder)
    const threadId = crypto.randomUUID()
    await fetch(`${origin}/threads/${threadId}/commands`, {
      method: 'POST',
      headers: {
        ...json,
        'x-user': 'ann',
        'user-agent': 'me',
        authorization: 'secret',
        'x-api-key': 'k',
        ...(configurable_headers && { 'x-other': 'o' }),
      },
      body: JSON.stringify({
        id: 1,
        method: 'run.start',
        // A client cannot say that it is somebody else.
        params: {
          assistant_id: 'agent',
          input: { messages: [{ role: 'user', content: '' }] },
          config: { configurable: { 'x-user': 'bob' } },
        },
      }),
    })
    const client = new Client({ apiUrl: origin })
    await expect.poll(async () => (await client.threads.get(threadId)).status).toBe('idle')
    const { values } = await client.threads.getState<{ messages: { content: string }[] }>(threadId)
    const found = JSON.parse(values.messages[1]!.content)
    expect(found).toEqual(configurable_headers ? { ...expected, 'x-user': 'bob' } : expected)

    const defaultHeaders = { 'x-user': 'ann', 'user-agent': 'me', authorization: 'secret', 'x-api-key': 'k' }
    const rest = new Client({
      apiUrl: origin,
      apiKey: null,
      defaultHeaders: { ...defaultHeaders, ...(configurable_headers && { 'x-other': 'o' }) },
    })
    const input = { messages: [{ role: 'user', content: '' }] }
    const { messages } = (await rest.runs.wait(null, 'agent', { input })) as {
      messages: { content: string }[]
    }
    expect(JSON.parse(messages[1]!.content)).toEqual(expected)
  })
})

describe('the section auth', () => {
  const auth = `
import { Auth, HTTPException } from '@langchain/langgraph-sdk/auth'
const users = { a: ['ann', 'red'], a2: ['ann', 'blue'], b: ['bob', 'red'], d: ['dan', 'red'] }
export const auth = new Auth()
  .authenticate(async (request) => {
    const [identity, team] = users[request.headers.get('x-api-key') ?? ''] ?? []
    if (!identity) throw new HTTPException(401, { message: 'Who are you?', headers: { 'x-why': 'key' } })
    return { identity, team, tenant: 'all', permissions: ['p'], display_name: identity.toUpperCase() }
  })
  .on('threads', ({ value, user }) => {
    if ('metadata' in value) value.metadata = Object.assign(value.metadata, { owner: user.identity, team: user.team })
    return { owner: user.identity, team: user.team }
  })
  .on('threads:delete', ({ permissions }) => permissions.includes('admin'))
  .on('threads:create_run', ({ user, value }) => {
    if (user.identity === 'dan') throw new HTTPException(403, { message: 'Not you.' })
    Object.assign(value.metadata, { owner: user.identity, team: user.team })
    return { team: user.team }
  })
`
  const files = {
    'langgraph.json': { graphs, auth: { path: './auth.js:auth' }, http: { app: './app.js' } },
    'graph.js': GRAPH.replace('async ({ messages }) =>', 'async ({ messages }, { configurable }) =>').replace(
      "'heard'",
      'configurable.langgraph_auth_user.display_name + configurable.langgraph_auth_user.team + configurable.langgraph_auth_user_id',
    ),
    'auth.js': auth,
    'app.js': "export default { fetch: () => new Response('app') }",
  }
  const as = (apiUrl: string, apiKey: string) => new Client({ apiUrl, apiKey })

  test('callers are asked who they are, but for /ok and /info', async () => {
    const { origin, told } = await serve(project(files))
    expect(told.auth).toBe(true)
    const refused = await fetch(`${origin}/threads`)
    expect([refused.status, refused.headers.get('x-why'), await refused.text()]).toEqual([
      401,
      'key',
      'Who are you?',
    ])
    expect(await status(`${origin}/custom`)).toBe(401)
    expect(await status(`${origin}/custom`, { headers: { 'x-api-key': 'a' } })).toBe(200)
    for (const path of ['/ok', '/info', '/.well-known/agent-card.json'])
      expect(await status(origin + path)).toBe(200)
  })

  test('threads belong to the identity, and the handlers decide about them', async () => {
    const { origin } = await serve(project(files))
    const red = as(origin, 'a')
    const blue = as(origin, 'a2')
    const thread = await red.threads.create({ metadata: { team: 'blue', topic: 'x' } })
    expect(thread.metadata).toMatchObject({ owner: 'ann', team: 'red', topic: 'x' })
    expect(
      (await red.threads.update(thread.thread_id, { metadata: { team: 'blue', more: 1 } })).metadata,
    ).toMatchObject({ team: 'red', more: 1 })

    await expect(as(origin, 'b').threads.get(thread.thread_id)).rejects.toThrow(/404/)
    await expect(blue.threads.get(thread.thread_id)).rejects.toThrow(/404/)
    const other = await blue.threads.create()
    const search = async (client: Client) => (await client.threads.search()).map(({ thread_id }) => thread_id)
    expect(await search(red)).toEqual([thread.thread_id])
    expect(await search(blue)).toEqual([other.thread_id])
    expect([await red.threads.count(), await as(origin, 'b').threads.count()]).toEqual([1, 0])
    await expect(red.threads.delete(thread.thread_id)).rejects.toThrow(/403/)
  })

  test('runs know their user, mark their threads, and are refused as the handler says', async () => {
    const { origin } = await serve(project(files))
    const run = async (apiKey: string, threadId = crypto.randomUUID()) => {
      const client = as(origin, apiKey)
      const stream = client.threads.stream(threadId, { assistantId: 'agent' })
      await stream.run.start({ input: { messages: [{ role: 'user', content: 'hello' }] } })
      await stream.output
      await stream.close()
      return client.threads.getState<{ messages: { content: unknown }[] }>(threadId)
    }
    const threadId = crypto.randomUUID()
    expect(JSON.stringify((await run('a', threadId)).values)).toContain('ANNredann hello')
    expect((await as(origin, 'a').threads.get(threadId)).metadata).toMatchObject({
      owner: 'ann',
      team: 'red',
    })
    await expect(run('a2', threadId)).rejects.toThrow()
    await expect(run('d')).rejects.toThrow(/Not you\./)
  })

  test('anything but an Auth is refused at the start', async () => {
    const folder = project({ ...files, 'auth.js': 'export const auth = {}' })
    await expect(serve(folder)).rejects.toThrow(/auth\.path: \.\/auth\.js:auth is not an Auth/)
  })
})
