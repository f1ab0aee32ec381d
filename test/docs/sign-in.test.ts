/** The sign-in services of `docs/sign-in.md`: their own libraries, in front of an agent behind a real socket. */
import { once } from 'node:events'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { Client } from '@langchain/langgraph-sdk'
import { exportJWK, exportSPKI, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import { agents } from '../../docs/snippets/kit/agents.ts'
import { Auth, Credentials, encode } from '../../docs/snippets/kit/auth-js.ts'
import type { Authenticate } from '../../src/index.ts'
import { request } from '../kit/client.ts'
import { type Host, serveAgents } from '../kit/host.ts'
import { freePort, type Listening, openServer } from '../kit/listen.ts'
import { type Program, startProgram, typescript } from '../kit/program.ts'
import { eventually } from '../kit/wait.ts'
import { root } from '../package/package.ts'
import { read } from './fences.ts'

type Headers = Readonly<Record<string, string>>

/** Makes what a signed-in user sends. A negative lifetime has passed already. */
type SignIn = (id: string, seconds: number) => Promise<Headers>

const bearer = (token: string): Headers => ({ authorization: `Bearer ${token}` })
const now = (): number => Math.floor(Date.now() / 1000)
const SECRET = 'a-secret-of-at-least-32-characters'

const keys = await generateKeyPair('RS256')
const otherKeys = await generateKeyPair('RS256')

const tokenOf = (claims: JWTPayload, seconds: number, { privateKey } = keys): Promise<string> =>
  new SignJWT({ ...claims, iat: now() - 100, exp: now() + seconds })
    .setProtectedHeader({ alg: 'RS256', kid: 'key', typ: 'JWT' })
    .sign(privateKey)

/** Publishes the public key where Supabase and where most others do. */
let issuer: Listening
let isAway = false
beforeAll(async () => {
  const jwk = {
    ...(await exportJWK(keys.publicKey)),
    kid: 'key',
    alg: 'RS256',
    use: 'sig',
    key_ops: ['verify'],
  }
  issuer = await openServer(
    createServer((req, res) => {
      const found = !isAway && /^(\/auth\/v1)?\/\.well-known\/jwks\.json$/.test(req.url!)
      res.writeHead(found ? 200 : 503, { 'content-type': 'application/json' })
      res.end(JSON.stringify(found ? { keys: [jwk] } : { message: 'away' }))
    }),
  )
  vi.stubEnv('JWT_ISSUER', `${issuer.origin}/`)
  vi.stubEnv('JWT_AUDIENCE', 'agents')
  vi.stubEnv('AUTH_SECRET', SECRET)
  vi.stubEnv('CLERK_JWT_KEY', await exportSPKI(keys.publicKey))
  vi.stubEnv('SUPABASE_URL', issuer.origin)
  vi.stubEnv('SUPABASE_PUBLISHABLE_KEY', 'sb_publishable_none')
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await issuer.close()
})

const jwtClaims = (id: string) => ({ sub: id, iss: `${issuer.origin}/`, aud: 'agents' })
const clerkClaims = (id: string) => ({ sub: id, azp: 'https://app.example.com', sid: 'sess_1' })
const supabaseClaims = (id: string) => ({ sub: id, role: 'authenticated', aud: 'authenticated' })
const authCookie = async (id: string, seconds: number, secret = SECRET): Promise<Headers> => {
  const token = await encode({ token: { sub: id }, secret, salt: 'authjs.session-token', maxAge: seconds })
  return { cookie: `authjs.session-token=${token}` }
}

interface Service {
  readonly name: string
  load(): Promise<{ readonly authenticate: Authenticate }>
  readonly signIn: SignIn
  /** What others could have made. */
  readonly forged: () => Promise<readonly Headers[]>
}

const SERVICES: readonly Service[] = [
  {
    name: 'jwt',
    load: () => import('../../docs/snippets/sign-in/jwt.ts'),
    signIn: async (id, seconds) => bearer(await tokenOf(jwtClaims(id), seconds)),
    forged: async () => [
      bearer(await tokenOf(jwtClaims('ada'), 60, otherKeys)),
      bearer(await tokenOf({ ...jwtClaims('ada'), aud: 'another API' }, 60)),
      bearer(await tokenOf({ ...jwtClaims('ada'), iss: 'https://evil.example/' }, 60)),
      bearer(await tokenOf({ iss: `${issuer.origin}/`, aud: 'agents' }, 60)),
    ],
  },
  {
    name: 'clerk',
    load: () => import('../../docs/snippets/sign-in/clerk.ts'),
    signIn: async (id, seconds) => bearer(await tokenOf(clerkClaims(id), seconds)),
    forged: async () => [
      bearer(await tokenOf(clerkClaims('ada'), 60, otherKeys)),
      bearer(await tokenOf({ ...clerkClaims('ada'), azp: 'https://evil.example' }, 60)),
    ],
  },
  {
    name: 'supabase',
    load: () => import('../../docs/snippets/sign-in/supabase.ts'),
    signIn: async (id, seconds) => bearer(await tokenOf(supabaseClaims(id), seconds)),
    forged: async () => [
      bearer(await tokenOf(supabaseClaims('ada'), 60, otherKeys)),
      bearer(await tokenOf({ role: 'anon' }, 60)),
    ],
  },
  {
    name: 'auth-js',
    load: () => import('../../docs/snippets/sign-in/auth-js.ts'),
    signIn: authCookie,
    forged: async () => [await authCookie('ada', 60, 'another-secret-of-32-characters!')],
  },
]

const statusOf = async (
  { origin }: Pick<Host, 'origin'>,
  headers: Headers,
  path = '/threads/none/state',
): Promise<number> => (await request(origin, 'GET', path, undefined, headers)).status

// First, because the services keep the keys that they have loaded.
test.each(['jwt', 'supabase'])(
  '%s: keys that cannot be loaded are an error of the server, not of its user',
  async (name) => {
    const { load, signIn } = SERVICES.find((service) => service.name === name)!
    const host = await serveAgents({ agents, ...(await load()) })
    isAway = true
    expect(await statusOf(host, await signIn('ada', 60))).toBe(500)
    expect(host.errors.splice(0)).toHaveLength(1)
    isAway = false
    expect(await statusOf(host, await signIn('ada', 60))).toBe(404)
  },
)

describe.each(SERVICES)('$name', ({ load, signIn, forged }) => {
  const serveSignedIn = async () => serveAgents({ agents, ...(await load()) })

  test('a signed-in user has a thread, which is unknown to another', async () => {
    const host = await serveSignedIn()
    const ada = await signIn('ada', 60)
    const { body } = await request(host.origin, 'POST', '/threads', {}, ada)
    const path = `/threads/${body.thread_id}`
    expect(await statusOf(host, ada, path)).toBe(200)
    expect(await statusOf(host, await signIn('bob', 60), path)).toBe(404)
    expect(await statusOf(host, {}, path)).toBe(401)
  })

  test('an expired, a forged and a malformed sign-in are nobody', async () => {
    const host = await serveSignedIn()
    expect(await statusOf(host, await signIn('ada', -60))).toBe(401)
    for (const headers of await forged()) expect(await statusOf(host, headers)).toBe(401)
    for (const token of ['', 'a', 'a.b.c', 'e30.e30.e30', '%', `${'a'.repeat(5000)}`])
      expect(await statusOf(host, bearer(token)), token).toBe(401)
    expect(await statusOf(host, { cookie: 'authjs.session-token=a.b.c.d.e; __session=a.b.c' })).toBe(401)
    expect(await statusOf(host, await signIn('ada', 60))).toBe(404)
  })
})

describe('a page', () => {
  test('asks for a token with each request, and streams', async () => {
    const { withToken } = await import('../../docs/snippets/sign-in/page-token.tsx')
    const { origin } = await serveAgents({ agents, ...(await SERVICES[0]!.load()) })
    const getToken = vi.fn(() => tokenOf(jwtClaims('ada'), 60))
    const { fetch, callerOptions } = withToken(getToken)
    const client = new Client({ apiUrl: origin, callerOptions })
    const thread = client.threads.stream({ assistantId: 'agent', fetch })
    await thread.run.start({ input: { messages: [{ type: 'human', content: 'Hello' }] } })
    expect(await thread.output).toMatchObject({ messages: [{}, { content: 'Hello there' }] })
    await thread.close()
    getToken.mockClear()
    await client.threads.get(thread.threadId)
    expect(getToken).toHaveBeenCalledOnce()
  })

  test('offers its token to a web socket as a subprotocol', async () => {
    const { origin } = await serveAgents({ agents, ...(await SERVICES[0]!.load()) })
    const token = await tokenOf(jwtClaims('ada'), 60)
    const client = new Client({ apiUrl: origin })
    const thread = client.threads.stream({
      assistantId: 'agent',
      transport: 'websocket',
      webSocketFactory: (url) => new WebSocket(url, [`bearer.${encodeURIComponent(token)}`]) as never,
    })
    await thread.run.start({ input: { messages: [{ type: 'human', content: 'Hello' }] } })
    expect(await thread.output).toMatchObject({ messages: [{}, { content: 'Hello there' }] })
    await thread.close()
    expect(await statusOf({ origin }, bearer(token), `/threads/${thread.threadId}`)).toBe(200)
  })

  test('opens a web socket with its cookie, and a page of another origin opens none', async () => {
    const { origin } = await serveAgents({ agents, ...(await SERVICES[3]!.load()) })
    const cookie = await authCookie('ada', 60)
    const opened = async (headers: Headers): Promise<unknown> => {
      const socket = new WebSocket(`${origin}/threads/new/stream/events`, { headers })
      const outcome = await Promise.race([once(socket, 'open').then(() => 'open'), once(socket, 'error')])
      socket.terminate()
      return outcome
    }
    expect(await opened({ ...cookie, origin })).toBe('open')
    expect(await opened({ ...cookie, origin: 'https://evil.example' })).toEqual([
      new Error('Unexpected server response: 403'),
    ])
  })
})

test('auth-js: the cookie of a sign-in at its own routes names a user whose id stays', async () => {
  const { authenticate } = await import('../../docs/snippets/sign-in/auth-js.ts')
  const { callbacks } = await import('../../docs/snippets/sign-in/auth-js-callbacks.ts')
  const authorize = ({ name }: Partial<Record<string, unknown>>) => ({ id: String(name) })
  const providers = [Credentials({ credentials: { name: {} }, authorize })]
  const config = { secret: SECRET, trustHost: true, basePath: '/auth', providers, callbacks }
  const cookiesOf = ({ headers }: Response) => headers.getSetCookie().map((one) => one.split(';')[0]!)
  const csrf = await Auth(new Request('http://localhost/auth/csrf'), config)
  const { csrfToken } = await csrf.clone().json()
  const signedIn = await Auth(
    new Request('http://localhost/auth/callback/credentials', {
      method: 'POST',
      headers: { cookie: cookiesOf(csrf).join('; ') },
      body: new URLSearchParams({ csrfToken, name: 'ada' }),
    }),
    config,
  )
  const cookie = cookiesOf(signedIn).join('; ')
  expect(await authenticate(new Request('http://localhost', { headers: { cookie } }))).toMatchObject({
    id: 'credentials:ada',
  })
})

/** What a browser keeps of a response. */
const cookiesOf = ({ headers }: Response): string =>
  headers
    .getSetCookie()
    .map((one) => one.split(';')[0])
    .join('; ')

describe.each(['express-session', 'passport', 'fastify-session', 'hono-session'])('%s', (name) => {
  // Below docs, whose packages they use.
  const folder = join(root, `docs/.tmp/${name}-${process.pid}`)
  let origin: string
  let program: Program

  beforeAll(async () => {
    const port = await freePort()
    origin = `http://localhost:${port}`
    mkdirSync(folder, { recursive: true })
    const [, code] = /\/\/ #region [^\n]*\n(.*)\/\/ #endregion/s.exec(
      read(`docs/snippets/sign-in/${name}.ts`),
    )!
    const file = join(folder, 'server.ts')
    writeFileSync(file, code!.replace('3000', `${port}`))
    const env = { ...process.env, SESSION_SECRET: SECRET, PASSWORD: 'open' }
    program = startProgram('node', typescript(file.slice(root.length)), env)
    await eventually(() =>
      fetch(`${origin}/agents/ok`).then(
        ({ ok }) => ok,
        () => false,
      ),
    )
  })
  afterAll(() => {
    program.child.kill()
    rmSync(folder, { recursive: true, force: true })
  })

  const post = (path: string, body: object, headers: Headers = {}) =>
    fetch(`${origin}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
  async function signIn(user: string): Promise<Headers> {
    const response = await post('/login', { name: user, username: user, password: 'open' })
    expect(response.status).toBe(204)
    return { cookie: cookiesOf(response) }
  }

  test('users sign in on the server of the page, own their threads, and sign out', async () => {
    const ada = await signIn('ada')
    const bob = await signIn('bob')
    const client = new Client({ apiUrl: `${origin}/agents`, defaultHeaders: { ...ada } })
    const { thread_id } = await client.threads.create()
    const input = { messages: [{ type: 'human', content: 'Hello' }] }
    expect(await client.runs.wait(thread_id, 'agent', { input })).toMatchObject({
      messages: [{}, { content: 'Hello ada' }],
    })
    const path = `/agents/threads/${thread_id}`
    expect(await statusOf({ origin }, ada, path)).toBe(200)
    expect(await statusOf({ origin }, bob, path)).toBe(404)
    expect(await statusOf({ origin }, {}, path)).toBe(401)
    const [forged] = ada.cookie!.split('.')
    expect(await statusOf({ origin }, { cookie: `${forged}.${'A'.repeat(43)}` }, path)).toBe(401)
    const signedOut = await post('/logout', {}, ada)
    expect(signedOut.status).toBeLessThan(300)
    const after = cookiesOf(signedOut) || ada.cookie!
    expect(await statusOf({ origin }, { cookie: after }, path)).toBe(401)
  })

  test.skipIf(name === 'passport')('a web socket has the same session', async () => {
    const opened = async (headers: Headers) => {
      const socket = new WebSocket(`${origin}/agents/threads/new/stream/events`, { headers })
      const outcome = await once(socket, 'open').then(
        () => 'open',
        (error: Error) => error.message,
      )
      socket.terminate()
      return outcome
    }
    expect(await opened(await signIn('ada'))).toBe('open')
    expect(await opened({})).toBe('Unexpected server response: 401')
  })
})

describe('next', () => {
  test('the session of the proxy is that of the agents', async () => {
    vi.stubEnv('SESSION_SECRET', SECRET)
    const { sessionOf } = await import('../../docs/snippets/sign-in/next/session.ts')
    const { proxy } = await import('../../docs/snippets/sign-in/next/proxy.ts')
    const { GET, POST } = await import('../../docs/snippets/sign-in/next/app/agents/[[...path]]/route.ts')
    const { NextRequest } = await import('next/server')
    const ask = (path: string, cookie: string, init: object = {}) =>
      new NextRequest(`http://localhost${path}`, { headers: { cookie }, ...init })
    const ada = `session=${await sessionOf('ada')}`
    const bob = `session=${await sessionOf('bob')}`
    const created = await POST(ask('/agents/threads', ada, { method: 'POST' }))
    const { thread_id } = await created.json()
    const path = `/agents/threads/${thread_id}`
    expect((await GET(ask(path, ada))).status).toBe(200)
    expect((await GET(ask(path, bob))).status).toBe(404)
    expect((await proxy(ask('/chat', ada))).headers.get('x-middleware-next')).toBe('1')
    for (const cookie of ['', 'session=', `${ada}x`]) {
      expect((await GET(ask(path, cookie))).status).toBe(401)
      expect((await proxy(ask('/chat', cookie))).headers.get('location')).toBe('http://localhost/login')
    }
  })
})

