import { describe, expect, test } from 'vitest'
import { createMcpHandler, mcp } from '../../src/faces/mcp/index.ts'
import { createAgentServer, defineAgent } from '../../src/index.ts'
import { echo } from '../a2a/served-agents.ts'
import { connect, rpc, served } from './served.ts'

const url = new URL('http://127.0.0.1/mcp')
const agents = { chat: echo() }

const post = (
  { fetch }: Pick<ReturnType<typeof createMcpHandler>, 'fetch'>,
  headers: Record<string, string> = {},
  at = 'http://127.0.0.1/mcp',
) =>
  fetch(
    new Request(at, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
    }),
  )

describe('the origin of a page', () => {
  const page = (origin: string, host = '127.0.0.1') => [{ origin }, `http://${host}/mcp`] as const
  const statusOf = async (server: Parameters<typeof post>[0], [headers, at]: ReturnType<typeof page>) =>
    (await post(server, headers, at)).status

  test('may be one of this machine, and none that has taken its name', async () => {
    const server = createAgentServer({ agents, faces: [mcp()] })
    for (const origin of ['http://localhost:6274', 'http://127.0.0.1', 'https://[::1]:8443'])
      expect([origin, await statusOf(server, page(origin))]).toEqual([origin, 200])
    for (const origin of ['http://evil.example', 'null', 'http://localhost.evil.example'])
      expect([origin, await statusOf(server, page(origin))]).toEqual([origin, 403])
    expect(await statusOf(server, page('http://evil.example', 'evil.example'))).toBe(403)
    await server.close()
  })

  test('may be the own one where callers say who they are, and those that http.cors names', async () => {
    const authenticate = () => ({ id: 'ann' })
    const http = { cors: { origins: ['https://app.example'] } }
    const server = createAgentServer({ agents, faces: [mcp()], authenticate, http })
    expect(await statusOf(server, page('http://agents.example', 'agents.example'))).toBe(200)
    expect(await statusOf(server, page('https://app.example', 'agents.example'))).toBe(200)
    expect(await statusOf(server, page('https://other.example', 'agents.example'))).toBe(403)
    await server.close()
  })

  test('that may call is answered its preflight, with the headers of MCP', async () => {
    const http = { cors: { origins: ['https://app.example'] } }
    const server = createAgentServer({ agents, faces: [mcp()], http })
    const asks = { origin: 'https://app.example', 'access-control-request-method': 'POST' }
    const { headers } = await server.fetch(new Request(url, { method: 'OPTIONS', headers: asks }))
    expect(headers.get('access-control-allow-headers')).toContain('mcp-method,mcp-name,mcp-protocol-version')
    await server.close()
  })
})

describe('a protected server', () => {
  const authenticate = ({ headers }: Request) =>
    headers.get('authorization') === 'Bearer ann' ? { id: 'ann' } : null
  const protectedResource = { authorizationServers: ['https://login.example'], scopes: ['agents', 'mail'] }

  test.each(['', '/api'])('says with its 401 where its metadata are, below %j', async (basePath) => {
    const server = createAgentServer({ agents, authenticate, faces: [mcp({ basePath, protectedResource })] })
    const refused = await post(server, {}, `https://agents.example${basePath}/mcp`)
    expect(refused.status).toBe(401)
    const where = `https://agents.example${basePath}/.well-known/oauth-protected-resource/mcp`
    expect(refused.headers.get('www-authenticate')).toBe(
      `Bearer resource_metadata="${where}", scope="agents mail"`,
    )
    const metadata = await server.fetch(new Request(where))
    expect([metadata.status, await metadata.json()]).toEqual([
      200,
      {
        resource: `https://agents.example${basePath}/mcp`,
        authorization_servers: ['https://login.example'],
        scopes_supported: ['agents', 'mail'],
        bearer_methods_supported: ['header'],
      },
    ])
    expect(
      (await post(server, { authorization: 'Bearer ann' }, `https://agents.example${basePath}/mcp`)).status,
    ).toBe(200)
    await server.close()
  })

  test('says nothing of it where it was not told', async () => {
    const server = createAgentServer({ agents, authenticate, faces: [mcp()] })
    const refused = await post(server)
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
    const metadata = await server.fetch(new Request('http://127.0.0.1/.well-known/oauth-protected-resource'))
    expect(metadata.status).toBe(404)
    await server.close()
  })

  test('lets a client in that has a token', async () => {
    const at = await served(agents, { protectedResource }, { authenticate })
    const client = await connect(at.url, 'auto', { headers: { authorization: 'Bearer ann' } })
    expect((await client.call('chat', { message: 'hi' })).content[0].text).toBe('You said: hi')
    await expect(connect(at.url, 'auto')).rejects.toThrow()
  })
})

