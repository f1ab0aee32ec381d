import { expect, test, vi } from 'vitest'
import { createSecretBox } from '../../../src/control-plane/secrets/secret-box.ts'
import { memoryStore } from '../../../src/storage/memory/store.ts'
import {
  ANN,
  addProvider,
  authenticate,
  BOB,
  EVE,
  KEY,
  type Plane,
  type PlaneOptions,
  plane,
} from './control-plane.ts'
import { type FakeProvider, fakeProvider } from './fake-provider.ts'

interface Begun {
  readonly at: Plane
  readonly provider: FakeProvider
  readonly url: string
  readonly authId: string
}

async function begin(options: PlaneOptions = {}, changes: object = {}): Promise<Begun> {
  const at = await plane(options)
  const provider = await fakeProvider()
  await addProvider(at, provider.origin, changes)
  const { body } = await authenticate(at, ANN)
  return { at, provider, url: body.url, authId: body.auth_id }
}

const tradeCount = ({ requests }: FakeProvider) => requests.filter(({ path }) => path === '/token').length

const callback = (at: Plane, { search }: URL, user: string | null = null) =>
  at.call(user, 'GET', `/v2/auth/callback/fake${search}`)

test('a state that was made up, changed, or given out for another provider is refused, and no code is traded', async () => {
  const { at, provider, url } = await begin()
  await addProvider(at, provider.origin, { provider_id: 'second', name: 'Second' }).catch(() => {})
  const back = await provider.visit(url)
  const state = back.searchParams.get('state')!
  const last = state.at(-1) === 'A' ? 'B' : 'A'
  const [user, flow, signature] = state.split('.')
  const states = [
    '',
    'x',
    '..',
    `${user}.${flow}`,
    `${user}.${flow}.`,
    `${state.slice(0, -2)}${last}${last}`,
    `${flow}.${user}.${signature}`,
    `${crypto.randomUUID()}.${flow}.${signature}`,
    `${state}.x`,
    '\u0000',
    'x'.repeat(5_000),
  ]
  for (const wrong of states) {
    back.searchParams.set('state', wrong)
    const page = await callback(at, back)
    expect([page.status, page.body]).toEqual([400, expect.stringContaining('The state was not issued')])
  }
  back.searchParams.delete('state')
  expect((await callback(at, back)).status).toBe(400)
  back.searchParams.set('state', state)
  expect((await at.call(null, 'GET', `/v2/auth/callback/second${back.search}`)).status).toBe(400)
  expect(tradeCount(provider)).toBe(0)
  expect((await callback(at, back)).status).toBe(200)
  expect(at.errors).toEqual([])
})

test('a state of another control plane is refused', async () => {
  const store = memoryStore()
  const { at, provider, url } = await begin({ store })
  const back = await provider.visit(url)
  const other = createSecretBox({ key: btoa('another key of thirty-two bytes.') })
  const name = back.searchParams.get('state')!.split('.').slice(0, 2).join('.')
  back.searchParams.set('state', `${name}.${await other.sign(`oauth-state:${name}:fake`)}`)
  expect((await callback(at, back)).status).toBe(400)
  back.searchParams.set(
    'state',
    `${name}.${await createSecretBox({ key: KEY }).sign(`oauth-state:${name}:fake`)}`,
  )
  expect((await callback(at, back)).status).toBe(200)
})

test('a sign-in serves once, and for ten minutes', async () => {
  let at = Date.now()
  const begun = await begin({ now: () => at })
  const back = await begun.provider.visit(begun.url)
  expect((await callback(begun.at, back)).status).toBe(200)
  const replayed = await callback(begun.at, back)
  expect([replayed.status, replayed.body]).toEqual([400, expect.stringContaining('was already used')])

  const { body } = await authenticate(begun.at, ANN, { force_new: true })
  const late = await begun.provider.visit(body.url)
  at += 10 * 60_000
  const page = await callback(begun.at, late)
  expect([page.status, page.body]).toEqual([400, expect.stringContaining('has expired')])
  expect((await begun.at.call(ANN, 'GET', `/v2/auth/wait/${body.auth_id}`)).body.status).toBe('timeout')
  expect(tradeCount(begun.provider)).toBe(1)
})

test('a code of another sign-in is refused by the provider, because the verifier differs', async () => {
  const { at, provider, url } = await begin()
  const stolen = (await provider.visit((await authenticate(at, BOB)).body.url)).searchParams.get('code')!
  const page = await callback(at, await provider.visit(url, { code: stolen }))
  expect([page.status, page.body]).toEqual([
    400,
    expect.stringContaining('The provider rejected the request: invalid_grant.'),
  ])
  expect(page.body).not.toContain('secret')
})

