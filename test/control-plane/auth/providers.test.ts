import { expect, test } from 'vitest'
import { ANN, addProvider, authenticate, BOB, EVE, plane } from './control-plane.ts'
import { fakeProvider } from './fake-provider.ts'

const urls = { auth_url: 'https://login.example.com/authorize', token_url: 'https://login.example.com/token' }

test('a provider is created, read, changed and deleted, and its secret is never answered', async () => {
  const at = await plane()
  const created = await at.call(ANN, 'POST', '/v2/auth/providers', {
    provider_id: 'a/b ü',
    name: 'Login',
    client_id: 'client',
    client_secret: 'top secret',
    ...urls,
  })
  expect(created.status).toBe(200)
  expect(created.body).toEqual({
    id: expect.any(String),
    organization_id: expect.stringMatching(/^[\da-f-]{36}$/),
    provider_id: 'a/b ü',
    name: 'Login',
    client_id: 'client',
    ...urls,
    uses_pkce: false,
    code_challenge_method: 'S256',
    provider_type: null,
    token_endpoint_auth_method: 'client_secret_post',
    mcp_server_url: null,
    is_dynamic_client: false,
    authorization_params: {},
    allowed_redirect_uris: [],
    default_redirect_uri: null,
    created_at: expect.any(String),
    updated_at: expect.any(String),
  })
  const path = '/v2/auth/providers/a%2Fb%20%C3%BC'
  expect((await at.call(BOB, 'GET', path)).body).toEqual(created.body)
  expect((await at.call(BOB, 'GET', '/v2/auth/providers')).body).toEqual([created.body])
  const changed = await at.call(ANN, 'PATCH', path, { name: 'Other', client_id: null, uses_pkce: true })
  expect(changed.body).toMatchObject({ name: 'Other', client_id: 'client', uses_pkce: true })

  expect((await at.call(EVE, 'GET', '/v2/auth/providers')).body).toEqual([])
  for (const [method, body] of [['GET'], ['PATCH', {}], ['DELETE']] as const)
    expect(await at.call(EVE, method, path, body)).toMatchObject({
      status: 404,
      body: { detail: 'OAuth provider ID a/b ü not found.' },
    })
  expect(await at.call(ANN, 'POST', '/v2/auth/providers', { ...created.body })).toMatchObject({ status: 409 })

  const deleted = await at.call(ANN, 'DELETE', path)
  expect(deleted).toMatchObject({ status: 200, body: { message: 'OAuth provider a/b ü deleted.' } })
  expect((await at.call(ANN, 'GET', path)).status).toBe(404)
})

test('a code_challenge_method is a text of the API: plain is kept and used, and what is no method is refused', async () => {
  const at = await plane()
  const provider = await fakeProvider()
  const body = {
    provider_id: 'plain',
    name: 'Plain',
    client_id: 'client',
    auth_url: `${provider.origin}/authorize`,
    token_url: `${provider.origin}/token`,
    uses_pkce: true,
    code_challenge_method: 'plain',
  }
  expect(await at.call(ANN, 'POST', '/v2/auth/providers', body)).toMatchObject({
    status: 200,
    body: { code_challenge_method: 'plain' },
  })
  const { url } = (
    await at.call(ANN, 'POST', '/v2/auth/authenticate', { provider: 'plain', scopes: ['read'] })
  ).body
  expect(new URL(url).searchParams.get('code_challenge_method')).toBe('plain')
  const path = '/v2/auth/providers/plain'
  expect(
    (await at.call(ANN, 'PATCH', path, { code_challenge_method: null })).body.code_challenge_method,
  ).toBe('plain')
  expect(
    (await at.call(ANN, 'PATCH', path, { code_challenge_method: 'S256' })).body.code_challenge_method,
  ).toBe('S256')
  for (const [method, at_path] of [
    ['POST', '/v2/auth/providers'],
    ['PATCH', path],
  ] as const)
    expect(await at.call(ANN, method, at_path, { ...body, code_challenge_method: 'md5' })).toMatchObject({
      status: 400,
      body: { detail: "'code_challenge_method' must be 'S256' or 'plain'." },
    })
})

