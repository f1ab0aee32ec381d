import { describe, expect, test } from 'vitest'
import {
  type CorsOptions,
  createHandler,
  type HandlerContext,
  json,
  type Route,
  withCors,
} from '../../src/core/http/index.ts'

const OWN = 'https://app.example.com'
const OTHER = 'https://evil.example'

const routes: Route[] = [
  ['GET', '/things', ({ request }) => json({ cookie: request.headers.get('cookie') })],
  ['POST', '/things', async (call) => json({ value: (await call.json()) ?? null })],
  ['PATCH', '/things', async (call) => json({ value: await call.json() })],
  ['GET', '/style.css', () => json({ ok: true }), 'asset'],
]

interface Sent {
  readonly method?: string
  readonly path?: string
  readonly body?: string
  readonly context?: HandlerContext
  readonly cors?: CorsOptions
}

/** What a request with these headers is answered, and whether its caller was asked for and its body read before. */
async function send(
  headers: Record<string, string>,
  { method = 'POST', path = '/things', ...sent }: Sent = {},
) {
  const seen = { asked: false }
  const authenticate = (request: Request) => {
    seen.asked = true
    return request.headers.get('cookie') === 'session=none' ? null : { id: 'visitor' }
  }
  const length: Record<string, string> =
    sent.body === undefined && method === 'POST' ? { 'content-length': '0' } : {}
  const request = new Request(`${OWN}${path}`, {
    method,
    headers: { ...length, ...headers },
    ...(sent.body !== undefined && { body: sent.body }),
  })
  const handler = withCors(createHandler({ routes, authenticate }), sent.cors)
  const response = await handler.fetch(request, sent.context)
  return { ...seen, status: response.status, read: request.bodyUsed, body: await response.json(), response }
}

const TEXT = { 'content-type': 'text/plain' }
const JSON_TYPE = { 'content-type': 'application/json' }
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
const CROSS = { 'sec-fetch-site': 'cross-site' }

describe('a request that a page of another origin sends without asking is refused, and nothing of it is read', () => {
  test.each<[string, Record<string, string>, Sent?]>([
    ['text', { ...TEXT, origin: OTHER }, { body: '{}' }],
    ['text of a page that hides its origin', { ...TEXT, origin: 'null' }, { body: '{}' }],
    ['text of another site', { ...TEXT, ...CROSS, 'sec-fetch-mode': 'no-cors' }, { body: '{}' }],
    ['text of the same site', { ...TEXT, 'sec-fetch-site': 'same-site' }, { body: '{}' }],
    [
      'text that names JSON after its type',
      { 'content-type': 'text/plain; application/json', ...CROSS },
      { body: '{}' },
    ],
    ['a form', { ...FORM, ...CROSS, origin: OTHER, 'sec-fetch-mode': 'navigate' }, { body: 'a=1' }],
    ['a body without a type', { 'content-type': '', origin: OTHER }, { body: '{}' }],
    ['a body of another type', { 'content-type': 'application/octet-stream', origin: OTHER }, { body: '{}' }],
    [
      'the same behind a proxy that forges nothing',
      { ...TEXT, origin: OTHER, 'x-forwarded-proto': 'https' },
      { body: '{}' },
    ],
    ['no body, without CORS', { origin: OTHER, ...CROSS, 'sec-fetch-mode': 'no-cors' }],
    ['an empty form', { origin: OTHER, ...CROSS, 'sec-fetch-mode': 'navigate' }],
    ['an image', { ...CROSS, 'sec-fetch-mode': 'no-cors' }, { method: 'GET' }],
    ['the headers of an image', { ...CROSS, 'sec-fetch-mode': 'no-cors' }, { method: 'HEAD' }],
    [
      'a page whose scheme is another',
      { ...TEXT, origin: 'http://app.example.com', 'sec-fetch-site': 'cross-site' },
      { body: '{}' },
    ],
    ['a page on another port', { ...TEXT, origin: `${OWN}:8443` }, { body: '{}' }],
  ])('%s', async (_, headers, sent) => {
    const { status, asked, read, body } = await send(headers, sent)
    if (sent?.method === 'HEAD') return expect([status, asked]).toEqual([403, false])
    expect([status, asked, read, body.error]).toEqual([403, false, false, 'origin_not_allowed'])
    expect(body.message).toContain('http.cors')
  })
})