test('only who has begun a sign-in may end it with POST, and wait for it', async () => {
  const { at, provider, url, authId } = await begin()
  const { searchParams } = await provider.visit(url)
  const body = { code: searchParams.get('code'), state: searchParams.get('state') }
  for (const other of [BOB, EVE, 'other/ann']) {
    const refused = await at.call(other, 'POST', '/v2/auth/callback/fake', body)
    expect(refused).toMatchObject({
      status: 403,
      body: { detail: 'This sign-in was started by someone else.' },
    })
    expect((await at.call(other, 'GET', `/v2/auth/wait/${authId}?timeout=0`)).body).toEqual({
      status: 'not_found',
      token: null,
      error: null,
    })
  }
  expect((await at.call(null, 'POST', '/v2/auth/callback/fake', body)).status).toBe(401)
  expect(tradeCount(provider)).toBe(0)
  expect((await at.call(ANN, 'GET', `/v2/auth/wait/${authId}?timeout=0`)).body.status).toBe('pending')
  const done = await at.call(ANN, 'POST', '/v2/auth/callback/fake', body)
  expect(done).toMatchObject({ status: 200, body: { status: 'completed', provider_id: 'fake' } })
  for (const other of [BOB, EVE])
    expect((await at.call(other, 'GET', `/v2/auth/wait/${authId}`)).body.status).toBe('not_found')
  expect((await at.call(ANN, 'GET', `/v2/auth/wait/${authId}`)).body.token).toBe('access-2')
  for (const id of ['x', `${authId}x`, `${crypto.randomUUID()}.${crypto.randomUUID()}`, '%00', 'a.b'])
    expect((await at.call(ANN, 'GET', `/v2/auth/wait/${id}`)).body.status).toBe('not_found')
})

test('an answer of another issuer is refused before the code goes anywhere', async () => {
  const { at, provider, url } = await begin()
  const page = await callback(at, await provider.visit(url, { iss: 'https://evil.example.com' }))
  expect([page.status, page.body]).toEqual([400, expect.stringContaining('&#34;iss&#34;')])
  expect(tradeCount(provider)).toBe(0)
  const { body } = await authenticate(at, ANN)
  expect((await callback(at, await provider.visit(body.url, { iss: provider.origin }))).status).toBe(200)
})

test('a provider that says it always sends iss has to', async () => {
  const at = await plane()
  const provider = await fakeProvider()
  provider.metadata = { ...provider.metadata, authorization_response_iss_parameter_supported: true }
  const server = { provider_id: 'fake', name: 'Fake', mcp_server_url: `${provider.origin}/mcp` }
  expect((await at.call(ANN, 'POST', '/v2/auth/providers/mcp-discover', server)).status).toBe(200)
  const without = await authenticate(at, ANN)
  expect((await callback(at, await provider.visit(without.body.url))).status).toBe(400)
  expect(tradeCount(provider)).toBe(0)
  provider.iss = provider.origin
  const { body } = await authenticate(at, ANN)
  expect((await callback(at, await provider.visit(body.url))).status).toBe(200)
})

test('users are sent back to allowed places only', async () => {
  const allowed = 'https://app.example.com/signed-in'
  const { at, url } = await begin({}, { allowed_redirect_uris: [allowed] })
  expect(new URL(url).searchParams.get('redirect_uri')).toBe(`${at.origin}/v2/auth/callback/fake`)
  for (const redirect_uri of [
    'https://evil.example.com/',
    `${allowed}/`,
    `${allowed}?x`,
    'https://app.example.com.evil.example.com/signed-in',
    'javascript:alert(1)',
    '',
  ]) {
    const refused = await authenticate(at, ANN, { redirect_uri })
    expect(refused).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining('allowed_redirect_uris') },
    })
  }
  const { body } = await authenticate(at, ANN, { redirect_uri: allowed })
  expect(new URL(body.url).searchParams.get('redirect_uri')).toBe(allowed)
  for (const uri of ['javascript:alert(1)', '/here', 'http://app.example.com/', 'https://a.example.com/#x']) {
    const change = { allowed_redirect_uris: [uri] }
    expect((await at.call(ANN, 'PATCH', '/v2/auth/providers/fake', change)).status).toBe(400)
  }
})

