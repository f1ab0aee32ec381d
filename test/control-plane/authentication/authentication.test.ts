import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { verifyJwt } from '../../../src/control-plane/api/authentication/jwt.ts'
import { apiKeys, bearer, type Caller, either } from '../../../src/control-plane/index.ts'
import { GITHUB, serve } from '../support/served.ts'

const TENANT = '5f0c7d0e-1c2f-4a5b-8c9d-0123456789ab'
const OTHER = '6f0c7d0e-1c2f-4a5b-8c9d-0123456789ab'

const keys = apiKeys({
  simple: { id: 'ann' },
  bound: { id: 'ci', tenant: TENANT },
  wide: { id: 'boss', tenants: [TENANT, OTHER] },
})

const list = (headers: Readonly<Record<string, string>>, authenticate = keys) =>
  serve({ authenticate }).ask('GET', '/v2/deployments', undefined, headers)

describe('an API key', () => {
  test.each([
    [{ 'x-api-key': 'simple' }],
    [{ 'X-Api-Key': ' simple ' }],
    [{ 'x-api-key': 'simple', 'x-tenant-id': OTHER }],
    [{ 'x-api-key': 'bound' }],
    [{ 'x-api-key': 'bound', 'X-Tenant-ID': TENANT }],
    [{ 'x-api-key': 'bound', 'x-tenant-id': TENANT.toUpperCase() }],
    [{ 'x-api-key': 'wide', 'x-tenant-id': OTHER }],
  ])('lets in %j', async (headers) => {
    expect((await list(headers)).status).toBe(200)
  })

  test.each([
    [{}],
    [{ 'x-api-key': '' }],
    [{ 'x-api-key': 'wrong' }],
    [{ 'x-api-key': 'toString' }],
    [{ 'x-api-key': '__proto__' }],
    [{ authorization: 'Bearer simple' }],
  ])('is missing or wrong in %j', async (headers) => {
    const { status, body, headers: answered } = await list(headers)
    expect([status, body]).toEqual([401, { detail: 'This request needs valid credentials.' }])
    expect(answered.get('www-authenticate')).toBe('Bearer')
  })

  test('of several workspaces needs to be told which', async () => {
    const { status, body } = await list({ 'x-api-key': 'wide' })
    expect(status).toBe(403)
    expect(body.detail).toContain('requires workspace specification')
  })

  test.each(['bound', 'wide'])('%s is not valid for other workspaces', async (key) => {
    const other = '7f0c7d0e-1c2f-4a5b-8c9d-0123456789ab'
    const { status, body } = await list({ 'x-api-key': key, 'x-tenant-id': other })
    expect(status).toBe(403)
    expect(body.detail).not.toContain(TENANT)
  })

  test('must not be empty', () => {
    expect(() => apiKeys({ ' ': { id: 'ann' } })).toThrow(/must not be empty/)
  })
})

test('deployments belong to the workspace, whose id they answer', async () => {
  const served = serve({ authenticate: keys })
  const ask = (method: string, headers: Readonly<Record<string, string>>, body?: unknown) =>
    served.ask(method, '/v2/deployments', body, headers)
  const wide = { 'x-api-key': 'wide', 'x-tenant-id': TENANT }
  const { body } = await ask('POST', wide, GITHUB)
  expect(body.tenant_id).toBe(TENANT)
  expect((await ask('GET', { 'x-api-key': 'bound' })).body.resources).toHaveLength(1)
  expect((await ask('GET', { ...wide, 'x-tenant-id': OTHER })).body.resources).toHaveLength(0)
  expect((await ask('GET', { 'x-api-key': 'simple' })).body.resources).toHaveLength(0)
})

test('a bearer token is what the server says it is', async () => {
  const verify = vi.fn((token: string): Caller | null => (token === 'good' ? { id: 'ann' } : null))
  const authenticate = bearer(verify)
  expect((await list({ authorization: 'Bearer good' }, authenticate)).status).toBe(200)
  expect((await list({ authorization: 'bearer  good' }, authenticate)).status).toBe(200)
  expect((await list({ authorization: 'Bearer bad' }, authenticate)).status).toBe(401)
  const calls = verify.mock.calls.length
  for (const authorization of ['Basic good', 'Bearer', 'Bearer a b', 'good'])
    expect((await list({ authorization }, authenticate)).status).toBe(401)
  expect(verify.mock.calls).toHaveLength(calls)
})

test('either of two ways lets in, and the document tells both', async () => {
  const authenticate = either(
    keys,
    bearer((token) => (token === 'good' ? { id: 'ann' } : null)),
  )
  expect((await list({ authorization: 'Bearer good' }, authenticate)).status).toBe(200)
  expect((await list({ 'x-api-key': 'simple' }, authenticate)).status).toBe(200)
  expect((await list({ 'x-api-key': 'wrong', authorization: 'Bearer good' }, authenticate)).status).toBe(200)
  expect((await list({ 'x-api-key': 'wide', authorization: 'Bearer good' }, authenticate)).status).toBe(403)
  expect((await list({}, authenticate)).status).toBe(401)
  expect(Object.keys(authenticate.schemes!)).toEqual(['ApiKey', 'BearerAuth'])
})

