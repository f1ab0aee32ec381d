import { describe, expect, test } from 'vitest'
import {
  type CorsOptions,
  combine,
  createHandler,
  HttpError,
  json,
  knownBody,
  type LangGraphCors,
  type Principal,
  type Route,
  sseResponse,
  type WebHandler,
  withCors,
} from '../../src/core/http/index.ts'
import { createAgentServer, createThreadsHandler, defineAgent } from '../../src/index.ts'

const APP = 'https://app.example.com'

const routes: Route[] = [
  ['GET', '/things', () => json({ ok: true })],
  ['POST', '/things', () => json({ ok: true })],
  ['GET', '/stream', () => sseResponse({ next: async () => undefined, cancel() {} })],
  [
    'POST',
    '/broken',
    () => {
      throw new HttpError(422, 'broken', 'It is broken.')
    },
  ],
]

function handlerWith(
  cors: CorsOptions | LangGraphCors | false | undefined,
  authenticate?: () => Principal | Response | null,
): WebHandler {
  return withCors(createHandler({ routes, authenticate }), cors)
}

function send(
  handler: WebHandler,
  path: string,
  headers: Record<string, string> = {},
  method = 'GET',
): Promise<Response> {
  return handler.fetch(new Request(`http://host${path}`, { method, headers }))
}

function preflight(
  handler: WebHandler,
  path = '/things',
  headers: Record<string, string> = {},
): Promise<Response> {
  const asked = { origin: APP, 'access-control-request-method': 'POST', ...headers }
  return send(handler, path, asked, 'OPTIONS')
}

/** The headers of CORS, without their prefix. */
function allowed(response: Response): Record<string, string> {
  const prefix = 'access-control-'
  const found = [...response.headers].filter(([name]) => name.startsWith(prefix))
  return Object.fromEntries(found.map(([name, value]) => [name.slice(prefix.length), value]))
}

describe('a page of a named origin', () => {
  const handler = handlerWith({ origins: [APP, 'https://other.example.com/'] })

  test.each([APP, 'https://other.example.com'])('%s may read an answer', async (origin) => {
    const response = await send(handler, '/things', { origin })
    expect(allowed(response)).toEqual({
      'allow-origin': origin,
      'expose-headers': 'content-location,etag,location,preference-applied,retry-after,www-authenticate',
    })
    expect(response.headers.get('vary')).toBe('origin')
    expect(await response.json()).toEqual({ ok: true })
  })

  test('may read streams, errors, 404, 405 and 401', async () => {
    const closed = handlerWith({ origins: [APP] }, () => null)
    const answers = await Promise.all([
      send(handler, '/stream', { origin: APP }),
      send(handler, '/broken', { origin: APP }, 'POST'),
      send(handler, '/nothing', { origin: APP }),
      send(handler, '/things', { origin: APP }, 'DELETE'),
      send(closed, '/things', { origin: APP }),
    ])
    expect(answers.map(({ status }) => status)).toEqual([200, 422, 404, 405, 401])
    for (const { headers } of answers) {
      expect(headers.get('access-control-allow-origin')).toBe(APP)
      expect(headers.get('vary')).toBe('origin')
    }
  })

  test('may read 503 with its Retry-After when the server closes', async () => {
    const closing = handlerWith({ origins: [APP] })
    await closing.close()
    const response = await send(closing, '/things', { origin: APP })
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1'])
    expect(allowed(response)['expose-headers']).toContain('retry-after')
  })

  test('gets no cookies unless they are allowed', async () => {
    expect(allowed(await send(handler, '/things', { origin: APP }))).not.toHaveProperty('allow-credentials')
    const withCookies = handlerWith({ origins: [APP], credentials: true })
    for (const answer of [await send(withCookies, '/things', { origin: APP }), await preflight(withCookies)])
      expect(allowed(answer)).toMatchObject({ 'allow-origin': APP, 'allow-credentials': 'true' })
  })
})

describe('any other origin', () => {
  test.each([
    'https://evil.example.com',
    'http://app.example.com',
    `${APP}.evil.example.com`,
    `${APP}:8443`,
    'null',
    '',
  ])('%s is told nothing, and caches keep the answers apart', async (origin) => {
    const handler = handlerWith({ origins: [APP], credentials: true })
    const header: Record<string, string> = origin === '' ? {} : { origin }
    const asked = { ...header, 'access-control-request-method': 'POST' }
    for (const response of [
      await send(handler, '/things', header),
      await send(handler, '/things', asked, 'OPTIONS'),
      await send(handler, '/nothing', header),
    ]) {
      expect(allowed(response)).toEqual({})
      expect(response.headers.get('vary')).toBe('origin')
    }
  })
})