describe('every other request goes on', () => {
  test.each<[string, Record<string, string>, Sent?]>([
    ['curl -d', FORM, { body: '{}' }],
    ['a program without any header', {}, { body: '{}' }],
    ["the server's own page", { ...TEXT, origin: OWN, 'sec-fetch-site': 'same-origin' }, { body: '{}' }],
    ['its own page in a browser that tells the origin only', { ...TEXT, origin: OWN }, { body: '{}' }],
    [
      'its own page behind a proxy that changes the host',
      { ...TEXT, origin: 'https://public.example', 'sec-fetch-site': 'same-origin' },
      { body: '{}' },
    ],
    [
      'its own page at a host that the host of the handler knows',
      { ...TEXT, origin: 'https://public.example' },
      { body: '{}', context: { host: 'public.example' } },
    ],
    [
      'its own page where a proxy names the port',
      { ...TEXT, origin: 'https://public.example', 'x-forwarded-proto': 'https' },
      { body: '{}', context: { host: 'public.example:443' } },
    ],
    ['what a user typed', { 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' }, { method: 'GET' }],
    ['JSON, for which browsers ask', { ...JSON_TYPE, ...CROSS, origin: OTHER }, { body: '{}' }],
    [
      'JSON of a vendor',
      { 'content-type': 'Application/vnd.x+JSON; charset=utf-8', ...CROSS },
      { body: '{}' },
    ],
    ['PATCH, for which browsers ask', { ...TEXT, ...CROSS, origin: OTHER }, { method: 'PATCH', body: '{}' }],
    ['no body, with CORS', { origin: OTHER, ...CROSS, 'sec-fetch-mode': 'cors' }],
    ['a link', { ...CROSS, 'sec-fetch-mode': 'navigate' }, { method: 'GET' }],
    [
      'a GET with CORS, whose answer the page cannot read',
      { origin: OTHER, ...CROSS, 'sec-fetch-mode': 'cors' },
      { method: 'GET' },
    ],
    ['a style sheet', { ...CROSS, 'sec-fetch-mode': 'no-cors' }, { method: 'GET', path: '/style.css' }],
  ])('%s', async (_, headers, sent) => {
    const { status, asked, response } = await send(headers, sent)
    expect([status, asked]).toEqual([200, true])
    expect(response.headers.has('access-control-allow-origin')).toBe(false)
  })

  test('what no route matches is left to the host, whoever sends it', async () => {
    const request = new Request(`${OWN}/host`, { method: 'POST', body: 'x', headers: { ...TEXT, ...CROSS } })
    expect(await createHandler({ routes }).handle(request)).toBeUndefined()
  })
})

describe('a page that cors allows', () => {
  const headers = { ...TEXT, ...CROSS, origin: OTHER, 'sec-fetch-mode': 'no-cors' }

  test.each(['*', OTHER])('may send anything (%s)', async (origins) => {
    const { status, body, response } = await send(headers, { body: '{"a":1}', cors: { origins } })
    expect([status, body]).toEqual([200, { value: { a: 1 } }])
    expect(response.headers.get('access-control-allow-origin')).toBe(origins)
  })

  test('may not where another one is named', async () => {
    const { status, asked } = await send(headers, { body: '{}', cors: { origins: OWN } })
    expect([status, asked]).toEqual([403, false])
  })

  test('sends what it sends without asking without cookies, unless credentials are allowed', async () => {
    const cookie = 'session=none'
    const sent = { method: 'GET' }
    const image = { ...CROSS, 'sec-fetch-mode': 'no-cors', cookie }
    expect((await send(image, { ...sent, cors: { origins: '*' } })).body).toEqual({ cookie: null })
    const allowed = { origins: OTHER, credentials: true }
    expect((await send({ ...headers, cookie }, { body: '{}', cors: allowed })).status).toBe(401)
    expect((await send({ ...headers, cookie }, { body: '{}', cors: { origins: OTHER } })).status).toBe(200)
  })
})