describe('a JSON Web Token', () => {
  const ISSUER = 'https://issuer.test'
  const AUDIENCE = 'agentwire'

  async function issuer() {
    const { privateKey, publicKey } = await generateKeyPair('ES256')
    const sign = (claims: Record<string, unknown>, key = privateKey, exp: number | string = '1h') =>
      new SignJWT({ iss: ISSUER, aud: AUDIENCE, ...claims })
        .setProtectedHeader({ alg: 'ES256', kid: 'one' })
        .setIssuedAt()
        .setExpirationTime(exp)
        .sign(key)
    return { sign, publicKey }
  }

  test('is verified with a key', async () => {
    const { sign, publicKey } = await issuer()
    const verify = verifyJwt({ key: publicKey, issuer: ISSUER, audience: AUDIENCE })
    expect(await verify(await sign({ sub: 'ann', role: 'x' }))).toMatchObject({ id: 'ann', role: 'x' })
    // Claims of the token choose no tenant, unless the server says which one does.
    expect(await verify(await sign({ sub: 'ann', tenant: TENANT, tenants: [TENANT] }))).not.toMatchObject({
      tenant: TENANT,
    })
    const { privateKey: foreign } = await generateKeyPair('ES256')
    const wrong = [
      sign({ sub: 'ann', iss: 'https://other.test' }),
      sign({ sub: 'ann', aud: 'other' }),
      sign({ sub: 'ann' }, foreign),
      sign({ sub: 'ann' }, undefined, Math.floor(Date.now() / 1000) - 60),
      sign({}),
      sign({ sub: '' }),
      'nonsense',
      `${btoa('{"alg":"none"}')}.${btoa('{"sub":"ann"}')}.`,
    ]
    for (const token of wrong) expect(await verify(await token)).toBeNull()
  })

  test.each(['ES256', 'ES384', 'ES512', 'RS256', 'PS384', 'EdDSA', 'HS256'])(
    'with an algorithm that does not fit a key of %s is refused',
    async (alg) => {
      const secret = crypto.getRandomValues(new Uint8Array(64))
      const { privateKey, publicKey } =
        alg === 'HS256'
          ? { privateKey: secret, publicKey: secret }
          : await generateKeyPair(alg, { extractable: true })
      const { alg: _, ...webKey } = await exportJWK(publicKey)
      const claims = { iss: ISSUER, aud: AUDIENCE, sub: 'ann' }
      const token = await new SignJWT(claims)
        .setProtectedHeader({ alg })
        .setExpirationTime('1h')
        .sign(privateKey)
      for (const key of [publicKey, { ...webKey, kty: webKey.kty! }]) {
        const verify = verifyJwt({ key, issuer: ISSUER, audience: AUDIENCE })
        expect(await verify(token)).toMatchObject({ id: 'ann' })
        for (const other of [
          'none',
          'ES256',
          'ES384',
          'RS256',
          'PS256',
          'EdDSA',
          'Ed25519',
          'HS256',
          'HS384',
          'foo',
        ])
          expect(await verify(forged(other, claims))).toBeNull()
      }
    },
  )

  function forged(alg: string, claims: object) {
    const [header, payload] = [{ alg }, { ...claims, exp: 9_999_999_999 }].map((part) =>
      btoa(JSON.stringify(part)).replaceAll('=', ''),
    )
    return `${header}.${payload}.${'A'.repeat(86)}`
  }

  test('names its tenant, or its tenants', async () => {
    const { sign, publicKey } = await issuer()
    const verify = verifyJwt({ key: publicKey, issuer: ISSUER, audience: AUDIENCE, tenantClaim: 'org' })
    expect(await verify(await sign({ sub: 'ann', org: TENANT }))).toMatchObject({ id: 'ann', tenant: TENANT })
    expect(await verify(await sign({ sub: 'ann', org: [TENANT] }))).toMatchObject({ tenants: [TENANT] })
    for (const org of [undefined, '', 5, [5], ['']])
      expect(await verify(await sign({ sub: 'ann', org }))).toBeNull()
  })

  test('is verified with the keys of a URL, and one that cannot be reached is our fault', async () => {
    const { sign, publicKey } = await issuer()
    let isUp = true
    const jwk = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'ES256' }
    const server = createServer((_, response) => {
      response.writeHead(isUp ? 200 : 500, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ keys: [jwk] }))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const jwksUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks`
    const token = await sign({ sub: 'ann' })
    expect(await verifyJwt({ jwksUrl, issuer: ISSUER, audience: AUDIENCE })(token)).toMatchObject({
      id: 'ann',
    })
    isUp = false
    const errors: unknown[] = []
    const authenticate = bearer(verifyJwt({ jwksUrl, issuer: ISSUER, audience: AUDIENCE }))
    const served = serve({ authenticate, onError: (error) => errors.push(error) })
    const { status } = await served.ask('GET', '/v2/deployments', undefined, {
      authorization: `Bearer ${token}`,
    })
    expect([status, errors.length]).toEqual([500, 1])
  })

  test('needs a key or a URL, and not both', () => {
    const options = { issuer: ISSUER, audience: AUDIENCE }
    expect(() => verifyJwt(options)).toThrow(/either jwksUrl or key/)
    expect(() => verifyJwt({ ...options, jwksUrl: 'https://x.test', key: new Uint8Array(32) })).toThrow(
      /either/,
    )
  })
})
