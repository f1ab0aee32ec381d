import { expect, test } from 'vitest'
import { createApi } from '../../../src/control-plane/api/create-api.ts'
import type { ControlPlaneContext } from '../../../src/control-plane/context.ts'
import { authOperations } from '../../../src/control-plane/operations/all.ts'
import {
  ANN,
  addProvider,
  authenticate,
  BOB,
  EVE,
  type Plane,
  type PlaneOptions,
  plane,
} from './control-plane.ts'
import { type FakeProvider, fakeProvider } from './fake-provider.ts'

async function start(options: PlaneOptions = {}, changes: object = {}) {
  const at = await plane(options)
  const provider = await fakeProvider()
  await addProvider(at, provider.origin, changes)
  return { at, provider }
}

async function signIn(
  at: Plane,
  provider: FakeProvider,
  user: string,
  changes: object = {},
): Promise<string> {
  const { body } = await authenticate(at, user, changes)
  const { search } = await provider.visit(body.url)
  expect((await at.call(null, 'GET', `/v2/auth/callback/fake${search}`)).status).toBe(200)
  const { body: events } = await at.call(user, 'GET', '/v2/auth/tokens')
  return events.at(-1).id
}

const importToken = async (at: Plane, user: string, changes: object = {}): Promise<string> => {
  const token = { provider_id: 'fake', access_token: `imported by ${user}`, scopes: ['read'], ...changes }
  const { status, body } = await at.call(user, 'POST', '/v2/auth/tokens/import', token)
  expect(status).toBe(200)
  return body.token_id
}

test('nobody sees, changes, deletes, uses or connects the token of another user or tenant', async () => {
  const { at } = await start()
  await addProvider(at, 'https://login.example.com', {}, EVE)
  const id = await importToken(at, ANN)
  const own = await at.call(ANN, 'POST', '/v2/auth/agents/agent/connections', { oauth_token_id: id })
  expect(own.status).toBe(201)
  for (const other of [BOB, EVE]) {
    const missing = { status: 404, body: { detail: `OAuth token ID ${id} not found.` } }
    expect(
      await at.call(other, 'PATCH', `/v2/auth/tokens/${id}/metadata`, { is_default: false }),
    ).toMatchObject(missing)
    expect(await at.call(other, 'DELETE', `/v2/auth/tokens/${id}`)).toMatchObject(missing)
    expect(await authenticate(at, other, { token_id: id })).toMatchObject(missing)
    const connection = { oauth_token_id: id }
    expect(await at.call(other, 'POST', '/v2/auth/agents/agent/connections', connection)).toMatchObject(
      missing,
    )
    expect((await at.call(other, 'GET', '/v2/auth/agents/agent/connections')).body).toEqual({ data: [] })
    const path = `/v2/auth/agents/agent/connections/${own.body.id}`
    expect((await at.call(other, 'DELETE', path)).status).toBe(404)
    expect((await at.call(other, 'GET', '/v2/auth/tokens')).body).toEqual([])
    expect((await at.call(other, 'GET', '/v2/auth/token-events')).body).toEqual([])
    expect((await at.call(other, 'GET', '/v2/auth/tokens/exists?provider_id=fake')).body).toEqual({
      has_token: false,
    })
    expect((await at.call(other, 'DELETE', '/v2/auth/tokens?provider_id=fake')).body).toEqual({
      message: 'Tokens deleted: 0.',
      provider_id: 'fake',
    })
    expect(await authenticate(at, other, { user_id: 'ann' })).toMatchObject({ status: 403 })
    expect(await authenticate(at, other, { ls_user_id: 'ann' })).toMatchObject({ status: 403 })
  }
  expect((await authenticate(at, ANN, { user_id: 'ann' })).body.token).toBe(`imported by ${ANN}`)
  for (const path of ['/v2/auth/tokens', '/v2/auth/providers', '/v2/auth/token-events'])
    expect((await at.call(null, 'GET', path)).status).toBe(401)
})