test('after a sign-in the browser goes to the configured place, whatever the request says', async () => {
  const { at, provider, url } = await begin({ returnUrl: 'https://app.example.com/done?a=b' })
  const back = await provider.visit(url, {
    returnUrl: 'https://evil.example.com',
    redirect_uri: 'https://evil.example.com',
  })
  const first = await callback(at, back)
  expect([first.status, first.headers.get('location')]).toEqual([
    302,
    'https://app.example.com/done?a=b&provider_id=fake&status=completed',
  ])
  const denied = new URL('https://x?error=access_denied')
  expect((await callback(at, denied)).headers.get('location')).toBe(
    'https://app.example.com/done?a=b&provider_id=fake&status=failed&error=access_denied',
  )
  const odd = new URL(`https://x?error=${encodeURIComponent('"><script>')}`)
  expect((await callback(at, odd)).headers.get('location')).toMatch(/&error=sign_in_failed$/)
})

test('a page shows nothing of the request as it came', async () => {
  const { at, provider, url, authId } = await begin()
  const script = '<script>alert(1)</script>'
  const back = await provider.visit(url, { error: script, error_description: script, iss: script })
  for (const page of [
    await callback(at, back),
    await at.call(null, 'GET', `/v2/auth/callback/${encodeURIComponent(script)}${back.search}`),
    await at.call(
      null,
      'GET',
      `/v2/auth/setup/${encodeURIComponent(script)}?setup_action=${encodeURIComponent(script)}`,
    ),
  ]) {
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(page.headers.get('referrer-policy')).toBe('no-referrer')
    expect(page.body).not.toContain('<script')
    expect(page.body).not.toContain('alert')
  }
  expect((await at.call(ANN, 'GET', `/v2/auth/wait/${authId}`)).body).toEqual({
    status: 'not_found',
    token: null,
    error: 'invalid_answer',
  })
})

test('a user who declines is told so, and the sign-in is over', async () => {
  const { at, url, authId } = await begin()
  const state = new URL(url).searchParams.get('state')!
  const waiting = at.call(ANN, 'GET', `/v2/auth/wait/${authId}`)
  const page = await at.call(null, 'GET', `/v2/auth/callback/fake?error=access_denied&state=${state}`)
  expect([page.status, page.body]).toEqual([400, expect.stringContaining('access_denied')])
  expect((await waiting).body).toEqual({ status: 'not_found', token: null, error: 'access_denied' })
  const { body } = await at.call(ANN, 'GET', '/v2/auth/token-events')
  expect(body).toMatchObject([
    { event_type: 'authorization_failed', reason: 'access_denied', provider_id: 'fake' },
  ])
})

test.each<[string, (begun: Begun) => void, number, string]>([
  [
    'an error',
    ({ provider }) =>
      provider.answer('/token', (_, response) =>
        response
          .writeHead(400, { 'content-type': 'application/json' })
          .end('{"error":"invalid_client","error_description":"secret"}'),
      ),
    400,
    'invalid_client',
  ],
  [
    'an error with status 200',
    ({ provider }) =>
      provider.answer('/token', (_, response) =>
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end('{"error":"bad_verification_code"}'),
      ),
    400,
    'bad_verification_code',
  ],
  [
    'an error code with a script',
    ({ provider }) =>
      provider.answer('/token', (_, response) =>
        response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"<script>secret"}'),
      ),
    400,
    'invalid_answer',
  ],
  [
    'a failure',
    ({ provider }) => provider.answer('/token', (_, response) => response.writeHead(503).end('secret')),
    502,
    '503',
  ],
  [
    'a redirect',
    ({ provider }) =>
      provider.answer('/token', (_, response) =>
        response.writeHead(307, { location: `${provider.origin}/revoke` }).end(),
      ),
    400,
    '307',
  ],
  [
    'HTML',
    ({ provider }) =>
      provider.answer('/token', (_, response) =>
        response.writeHead(200, { 'content-type': 'text/html' }).end('<b>secret'),
      ),
    400,
    'not valid OAuth 2.0',
  ],
  [
    'a list',
    ({ provider }) =>
      provider.answer('/token', (_, response) =>
        response.writeHead(200, { 'content-type': 'application/json' }).end('["secret"]'),
      ),
    400,
    'not valid OAuth 2.0',
  ],
  ['no token', ({ provider }) => void (provider.extra = { access_token: 7 }), 400, 'not valid OAuth 2.0'],
  [
    'a token of an unknown type',
    ({ provider }) => void (provider.extra = { token_type: 'mac' }),
    400,
    'not valid OAuth 2.0',
  ],
  [
    'a huge body',
    ({ provider }) => provider.answer('/token', (_, response) => response.end(`"${'x'.repeat(1_000_000)}"`)),
    400,
    'too long',
  ],
  [
    'nothing',
    ({ provider }) => provider.answer('/token', (request) => request.socket.destroy()),
    502,
    'request to the provider failed',
  ],
])(
  'a token endpoint that answers %s ends the sign-in with a clear error',
  async (_, misbehave, status, text) => {
    const begun = await begin()
    misbehave(begun)
    const page = await callback(begun.at, await begun.provider.visit(begun.url))
    expect([page.status, page.body]).toEqual([status, expect.stringContaining(text)])
    const waited = await begun.at.call(ANN, 'GET', `/v2/auth/wait/${begun.authId}`)
    expect(waited.body).toMatchObject({ status: 'not_found', token: null, error: expect.any(String) })
    const events = await begun.at.call(ANN, 'GET', '/v2/auth/token-events')
    expect(JSON.stringify([page.body, waited.body, events.body, begun.at.errors])).not.toMatch(
      /secret|<script/,
    )
    expect((await begun.at.call(ANN, 'GET', '/v2/auth/tokens')).body).toEqual([])
    expect(begun.provider.requests.some(({ path }) => path === '/revoke')).toBe(false)
  },
)