describe('a preflight', () => {
  test('is answered without authentication, with the methods of the route and the headers of clients', async () => {
    const response = await preflight(
      handlerWith({ origins: [APP], headers: ['x-team'] }, () => null),
      '/things',
      { 'access-control-request-headers': 'x-evil' },
    )
    expect([response.status, response.body]).toEqual([204, null])
    expect(allowed(response)).toEqual({
      'allow-origin': APP,
      'allow-methods': 'GET,POST,HEAD,OPTIONS',
      'allow-headers':
        'authorization,content-type,idempotency-key,if-match,if-none-match,last-event-id,prefer,traceparent,tracestate,x-api-key,x-request-id,x-team',
      'max-age': '600',
    })
    expect(response.headers.get('vary')).toBe('origin')
  })

  test('allows the requested headers where any is allowed', async () => {
    const handler = handlerWith({ origins: [APP], headers: ['*'], credentials: true })
    const asked = { 'access-control-request-headers': 'x-one,x-two' }
    expect(allowed(await preflight(handler, '/things', asked))['allow-headers']).toBe('x-one,x-two')
    expect(allowed(await preflight(handler))['allow-headers']).toContain('authorization')
  })

  test('of a public page to a private network is allowed where its origin is', async () => {
    const asked = { 'access-control-request-private-network': 'true' }
    const handler = handlerWith({ origins: [APP] })
    expect(allowed(await preflight(handler, '/things', asked))).toHaveProperty(
      'allow-private-network',
      'true',
    )
    expect(allowed(await preflight(handler))).not.toHaveProperty('allow-private-network')
    expect(
      allowed(await preflight(handler, '/things', { ...asked, origin: 'https://evil.example' })),
    ).toEqual({})
    const plain = await send(handler, '/things', { ...asked, origin: APP })
    expect(allowed(plain)).not.toHaveProperty('allow-private-network')
  })

  test('for an unknown path succeeds, so that the page can read the 404', async () => {
    const handler = handlerWith({ origins: [APP] })
    const response = await preflight(handler, '/runs/stream')
    expect([response.status, allowed(response)['allow-methods']]).toEqual([204, 'POST'])
    expect((await send(handler, '/runs/stream', { origin: APP }, 'POST')).status).toBe(404)
  })

  test('for an unknown path is left to a host that has other routes', async () => {
    const handler = handlerWith({ origins: [APP] })
    const headers = { origin: APP, 'access-control-request-method': 'POST' }
    expect(await handler.handle(new Request('http://host/x', { method: 'OPTIONS', headers }))).toBeUndefined()
  })

  test('for a path of several handlers allows the methods of them all', async () => {
    const other = createHandler({ routes: [['DELETE', '/things', () => json({})]] })
    const handler = withCors(combine([createHandler({ routes }), other]), { origins: [APP] })
    expect(allowed(await preflight(handler))['allow-methods']).toBe('GET,POST,HEAD,OPTIONS,DELETE')
  })

  test('is a plain OPTIONS where the page names no method', async () => {
    const response = await send(handlerWith({ origins: [APP] }), '/things', { origin: APP }, 'OPTIONS')
    expect([response.status, response.headers.get('allow')]).toEqual([204, 'GET, POST, HEAD, OPTIONS'])
    expect(allowed(response)).not.toHaveProperty('allow-methods')
  })
})

describe('every origin', () => {
  test.each<CorsOptions | LangGraphCors>([
    { origins: '*' },
    { origins: ['*'] },
    { allow_origins: ['*'] },
    {},
  ])('is allowed by %j, without varying', async (cors) => {
    const response = await send(handlerWith(cors), '/things', { origin: 'null' })
    expect(allowed(response)['allow-origin']).toBe('*')
    expect(response.headers.has('vary')).toBe(false)
  })

  test.each<CorsOptions | LangGraphCors>([
    { origins: '*', credentials: true },
    { allow_origins: ['*'], allow_credentials: true },
    { allow_credentials: true },
  ])('cannot get credentials: %j', (cors) => {
    expect(() => handlerWith(cors)).toThrow('http.cors: credentials require a list of origins.')
  })
})