test('a backend that may act for its users gets their tokens, of its own tenant', async () => {
  const { at, provider } = await start({ mayActFor: ({ id }, user) => id === 'backend' && user !== 'root' })
  const begun = await authenticate(at, 'acme/backend', { user_id: 'ann' })
  expect(begun.body).toMatchObject({ status: 'pending', user_id: 'ann' })
  const { searchParams } = await provider.visit(begun.body.url)
  const answer = { code: searchParams.get('code'), state: searchParams.get('state') }
  expect((await at.call(BOB, 'POST', '/v2/auth/callback/fake', answer)).status).toBe(403)
  expect((await at.call(ANN, 'POST', '/v2/auth/callback/fake', answer)).status).toBe(200)
  const waited = await at.call('acme/backend', 'GET', `/v2/auth/wait/${begun.body.auth_id}`)
  expect(waited.body).toMatchObject({ status: 'completed', token: 'access-2' })
  expect((await authenticate(at, 'acme/backend', { user_id: 'ann' })).body.status).toBe('completed')
  expect((await authenticate(at, ANN)).body.token).toBe('access-2')
  expect((await authenticate(at, 'acme/backend')).body.status).toBe('pending')
  expect((await authenticate(at, 'acme/backend', { user_id: 'root' })).status).toBe(403)
  expect((await authenticate(at, 'other/backend', { user_id: 'ann' })).status).toBe(404)
})

test('authenticate tells apart what is there, what has expired and what has to be chosen', async () => {
  let now = Date.now()
  const { at } = await start({ now: () => now })
  const status = async (changes: object = {}) => (await authenticate(at, ANN, changes)).body.status
  expect(await status({ check_only: true })).toBe('connection_required')
  expect(await status()).toBe('pending')

  const first = await importToken(at, ANN, { expires_in_seconds: 100, metadata: { plan: 'pro' } })
  const { body } = await authenticate(at, ANN)
  expect(body).toMatchObject({
    status: 'completed',
    metadata: { plan: 'pro', token_id: first, scopes: ['read'], provider_account_label: null },
  })
  const checked = await authenticate(at, ANN, { check_only: true })
  expect(checked.body).toMatchObject({ status: 'completed', token: null, metadata: null })
  expect(await status({ scopes: ['read', 'write'] })).toBe('pending')
  expect(await status({ scopes: ['write'], check_only: true })).toBe('connection_required')
  expect(await status({ force_new: true })).toBe('pending')

  now += 100_000
  expect(await status()).toBe('pending')
  expect(await status({ check_only: true })).toBe('token_expired')
  expect((await authenticate(at, ANN, { token_id: first })).body).toMatchObject({
    status: 'token_expired',
    url: expect.stringMatching(/^http/),
    auth_id: expect.any(String),
  })

  const second = await importToken(at, ANN, { is_default: false, access_token: 'second' })
  expect((await authenticate(at, ANN, { token_id: second })).body.token).toBe('second')
  const connection = { oauth_token_id: second }
  await at.call(ANN, 'POST', '/v2/auth/agents/agent/connections', connection)
  expect((await authenticate(at, ANN, { agent_id: 'agent' })).body.token).toBe('second')
  expect(await status({ agent_id: 'other' })).toBe('pending')
  await at.call(ANN, 'PATCH', `/v2/auth/tokens/${first}/metadata`, { is_default: false })
  expect(await status()).toBe('connection_required')
  expect(await authenticate(at, ANN, { provider: 'none' })).toMatchObject({ status: 404 })
})