test('wrong bodies are answered as FastAPI does, without the secrets in them', async () => {
  const at = await plane()
  const { status, body } = await at.call(ANN, 'POST', '/v2/auth/providers', {
    client_secret: 7,
    provider_type: 'x',
    code_challenge_method: 5,
  })
  expect(status).toBe(422)
  expect(body.detail.map(({ type, loc }: { type: string; loc: string[] }) => [type, loc.join('.')])).toEqual([
    ['missing', 'body.provider_id'],
    ['missing', 'body.name'],
    ['missing', 'body.client_id'],
    ['missing', 'body.auth_url'],
    ['missing', 'body.token_url'],
    ['string_type', 'body.client_secret'],
    ['string_type', 'body.code_challenge_method'],
    ['literal_error', 'body.provider_type'],
  ])
  const token = { access_token: 'top secret', scopes: 'top' }
  const imported = await at.call(ANN, 'POST', '/v2/auth/tokens/import', token)
  expect(imported.status).toBe(422)
  expect(JSON.stringify(imported.body)).not.toContain('top secret')
  for (const limit of ['0', '201', 'x'])
    expect((await at.call(ANN, 'GET', `/v2/auth/token-events?limit=${limit}`)).status).toBe(422)
  expect((await at.call(ANN, 'GET', '/v2/auth/tokens/exists')).status).toBe(422)
})

test('parameters of its own are sent along, and replace none of the protocol', async () => {
  const at = await plane()
  await addProvider(at, 'https://login.example.com', {
    auth_url: 'https://login.example.com/authorize?tenant=1&state=x',
    authorization_params: { access_type: 'offline' },
    uses_pkce: false,
  })
  const { searchParams } = new URL((await authenticate(at, ANN)).body.url)
  expect([searchParams.get('access_type'), searchParams.get('tenant')]).toEqual(['offline', '1'])
  expect(searchParams.getAll('state')).toEqual([expect.stringMatching(/^.{60,}$/)])
  expect(searchParams.has('code_challenge')).toBe(false)
  const refused = await at.call(ANN, 'PATCH', '/v2/auth/providers/fake', {
    authorization_params: { redirect_uri: 'https://evil.example.com' },
  })
  expect(refused).toMatchObject({ status: 400, body: { detail: expect.stringContaining("'redirect_uri'") } })
})

test('an MCP server is discovered, a client is registered, and users sign in for that resource', async () => {
  const at = await plane()
  const provider = await fakeProvider()
  const server = { provider_id: 'fake', name: 'MCP', mcp_server_url: `${provider.origin}/mcp` }
  const { status, body } = await at.call(ANN, 'POST', '/v2/auth/providers/mcp-discover', server)
  expect(status).toBe(200)
  expect(body).toMatchObject({
    client_id: 'public',
    auth_url: `${provider.origin}/authorize`,
    token_url: `${provider.origin}/token`,
    mcp_server_url: server.mcp_server_url,
    is_dynamic_client: true,
    uses_pkce: true,
    token_endpoint_auth_method: 'none',
  })
  const begun = await authenticate(at, ANN)
  expect(new URL(begun.body.url).searchParams.get('resource')).toBe(server.mcp_server_url)
  const { search } = await provider.visit(begun.body.url)
  expect((await at.call(null, 'GET', `/v2/auth/callback/fake${search}`)).status).toBe(200)
  const traded = provider.requests.find(({ path }) => path === '/token')!
  expect(traded.form.get('resource')).toBe(server.mcp_server_url)
  const { body: tokens } = await at.call(ANN, 'GET', '/v2/auth/tokens')
  expect((await at.call(ANN, 'DELETE', `/v2/auth/tokens/${tokens[0].id}`)).status).toBe(204)
  expect(provider.revoked).toEqual(['refresh-2', 'access-2'])
})

