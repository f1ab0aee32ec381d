import { describe, expect, test } from 'vitest'
import type { TokenRecord } from '../../../src/control-plane/auth/records.ts'
import { DATABASES } from '../../kit/databases.ts'
import { ANN, addProvider, authenticate, BOB, EVE, plane } from './control-plane.ts'
import { fakeProvider } from './fake-provider.ts'

describe.each(Object.keys(DATABASES))('over %s', (name) => {
  test('a sign-in that one instance begins and another one ends is told to whoever waits at a third', async () => {
    const open = await DATABASES[name]!()
    const publicUrl = 'https://control.example.com/base'
    const [one, two, three] = [
      await plane({ store: (await open()).store, publicUrl }),
      await plane({ store: (await open()).store, publicUrl }),
      await plane({ store: (await open()).store, publicUrl }),
    ]
    const provider = await fakeProvider()
    await addProvider(one, provider.origin)

    const begun = await authenticate(one, ANN, { agent_id: 'agent' })
    expect(begun).toMatchObject({
      status: 200,
      body: { status: 'pending', token: null, user_id: 'ann', metadata: null },
    })
    expect(begun.headers.get('cache-control')).toBe('no-store')
    const { url, auth_id } = begun.body
    expect(Object.fromEntries(new URL(url).searchParams)).toEqual({
      response_type: 'code',
      client_id: 'client',
      redirect_uri: `${publicUrl}/v2/auth/callback/fake`,
      scope: 'read',
      state: expect.stringMatching(/^[\w.-]+$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    })

    const waiting = three.call(ANN, 'GET', `/v2/auth/wait/${auth_id}?timeout=20`)
    const back = await provider.visit(url)
    expect(back.href).toMatch(/^https:\/\/control.example.com\/base\/v2\/auth\/callback\/fake\?code=/)
    const page = await two.call(null, 'GET', `/v2/auth/callback/fake${back.search}`)
    expect(page).toMatchObject({ status: 200, body: expect.stringContaining('You are signed in') })
    const waited = await waiting
    expect(waited.body).toEqual({ status: 'completed', token: 'access-2', error: null })
    expect(waited.headers.get('cache-control')).toBe('no-store')

    const again = await authenticate(three, ANN)
    expect(again.body).toMatchObject({ status: 'completed', token: 'access-2', url: null, auth_id: null })
    const { body: summaries } = await two.call(ANN, 'GET', '/v2/auth/tokens?provider_id=fake')
    expect(summaries).toEqual([
      {
        id: again.body.metadata.token_id,
        provider_id: 'fake',
        provider_account_label: null,
        scopes: ['read'],
        expires_at: expect.stringMatching(/^\d{4}-.*Z$/),
        is_default: true,
        created_at: expect.any(String),
        updated_at: expect.any(String),
      },
    ])
    for (const other of [BOB, EVE]) expect((await two.call(other, 'GET', '/v2/auth/tokens')).body).toEqual([])
    for (const { errors } of [one, two, three]) expect(errors).toEqual([])
  })

  test('of two callbacks at once, one wins, and the code is traded once', async () => {
    const open = await DATABASES[name]!()
    const one = await plane({ store: (await open()).store })
    const two = await plane({ store: (await open()).store, publicUrl: one.origin })
    const provider = await fakeProvider()
    await addProvider(one, provider.origin)
    const { body } = await authenticate(one, ANN)
    const { search } = await provider.visit(body.url)
    const answers = await Promise.all(
      [one, two, one, two].map((at) => at.call(null, 'GET', `/v2/auth/callback/fake${search}`)),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400])
    expect(provider.requests.filter(({ path }) => path === '/token')).toHaveLength(1)
    expect((await one.call(ANN, 'GET', '/v2/auth/tokens')).body).toHaveLength(1)
  })

  test('an expired token is refreshed once, however many instances need it', async () => {
    const open = await DATABASES[name]!()
    const one = await plane({ store: (await open()).store })
    const two = await plane({ store: (await open()).store, publicUrl: one.origin })
    const provider = await fakeProvider()
    await addProvider(one, provider.origin)
    provider.expiresIn = 1
    const { body } = await authenticate(one, ANN)
    const { search } = await provider.visit(body.url)
    await one.call(null, 'GET', `/v2/auth/callback/fake${search}`)
    provider.expiresIn = 3_600

    const answers = await Promise.all([one, two, one, two, one].map((at) => authenticate(at, ANN)))
    expect(answers.map((answer) => answer.body)).toEqual(
      answers.map(() => expect.objectContaining({ status: 'completed', token: 'access-3' })),
    )
    expect(provider.requests.filter(({ form }) => form.get('grant_type') === 'refresh_token')).toHaveLength(1)
    const { body: events } = await two.call(ANN, 'GET', '/v2/auth/token-events')
    expect(events.map(({ event_type }: { event_type: string }) => event_type)).toEqual([
      'token_refreshed',
      'token_created',
    ])
  })

  test('one token of a provider is the default, also when two are made it at once', async () => {
    const open = await DATABASES[name]!()
    const one = await plane({ store: (await open()).store })
    const two = await plane({ store: (await open()).store })
    await addProvider(one, 'https://login.example.com')
    const tokens = await Promise.all(
      [one, two, one, two].map(async (at, index) => {
        const token = { provider_id: 'fake', access_token: `token ${index}`, scopes: ['read'] }
        return (await at.call(ANN, 'POST', '/v2/auth/tokens/import', token)).body.token_id as string
      }),
    )
    const defaults = async () =>
      (await two.call(ANN, 'GET', '/v2/auth/tokens')).body
        .filter((token: { is_default: boolean }) => token.is_default)
        .map(({ id }: { id: string }) => id)
    expect(await defaults()).toHaveLength(1)
    await Promise.all(
      tokens.map((id, index) =>
        [one, two][index % 2]!.call(ANN, 'PATCH', `/v2/auth/tokens/${id}/metadata`, { is_default: true }),
      ),
    )
    expect(await defaults()).toHaveLength(1)
    const [chosen] = await defaults()
    const cleared = await one.call(ANN, 'PATCH', `/v2/auth/tokens/${chosen}/metadata`, { is_default: false })
    expect(cleared.body).toMatchObject({ id: chosen, is_default: false })
    expect(await defaults()).toEqual([])
    expect((await authenticate(one, ANN)).body.status).toBe('connection_required')
  })

  test('what is stored has no value of a token, of a client secret or of a code verifier', async () => {
    const { store } = await (await DATABASES[name]!())()
    const at = await plane({ store })
    const provider = await fakeProvider()
    await addProvider(at, provider.origin)
    const { body } = await authenticate(at, ANN)
    const { search } = await provider.visit(body.url)
    const flows = JSON.stringify(await store.list('oauth-flows'))
    await at.call(null, 'GET', `/v2/auth/callback/fake${search}`)
    const verifier = provider.requests.find(({ path }) => path === '/token')!.form.get('code_verifier')!
    expect(verifier.length).toBeGreaterThan(42)
    expect(flows).not.toContain(verifier)
    const { docs } = await store.list('oauth-tokens')
    expect((docs[0]!.value as unknown as TokenRecord).secrets.map(({ name }) => name)).toEqual([
      'access_token',
      'refresh_token',
    ])
    for (const collection of ['providers', 'tokens', 'flows', 'events', 'defaults'])
      expect(JSON.stringify(await store.list(`oauth-${collection}`))).not.toMatch(
        /access-\d|refresh-\d|client secret/,
      )
  })
})