test('a new sign-in renews a token under its id, and force_new adds one', async () => {
  let now = Date.now()
  const { at, provider } = await start({ now: () => now })
  const first = await importToken(at, ANN, { expires_in_seconds: 10 })
  now += 10_000
  expect(await signIn(at, provider, ANN)).toBe(first)
  const second = await signIn(at, provider, ANN, { force_new: true, is_default: false })
  const { body } = await at.call(ANN, 'GET', '/v2/auth/tokens')
  expect(body.map(({ id, is_default }: { id: string; is_default: boolean }) => [id, is_default])).toEqual([
    [first, true],
    [second, false],
  ])
})

test('a refresh token that was refused is not sent again, and one that could not be sent is', async () => {
  let now = Date.now()
  const { at, provider } = await start({ now: () => now })
  await signIn(at, provider, ANN)
  now += 3_600_000
  let isDown = true
  let refusals = 0
  provider.answer('/token', (_, response) => {
    if (isDown) return void response.writeHead(503).end()
    refusals++
    response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"invalid_grant"}')
  })
  expect(await authenticate(at, ANN)).toMatchObject({
    status: 502,
    body: { detail: 'The provider responded with status 503.' },
  })
  isDown = false
  now += 1
  expect((await authenticate(at, ANN)).body.status).toBe('pending')
  expect((await authenticate(at, ANN, { check_only: true })).body.status).toBe('token_expired')
  expect(refusals).toBe(1)
  const { body } = await at.call(ANN, 'GET', '/v2/auth/token-events?limit=2')
  expect(body).toMatchObject([
    { event_type: 'token_refresh_failed', reason: 'invalid_grant' },
    { event_type: 'token_refresh_failed', reason: 'invalid_answer' },
  ])
})

test('a token is refreshed a minute before it expires, and keeps its refresh token where it gets no new one', async () => {
  let now = Date.now()
  const { at, provider } = await start({ now: () => now })
  await signIn(at, provider, ANN)
  now += 3_600_000 - 61_000
  expect((await authenticate(at, ANN)).body.token).toBe('access-2')
  now += 2_000
  const sent: (string | null)[] = []
  let lifetime = 1
  provider.answer('/token', (_, response) => {
    sent.push(provider.requests.at(-1)!.form.get('refresh_token'))
    const answer = { access_token: `again ${sent.length}`, token_type: 'bearer', expires_in: lifetime }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  })
  expect((await authenticate(at, ANN)).body.token).toBe('again 1')
  expect(sent).toEqual(['refresh-2'])
  lifetime = 0
  now += 1_000
  expect((await authenticate(at, ANN)).body.token).toBe('again 2')
  expect(sent).toEqual(['refresh-2', 'refresh-2'])
})

test('deleting a token revokes it, removes its connections and says what failed', async () => {
  const { at, provider } = await start()
  const id = await signIn(at, provider, ANN)
  const { body: connection } = await at.call(ANN, 'POST', '/v2/auth/agents/agent/connections', {
    oauth_token_id: id,
  })
  expect(connection).toMatchObject({
    agent_id: 'agent',
    oauth_token_id: id,
    provider_id: 'fake',
    scopes: ['read'],
    created_by: 'ann',
  })
  const same = await at.call(ANN, 'POST', '/v2/auth/agents/agent/connections', { oauth_token_id: id })
  expect(same).toMatchObject({ status: 201, body: { id: connection.id } })
  expect(await at.call(ANN, 'DELETE', `/v2/auth/tokens/${id}`)).toMatchObject({ status: 204, body: '' })
  expect(provider.revoked).toEqual(['refresh-2', 'access-2'])
  expect((await at.call(ANN, 'GET', '/v2/auth/agents/agent/connections')).body).toEqual({ data: [] })
  expect((await at.call(ANN, 'DELETE', `/v2/auth/tokens/${id}`)).status).toBe(404)

  await signIn(at, provider, ANN)
  provider.answer('/revoke', (_, response) => response.writeHead(503).end())
  const deleted = await at.call(ANN, 'DELETE', '/v2/auth/tokens?provider_id=fake')
  expect(deleted.body).toEqual({ message: 'Tokens deleted: 1.', provider_id: 'fake' })
  const { body } = await at.call(ANN, 'GET', '/v2/auth/token-events?provider_id=fake&limit=2')
  expect(body.map(({ event_type }: { event_type: string }) => event_type).sort()).toEqual([
    'token_deleted',
    'token_revocation_failed',
  ])
  expect((await at.call(ANN, 'GET', '/v2/auth/token-events?provider_id=none')).body).toEqual([])
})