test('who changes the URLs of a provider gets neither codes, nor tokens, nor its secret', async () => {
  let now = Date.now()
  const { at, provider, url } = await begin({ now: () => now })
  const evil = await fakeProvider()
  provider.expiresIn = 1
  await callback(at, await provider.visit(url))
  const { body: pending } = await authenticate(at, ANN, { force_new: true })

  const patch = (body: object) => at.call(BOB, 'PATCH', '/v2/auth/providers/fake', body)
  expect(await patch({ token_url: `${evil.origin}/token` })).toMatchObject({
    status: 400,
    body: { detail: expect.stringContaining('client_secret') },
  })
  expect((await patch({ token_url: `${evil.origin}/token`, client_secret: 'new' })).status).toBe(200)

  expect((await callback(at, await provider.visit(pending.url))).status).toBe(400)
  now += 1_000
  expect((await authenticate(at, ANN, { check_only: true })).body.status).toBe('token_expired')
  expect((await at.call(ANN, 'DELETE', '/v2/auth/tokens?provider_id=fake')).status).toBe(200)
  expect(evil.requests).toEqual([])
  const { body } = await at.call(ANN, 'GET', '/v2/auth/token-events')
  expect(body).toContainEqual(
    expect.objectContaining({ event_type: 'token_revocation_failed', reason: 'provider_changed' }),
  )
})

test('a provider is on the public internet, over https', async () => {
  const at = await plane({ allowLoopback: false })
  for (const url of [
    'http://127.0.0.1/token',
    'https://localhost/token',
    'https://[::1]/token',
    'https://10.0.0.1/token',
    'https://169.254.169.254/latest',
    'https://0x7f.1/token',
    'https://metadata.internal/token',
    'https://user:password@login.example.com/token',
    'http://login.example.com/token',
    'ftp://login.example.com/',
    'javascript:alert(1)',
    '/token',
    '',
  ]) {
    const right = { provider_id: 'x', name: 'X', client_id: 'c' }
    const good = 'https://login.example.com/'
    for (const urls of [
      { auth_url: good, token_url: url },
      { auth_url: url, token_url: good },
    ]) {
      const refused = await at.call(ANN, 'POST', '/v2/auth/providers', { ...right, ...urls })
      expect([url, refused.status]).toEqual([url, 400])
    }
    const server = { provider_id: 'x', name: 'X', mcp_server_url: url }
    expect((await at.call(ANN, 'POST', '/v2/auth/providers/mcp-discover', server)).status).toBe(400)
  }
  expect((await at.call(ANN, 'GET', '/v2/auth/providers')).body).toEqual([])
})

test('providers are not asked through fetch, which would resolve their names once more, unchecked', async () => {
  const at = await plane({ allowLoopback: false })
  const server = { provider_id: 'x', name: 'X', mcp_server_url: 'https://mcp.example.invalid/' }
  const fetched = vi.spyOn(globalThis, 'fetch')
  const { status } = await at.call(ANN, 'POST', '/v2/auth/providers/mcp-discover', server)
  expect([400, 502]).toContain(status)
  expect(fetched.mock.calls.map(([url]) => String(url))).toEqual([
    `${at.origin}/v2/auth/providers/mcp-discover`,
  ])
  fetched.mockRestore()
})