test.each<[string, (provider: Awaited<ReturnType<typeof fakeProvider>>) => void, string]>([
  [
    'is of another issuer',
    (fake) => void (fake.metadata = { ...fake.metadata, issuer: 'https://evil.example.com' }),
    'issuer',
  ],
  [
    'does not register clients',
    (fake) => void (fake.metadata = { ...fake.metadata, registration_endpoint: undefined }),
    'does not register clients',
  ],
  [
    'has a token endpoint on a private address',
    (fake) => void (fake.metadata = { ...fake.metadata, token_endpoint: 'https://10.0.0.1/token' }),
    'token_endpoint',
  ],
  [
    'has an authorization endpoint that is a script',
    (fake) => void (fake.metadata = { ...fake.metadata, authorization_endpoint: 'javascript:alert(1)' }),
    'authorization_endpoint',
  ],
  [
    'has no PKCE',
    (fake) => void (fake.metadata = { ...fake.metadata, code_challenge_methods_supported: ['plain'] }),
    'PKCE',
  ],
  [
    'has no metadata',
    (fake) =>
      void fake.answer('/.well-known/oauth-authorization-server', (_, response) =>
        response.writeHead(404).end(),
      ),
    'no metadata',
  ],
  [
    'describes another resource',
    (fake) => void (fake.resource = { ...fake.resource, resource: 'https://other.example.com/' }),
    'resource',
  ],
  [
    'has an authorization server on a private address',
    (fake) => void (fake.resource = { ...fake.resource, authorization_servers: ['https://192.168.0.1'] }),
    'issuer',
  ],
  [
    'refuses to register',
    (fake) =>
      void fake.answer('/register', (_, response) =>
        response
          .writeHead(400, { 'content-type': 'application/json' })
          .end('{"error":"invalid_redirect_uri"}'),
      ),
    'invalid_redirect_uri',
  ],
])('an MCP server that %s is refused with a clear error', async (_, change, text) => {
  const at = await plane()
  const provider = await fakeProvider()
  change(provider)
  const server = { provider_id: 'fake', name: 'MCP', mcp_server_url: `${provider.origin}/mcp` }
  const { status, body } = await at.call(ANN, 'POST', '/v2/auth/providers/mcp-discover', server)
  expect([status, body.detail]).toEqual([400, expect.stringContaining(text)])
  expect((await at.call(ANN, 'GET', '/v2/auth/providers')).body).toEqual([])
  expect(at.errors).toEqual([])
})

test('providers of the platform serve all tenants, and a tenant may have its own of the same id', async () => {
  const provider = await fakeProvider()
  const shared = {
    providerId: 'fake',
    name: 'Shared',
    clientId: 'client',
    clientSecret: 'client secret',
    authUrl: `${provider.origin}/authorize`,
    tokenUrl: `${provider.origin}/token`,
    tokenEndpointAuthMethod: 'client_secret_basic',
  } as const
  const at = await plane({ platformProviders: [shared] })
  const { body: list } = await at.call(EVE, 'GET', '/v2/auth/platform-providers')
  expect(list).toMatchObject([{ provider_id: 'fake', organization_id: null, uses_pkce: true }])
  expect(JSON.stringify(list)).not.toContain('client secret')
  expect((await at.call(EVE, 'GET', '/v2/auth/platform-providers/fake')).body).toEqual(list[0])
  expect((await at.call(EVE, 'GET', '/v2/auth/platform-providers/none')).status).toBe(404)
  expect((await at.call(EVE, 'PATCH', '/v2/auth/providers/fake', { name: 'Mine' })).status).toBe(404)

  const { body } = await authenticate(at, EVE)
  const { search } = await provider.visit(body.url)
  expect((await at.call(null, 'GET', `/v2/auth/callback/fake${search}`)).status).toBe(200)
  expect((await authenticate(at, EVE)).body.status).toBe('completed')

  await addProvider(at, 'https://own.example.com', {}, EVE)
  expect((await authenticate(at, EVE)).body.url).toMatch(/^https:\/\/own.example.com\//)
  const again = await authenticate(at, EVE, { use_agent_builder_public_oauth: true })
  expect(again.body).toMatchObject({ status: 'completed', token: 'access-2' })
})

test('a provider that is deleted takes the tokens of all users along, and one that is made anew has none of them', async () => {
  const at = await plane()
  const provider = await fakeProvider()
  await addProvider(at, provider.origin)
  for (const user of [ANN, BOB]) {
    const { search } = await provider.visit((await authenticate(at, user)).body.url)
    await at.call(null, 'GET', `/v2/auth/callback/fake${search}`)
  }
  const late = await provider.visit((await authenticate(at, ANN, { force_new: true })).body.url)
  expect((await at.call(ANN, 'DELETE', '/v2/auth/providers/fake')).status).toBe(200)
  expect(provider.revoked).toHaveLength(4)
  await addProvider(at, provider.origin)
  for (const user of [ANN, BOB]) expect((await at.call(user, 'GET', '/v2/auth/tokens')).body).toEqual([])
  expect((await at.call(null, 'GET', `/v2/auth/callback/fake${late.search}`)).status).toBe(400)
  expect((await at.store.list('oauth-tokens')).docs).toEqual([])
})