test.each(['https://10.0.0.1/revoke', 'http://login.example.com/revoke', 'file:///etc/passwd'])(
  'a token is not sent to a revocation endpoint at %s',
  async (revocation_endpoint) => {
    const { at, provider } = await start()
    provider.metadata = { ...provider.metadata, revocation_endpoint }
    const id = await signIn(at, provider, ANN)
    expect((await at.call(ANN, 'DELETE', `/v2/auth/tokens/${id}`)).status).toBe(204)
    const { body } = await at.call(ANN, 'GET', '/v2/auth/token-events')
    expect(body).toContainEqual(
      expect.objectContaining({
        event_type: 'token_revocation_failed',
        detail: expect.stringContaining('revocation_endpoint'),
      }),
    )
    expect((await at.call(ANN, 'GET', '/v2/auth/tokens')).body).toEqual([])
    expect(at.errors).toEqual([])
  },
)

test('connections are removed by their id and agent', async () => {
  const { at } = await start()
  const token = { oauth_token_id: await importToken(at, ANN) }
  const { body } = await at.call(ANN, 'POST', '/v2/auth/agents/agent/connections', token)
  expect((await at.call(ANN, 'DELETE', `/v2/auth/agents/other/connections/${body.id}`)).status).toBe(404)
  expect((await at.call(ANN, 'DELETE', `/v2/auth/agents/agent/connections/${body.id}`)).status).toBe(204)
  expect((await at.call(ANN, 'GET', '/v2/auth/agents/agent/connections')).body).toEqual({ data: [] })
})

test('labels and the default change, and what is left out or null stays', async () => {
  const { at } = await start()
  const id = await importToken(at, ANN)
  const patch = async (body: object) =>
    (await at.call(ANN, 'PATCH', `/v2/auth/tokens/${id}/metadata`, body)).body
  expect(await patch({ provider_account_label: 'ann@example.com' })).toMatchObject({
    provider_account_label: 'ann@example.com',
    is_default: true,
  })
  expect(await patch({ provider_account_label: null, is_default: false })).toMatchObject({
    provider_account_label: 'ann@example.com',
    is_default: false,
  })
  const ids = { provider_ids: ['fake', 'none', '__proto__'] }
  const { body } = await at.call(ANN, 'POST', '/v2/auth/tokens/exists/batch', ids)
  expect(Object.entries(body.has_token)).toEqual([
    ['fake', true],
    ['none', false],
    ['__proto__', false],
  ])
})