describe('permissions', () => {
  const authenticate = () => ({ id: 'ann' })

  test('decide which tools there are, and which may be used', async () => {
    const asked: unknown[] = []
    const at = await served(
      { chat: echo(), secret: echo(), shown: echo() },
      {},
      {
        authenticate,
        authorize(_, action, resource) {
          asked.push([action, resource.assistantId])
          if (action === 'runs:create') return resource.assistantId === 'chat'
          return resource.assistantId !== 'secret'
        },
      },
    )
    const client = await connect(at.url, 'auto')
    expect((await client.list()).map(({ name }) => name)).toEqual(['chat', 'shown', 'answer_question'])
    expect((await client.call('chat', { message: 'hi' })).content[0].text).toBe('You said: hi')
    for (const name of ['secret', 'shown'])
      expect(await client.call(name, { message: 'hi' })).toMatchObject({
        isError: true,
        content: [{ text: 'Not permitted: runs:create.' }],
      })
    expect(asked).toContainEqual(['assistants:read', 'secret'])
  })

  test('may put bounds on what a caller reaches', async () => {
    const authorize = (principal: { readonly id: string } | null) => {
      const mine = { owner: principal!.id }
      return { filter: mine, body: { metadata: mine } }
    }
    const by = ({ headers }: Request) => ({ id: headers.get('x-user')!, tenant: 'all' })
    const at = await served(agents, {}, { authenticate: by, authorize })
    const as = (user: string) => connect(at.url, 'auto', { headers: { 'x-user': user } })
    const first = await (await as('ann')).call('chat', { message: 'one' })
    const threadId = first._meta['agentwire/threadId']
    expect(await (await as('bob')).call('chat', { message: 'two', threadId })).toMatchObject({
      isError: true,
    })
    expect((await (await as('ann')).call('chat', { message: 'three', threadId })).isError).toBeFalsy()
  })
})

test('assistants that clients have made are tools where the option says so', async () => {
  const named = defineAgent({
    async run({ config, message }) {
      await message(`I am ${config.configurable.name}.`)
    },
  })
  const at = await served({ named }, { stored: true })
  const made = await fetch(new URL('/assistants', at.url), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      graph_id: 'named',
      name: 'Ada L.',
      description: 'Knows engines.',
      config: { configurable: { name: 'Ada' } },
    }),
  })
  const { assistant_id } = (await made.json()) as { readonly assistant_id: string }
  const name = `Ada_L__${assistant_id.slice(-12)}`
  const client = await connect(at.url, 'auto')
  expect(await client.list()).toMatchObject([
    { name: 'named' },
    { name, title: 'Ada L.', description: 'Knows engines.' },
    { name: 'answer_question' },
  ])
  expect((await client.call(name, { message: 'hi' })).content[0].text).toBe('I am Ada.')
})

test('what breaks is reported, and told by its reference alone', async () => {
  const reported: unknown[] = []
  const at = await served(
    agents,
    {},
    {
      authorize() {
        throw new Error('secret')
      },
      onError: (error) => reported.push(error),
    },
  )
  const { error } = await rpc(at, 'tools/call', { name: 'chat', arguments: { message: 'x' } })
  expect(error).toMatchObject({ code: -32603, message: expect.stringMatching(/Reference: [\w-]{36}\.$/) })
  expect(error.message).not.toContain('secret')
  expect(reported).toMatchObject([{ message: 'secret' }])
})

test('refusals before MCP is spoken are JSON-RPC too, with their status', async () => {
  const handler = createMcpHandler({ agents, http: { maxBodyBytes: 100 } })
  const send = async (body: string) => {
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
    const response = await handler.fetch(new Request(url, { method: 'POST', headers, body }))
    const { error } = (await response.json()) as { readonly error: { readonly code: number } }
    return [response.status, error.code]
  }
  expect(await send('{')).toEqual([400, -32700])
  expect(await send(JSON.stringify('x'.repeat(200)))).toEqual([413, -32000])
  const get = await handler.fetch(new Request(url))
  expect([get.status, get.headers.get('allow')]).toEqual([405, 'POST, OPTIONS'])
  await handler.close()
})

test('options that are none are refused at once', () => {
  expect(() => mcp({ input: 'text' as never })).toThrow('input must be "message" or "schema"')
  expect(() => mcp({ tols: true } as never)).toThrow('option tols')
  expect(() => mcp({ protectedResource: { authorizationServers: [] } })).toThrow('authorizationServers')
  expect(() => createMcpHandler({ agents, mcp: { tasks: { afterMs: '5' } } } as never)).toThrow(
    'tasks.afterMs',
  )
})