describe('the section of a langgraph.json', () => {
  test('is taken as it is', async () => {
    const handler = handlerWith({
      allow_origins: [APP],
      allow_methods: ['POST'],
      allow_headers: ['x-team'],
      allow_credentials: true,
      expose_headers: ['x-mine'],
      max_age: 5,
    })
    expect(allowed(await preflight(handler))).toMatchObject({
      'allow-origin': APP,
      'allow-methods': 'POST',
      'allow-headers': expect.stringMatching(/,x-team$/),
      'allow-credentials': 'true',
      'max-age': '5',
    })
    expect(allowed(await send(handler, '/things', { origin: APP }))['expose-headers']).toBe(
      'content-location,etag,location,preference-applied,retry-after,www-authenticate,x-mine',
    )
  })

  test('allows every method and header by *', async () => {
    const handler = handlerWith({ allow_origins: [APP], allow_methods: ['*'], allow_headers: ['*'] })
    const answer = await preflight(handler, '/things', { 'access-control-request-headers': 'x-one' })
    expect(allowed(answer)).toMatchObject({
      'allow-methods': 'GET,POST,HEAD,OPTIONS',
      'allow-headers': 'x-one',
    })
  })

  test('has a pattern that must match the whole origin', async () => {
    const handler = handlerWith({ allow_origin_regex: String.raw`https://\w+\.example\.com|http://a` })
    const origins = [APP, 'http://a', `${APP}.evil.org`, 'xhttps://app.example.com', 'http://ab']
    const answers = await Promise.all(origins.map((origin) => send(handler, '/things', { origin })))
    expect(answers.map((response) => allowed(response)['allow-origin'])).toEqual([
      APP,
      'http://a',
      undefined,
      undefined,
      undefined,
    ])
  })
})

describe('the response', () => {
  test('keeps a body whose text is known', async () => {
    const response = await send(handlerWith({ origins: [APP] }), '/things', { origin: APP })
    expect(knownBody(response)).toBe('{"ok":true}')
  })

  test('of authenticate may be immutable and sent again', async () => {
    const login = Response.redirect('https://login.example.com')
    const handler = handlerWith({ origins: [APP] }, () => login)
    for (const origin of [APP, 'https://evil.example.com', APP]) {
      const response = await send(handler, '/things', { origin })
      expect([response.status, response.headers.get('vary')]).toEqual([302, 'origin'])
      expect(allowed(response)['allow-origin']).toBe(origin === APP ? APP : undefined)
    }
    expect(login.headers.has('vary')).toBe(false)
  })

  test('that allows an origin already is left as it is', async () => {
    const inner = handlerWith({ origins: [APP], credentials: true })
    const response = await send(withCors(inner, { origins: '*' }), '/things', { origin: APP })
    expect(allowed(response)['allow-origin']).toBe(APP)
  })

  test('that is an error of the network is left as it is', async () => {
    const failed = Response.error()
    expect(
      await send(
        handlerWith({ origins: [APP] }, () => failed),
        '/things',
        { origin: APP },
      ),
    ).toBe(failed)
  })
})

describe('a server of agents', () => {
  const agents = { agent: defineAgent({ async run() {} }) }
  const authenticate = () => null

  test.each([
    ['createAgentServer', createAgentServer],
    ['createThreadsHandler', createThreadsHandler],
  ])('of %s has no CORS until http.cors says so', async (_, create) => {
    const closed = create({ agents, authenticate })
    expect(closed.cors).toBeFalsy()
    expect(allowed(await preflight(closed, '/threads'))).toEqual({})
    expect((await send(closed, '/threads', { origin: APP })).headers.has('vary')).toBe(false)

    const open = create({ agents, authenticate, http: { cors: { origins: [APP] } } })
    expect(open.cors).toBe(true)
    expect(allowed(await preflight(open, '/threads/t'))['allow-methods']).toBe(
      'GET,PATCH,DELETE,HEAD,OPTIONS',
    )
    const refused = await send(open, '/threads', { origin: APP })
    expect([refused.status, allowed(refused)['allow-origin']]).toEqual([401, APP])
    await Promise.all([closed.close(), open.close()])
  })

  test('has a preflight for every route', async () => {
    const server = createAgentServer({ agents, authenticate, http: { cors: { origins: [APP] } } })
    for (const [method, pattern] of await server.routes()) {
      const response = await preflight(server, pattern.replaceAll(':', ''), {
        'access-control-request-method': method,
      })
      expect(response.status).toBe(204)
      expect(allowed(response)['allow-methods']?.split(',')).toContain(method)
    }
    await server.close()
  })

  test('is told to a host when it forbids all origins', async () => {
    const server = createAgentServer({ agents, authenticate, http: { cors: false } })
    expect(server.cors).toBe(true)
    expect(allowed(await preflight(server, '/threads'))).toEqual({})
    expect(combine([server]).cors).toBe(true)
    await server.close()
  })
})