test('Slack gives a token of its workspace beside the one of the user', async () => {
  const { at, provider } = await start({}, { provider_type: 'slack' })
  const bob = await authenticate(at, BOB)
  expect(bob.body.status).toBe('pending')
  provider.extra = {
    ok: true,
    access_token: 'bot token',
    token_type: 'bot',
    scope: 'read,chat:write',
    team: { id: 'T1', name: 'Team' },
    authed_user: { id: 'U1', scope: 'read', access_token: 'user token', token_type: 'user' },
  }
  expect((await at.call(BOB, 'GET', '/v2/auth/tokens/workspace/slack/exists')).body).toEqual({
    has_token: false,
  })
  await signIn(at, provider, ANN)
  expect((await authenticate(at, ANN)).body).toMatchObject({
    token: 'user token',
    metadata: { provider_account_label: 'Team', scopes: ['read'] },
  })
  expect((await at.call(BOB, 'GET', '/v2/auth/tokens/workspace/slack/exists')).body).toEqual({
    has_token: true,
  })
  expect((await at.call(EVE, 'GET', '/v2/auth/tokens/workspace/slack/exists')).body).toEqual({
    has_token: false,
  })
  expect((await authenticate(at, BOB)).body.token).toBe('bot token')
  expect((await authenticate(at, BOB, { scopes: ['admin'] })).body.status).toBe('pending')
  expect((await at.call(BOB, 'GET', '/v2/auth/tokens')).body).toEqual([])
  expect((await at.call(EVE, 'DELETE', '/v2/auth/tokens/workspace/slack')).status).toBe(404)
  expect((await at.call(BOB, 'DELETE', '/v2/auth/tokens/workspace/slack')).status).toBe(200)
  expect((await authenticate(at, BOB)).body.status).toBe('pending')

  provider.answer('/token', (_, response) =>
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end('{"ok":false,"error":"invalid_code"}'),
  )
  const { search } = await provider.visit((await authenticate(at, BOB)).body.url)
  const page = await at.call(null, 'GET', `/v2/auth/callback/fake${search}`)
  expect([page.status, page.body]).toEqual([400, expect.stringContaining('invalid_code')])
})

test('the name of the account is read from an ID token, which is not asked for otherwise', async () => {
  const { at, provider } = await start()
  const claims = Buffer.from(JSON.stringify({ email: 'änn@example.com' })).toString('base64url')
  provider.extra = { id_token: `x.${claims}.x`, refresh_token: null, scope: null }
  await signIn(at, provider, ANN)
  const { body } = await at.call(ANN, 'GET', '/v2/auth/tokens')
  expect(body).toMatchObject([{ provider_account_label: 'änn@example.com', scopes: ['read'] }])
})

test('a wait ends after its time, when the server closes, and at once where it is not to wait', async () => {
  const { at } = await start()
  const { body } = await authenticate(at, ANN)
  const wait = (timeout: string) => at.call(ANN, 'GET', `/v2/auth/wait/${body.auth_id}${timeout}`)
  expect((await wait('?timeout=0')).body.status).toBe('pending')
  expect((await wait('?timeout=-5')).body.status).toBe('pending')
  const began = performance.now()
  expect((await wait('?timeout=1')).body.status).toBe('timeout')
  expect(performance.now() - began).toBeGreaterThan(950)
  expect((await wait('?timeout=x')).status).toBe(422)
  const waiting = wait('')
  await wait('?timeout=0') // The one before has arrived.
  await at.close()
  expect((await waiting).body.status).toBe('pending')
})

test('an app that was installed is told so without any credentials', async () => {
  const { at, provider } = await start()
  const installed = await at.call(null, 'GET', '/v2/auth/setup/fake?installation_id=7&setup_action=install')
  expect([installed.status, installed.body]).toEqual([200, expect.stringContaining('The app is installed')])
  const requested = await at.call(null, 'GET', '/v2/auth/setup/fake?setup_action=request')
  expect(requested.body).toContain('has to approve')
  const { search } = await provider.visit((await authenticate(at, ANN)).body.url)
  const signedIn = await at.call(null, 'GET', `/v2/auth/setup/fake${search}&installation_id=7`)
  expect(signedIn.body).toContain('You are signed in')
  expect((await authenticate(at, ANN)).body.status).toBe('completed')
})

test('without the option every operation answers that the service is not enabled', async () => {
  const api = createApi({
    operations: { below: ['/v2'], load: async () => authOperations },
    context: { auth: undefined, onError() {} } as unknown as ControlPlaneContext,
  })
  for (const path of [
    '/v2/auth/tokens',
    '/v2/auth/providers',
    '/v2/auth/callback/x',
    '/v2/auth/setup/x',
    '/v2/auth/wait/x',
  ]) {
    const response = await api.fetch(new Request(`http://host${path}`))
    expect(response.status).toBe(403)
    expect(await response.text()).toContain('not enabled')
  }
})