describe('better-auth', () => {
  // Below docs, whose packages they use.
  const folder = join(root, `docs/.tmp/sign-in-${process.pid}`)
  let origin: string
  let program: Program

  /** What a reader has pasted, on another port. */
  function paste(name: string): string {
    const [, code] = /\/\/ #region [^\n]*\n(.*)\/\/ #endregion/s.exec(read(`docs/snippets/sign-in/${name}`))!
    writeFileSync(join(folder, name), code!.replace('3000', new URL(origin).port))
    return `${folder.slice(root.length)}/${name}`
  }

  beforeAll(async () => {
    origin = `http://localhost:${await freePort()}`
    mkdirSync(folder, { recursive: true })
    paste('better-auth.ts')
    const env = { ...process.env, BETTER_AUTH_SECRET: SECRET }
    program = startProgram('node', typescript(paste('better-auth-server.ts')), env)
    await program.output(/localhost/)
  })
  afterAll(() => {
    program.child.kill()
    rmSync(folder, { recursive: true, force: true })
  })

  /** Sends what a page of this origin sends, and gives what a browser keeps. */
  const post = (path: string, body: object, headers: Headers = {}): Promise<Response> =>
    fetch(`${origin}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin, 'sec-fetch-site': 'same-origin', ...headers },
      body: JSON.stringify(body),
    })
  const signUp = async (email: string): Promise<Headers> => {
    const response = await post('/api/auth/sign-up/email', {
      email,
      password: 'a long password',
      name: email,
    })
    expect(response.status).toBe(200)
    return {
      cookie: response.headers
        .getSetCookie()
        .map((one) => one.split(';')[0])
        .join('; '),
    }
  }

  test('users sign up on the server of the page, own their threads, and sign out', async () => {
    const ada = await signUp('ada@example.com')
    const bob = await signUp('bob@example.com')
    const client = new Client({ apiUrl: `${origin}/agents`, defaultHeaders: { ...ada } })
    const { thread_id } = await client.threads.create()
    const input = { messages: [{ type: 'human', content: 'Hello' }] }
    expect(await client.runs.wait(thread_id, 'agent', { input })).toMatchObject({
      messages: [{}, { content: 'Hello ada@example.com' }],
    })
    const path = `/agents/threads/${thread_id}`
    expect(await statusOf({ origin }, ada, path)).toBe(200)
    expect(await statusOf({ origin }, bob, path)).toBe(404)
    expect(await statusOf({ origin }, {}, path)).toBe(401)
    expect(await statusOf({ origin }, { cookie: `${ada.cookie}x` }, path)).toBe(401)
    expect((await post('/api/auth/sign-out', {}, ada)).status).toBe(200)
    expect(await statusOf({ origin }, ada, path)).toBe(401)
  })

  test('a page of another origin cannot act with the cookie of its visitor', async () => {
    const eve = {
      ...(await signUp('eve@example.com')),
      origin: 'https://evil.example',
      'sec-fetch-site': 'cross-site',
    }
    expect((await post('/agents/threads', {}, { ...eve, 'content-type': 'text/plain' })).status).toBe(403)
    const asked = {
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type',
    }
    const preflight = await fetch(`${origin}/agents/threads`, {
      method: 'OPTIONS',
      headers: { ...eve, ...asked },
    })
    expect(preflight.headers.get('access-control-allow-origin')).toBeNull()
  })
})
