import { expect, expectTypeOf, test } from 'vitest'
import * as z from 'zod/mini'
import { createApi } from '../../../src/control-plane/api/create-api.ts'
import { route } from '../../../src/control-plane/api/route.ts'
import type { ControlPlaneContext } from '../../../src/control-plane/context.ts'
import { refusal } from '../../../src/control-plane/errors.ts'
import * as t from '../../../src/control-plane/wire/common.ts'
import { UnavailableError } from '../../../src/storage/index.ts'
import { memoryStore } from '../../../src/storage/memory/store.ts'

const ID = '0b0c7d0e-1c2f-4a5b-8c9d-0123456789ab'

const thing = t.titled('Thing', {
  name: t.NOT_EMPTY,
  size: z._default(t.INTEGER, 3),
  note: t.OPT_STRING,
  secrets: z._default(t.list(z.object({ name: t.STRING, value: t.PASSWORD })), []),
})

const putThing = route('PUT', '/things/:thing_id/:part', {
  summary: 'Put Thing',
  tag: 'Things',
  params: z.object({ thing_id: t.UUID }),
  query: z.object({
    limit: t.limited(100, 20),
    text: t.OPT_STRING,
    ids: t.list(t.UUID, { maxItems: 2 }),
  }),
  body: thing,
  answers: { 201: thing },
  run: async (_, { params, query, body, call }) => {
    expectTypeOf(params).toEqualTypeOf<{ readonly thing_id: string; readonly part: string }>()
    expectTypeOf(query.limit).toEqualTypeOf<number>()
    expectTypeOf(query.text).toEqualTypeOf<string | null | undefined>()
    expectTypeOf(query.ids).toEqualTypeOf<string[]>()
    expectTypeOf(body.name).toEqualTypeOf<string>()
    expectTypeOf(body.size).toEqualTypeOf<number>()
    expectTypeOf(body.note).toEqualTypeOf<string | null | undefined>()
    expectTypeOf(body.secrets).toEqualTypeOf<{ name: string; value: string }[]>()
    return { body: { params, query, body, caller: call.principal?.id } }
  },
})

const failures: Readonly<Record<string, unknown>> = {
  refusal: refusal(409, 'There is one already.', { headers: { 'x-a': 'b' } }),
  unavailable: new UnavailableError('It is down: postgres://user:password@host', { written: 'no' }),
  bug: new Error('password'),
}

const fail = route('GET', '/fail/:how', {
  summary: 'Fail',
  tag: 'T',
  answers: { 200: z.unknown() },
  run: async (_, { params }) => {
    throw failures[params.how]
  },
})

const remove = route('DELETE', '/things/:id', {
  summary: 'Remove',
  tag: 'T',
  answers: { 204: null },
  run: async () => ({}),
})

const search = route('POST', '/search', {
  summary: 'Search',
  tag: 'T',
  body: z.object({ limit: z._default(t.INTEGER, 5) }),
  bodyOptional: true,
  isPublic: true,
  answers: { 200: z.unknown() },
  run: async (_, { body, call }) => ({ body: { ...body, caller: call.principal } }),
})

const reported: { error: unknown; id: string }[] = []

function api(maxBodyBytes?: number) {
  return createApi({
    operations: { below: ['/'], load: async () => [putThing, fail, remove, search] },
    context: {
      store: memoryStore(),
      onError: (error: unknown, origin: { id: string }) => reported.push({ error, ...origin }),
    } as unknown as ControlPlaneContext,
    authenticate(request) {
      const key = request.headers.get('x-api-key')
      if (key === 'broken') throw new Error('password')
      if (key === 'without permission') throw refusal(403, 'Not permitted.')
      return key === null ? null : { id: 'me' }
    },
    maxBodyBytes,
  })
}

async function send(path: string, init: RequestInit & { readonly key?: boolean } = {}, server = api()) {
  const headers = new Headers({ 'content-type': 'application/json', ...init.headers })
  if (init.key !== false) headers.set('x-api-key', 'k')
  const response = await server.fetch(new Request(`http://host${path}`, { ...init, headers }))
  const text = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? undefined : JSON.parse(text),
  }
}

const put = (body: string | Uint8Array<ArrayBuffer>, path = `/things/${ID}/a?ids=${ID}`, key = true) =>
  send(path, { method: 'PUT', body, key })

test('an operation gets what was sent, converted and with its defaults, and answers its first status', async () => {
  const { status, body } = await put(
    '{"name":"n","unknown":1}',
    `/things/${ID.toUpperCase()}/x%2Fy?ids=${ID}&limit=1&limit=7&text=`,
  )
  expect(status).toBe(201)
  expect(body).toEqual({
    params: { thing_id: ID, part: 'x/y' },
    query: { limit: 7, text: '', ids: [ID] },
    body: { name: 'n', size: 3, secrets: [] },
    caller: 'me',
  })
})

test('all problems are answered in the order of path, query and body', async () => {
  const sent = { name: '', size: 'x', note: 4 }
  const { status, body } = await put(JSON.stringify(sent), '/things/nope/a?limit=0&text=')
  expect(status).toBe(422)
  expect(
    body.detail.map((problem: { type: string; loc: unknown[] }) => [problem.type, ...problem.loc]),
  ).toEqual([
    ['uuid_parsing', 'path', 'thing_id'],
    ['greater_than_equal', 'query', 'limit'],
    ['missing', 'query', 'ids'],
    ['string_too_short', 'body', 'name'],
    ['int_parsing', 'body', 'size'],
    ['string_type', 'body', 'note'],
  ])
  expect(body.detail[1]).toEqual({
    type: 'greater_than_equal',
    loc: ['query', 'limit'],
    msg: 'Input should be greater than or equal to 1',
    input: '0',
    ctx: { ge: 1 },
  })
  expect(body.detail[2]).toEqual({
    type: 'missing',
    loc: ['query', 'ids'],
    msg: 'Field required',
    input: null,
  })
})

test('a missing member shows the object that lacks it', async () => {
  const { body } = await put('{"size":1}')
  expect(body.detail).toEqual([
    { type: 'missing', loc: ['body', 'name'], msg: 'Field required', input: { size: 1 } },
  ])
})

test('a secret is masked in what is shown, also in the wrong place', async () => {
  for (const secrets of [
    'hunter2',
    ['hunter2'],
    { A: 'hunter2' },
    [{ value: 'hunter2' }],
    [{ name: 'A', value: ['hunter2'] }],
  ]) {
    const { status, body } = await put(JSON.stringify({ secrets, secret: 'hunter2' }))
    expect(status).toBe(422)
    expect(JSON.stringify(body)).not.toContain('hunter2')
  }
  const { body } = await put(JSON.stringify({ size: 1, secrets: [{ name: 'A', value: 'hunter2' }] }))
  expect(body.detail[0].input).toEqual({ size: 1, secrets: '**********' })
})

test('a query parameter that is a list counts every time it is given', async () => {
  const { body } = await put('{"name":"n"}', `/things/${ID}/a?ids=${ID}&ids=x&ids=${ID}`)
  expect(body.detail[0]).toMatchObject({ type: 'too_long', loc: ['query', 'ids'], ctx: { actual_length: 3 } })
  const second = await put('{"name":"n"}', `/things/${ID}/a?ids=${ID}&ids=x`)
  expect(second.body.detail[0]).toMatchObject({ type: 'uuid_parsing', loc: ['query', 'ids', 1] })
})

test('a body that is no JSON is refused', async () => {
  expect(await put('{"name": x}')).toMatchObject({
    status: 422,
    body: {
      detail: [
        {
          type: 'json_invalid',
          loc: ['body'],
          msg: 'JSON decode error',
          input: {},
          ctx: { error: 'The body is not JSON' },
        },
      ],
    },
  })
})

test.each([
  ['malformed', '{"name": x}', undefined],
  ['not UTF-8', new Uint8Array([0x22, 0xff, 0x22]), undefined],
  ['too large', ' '.repeat(20), 10],
  ['missing a member', '{}', undefined],
])('the caller is authenticated before a body is read that is %s', async (_, body, maxBodyBytes) => {
  const request = new Request(`http://host/things/${ID}/a`, {
    method: 'PUT',
    body,
    headers: { 'content-type': 'application/json' },
  })
  const response = await api(maxBodyBytes).fetch(request)
  expect([response.status, await response.json()]).toEqual([
    401,
    { detail: 'This request needs valid credentials.' },
  ])
  expect(request.bodyUsed).toBe(false)
})

test('a caller without permission is refused while its body is still being sent', async () => {
  let pulls = 0
  const body = new ReadableStream(
    { pull: () => void pulls++ }, // It sends nothing and never ends.
    { highWaterMark: 0 },
  )
  const headers = { 'content-type': 'application/json', 'x-api-key': 'without permission' }
  const init = { method: 'PUT', body, headers, duplex: 'half' }
  const response = await api().fetch(new Request(`http://host/things/${ID}/a`, init))
  expect([response.status, await response.json()]).toEqual([403, { detail: 'Not permitted.' }])
  expect(pulls).toBe(0)
})

test('what fails while a caller is authenticated is reported with the id of its request', async () => {
  const headers = { 'x-api-key': 'broken', 'x-request-id': 'r1' }
  const response = await api().fetch(new Request('http://host/things/1', { method: 'DELETE', headers }))
  const { detail, id } = await response.json()
  expect([response.status, detail]).toEqual([500, 'Internal Server Error'])
  expect(reported.at(-1)).toEqual({ error: new Error('password'), id, requestId: 'r1' })
})

test.each([
  ['', { type: 'missing', loc: ['body'], msg: 'Field required', input: null }],
  ['null', { type: 'missing', loc: ['body'], msg: 'Field required', input: null }],
  ['[]', { type: 'model_attributes_type', loc: ['body'], input: '**********' }],
])('a body of %j is refused', async (sent, problem) => {
  const { status, body } = await put(sent)
  expect(status).toBe(422)
  expect(body.detail).toEqual([expect.objectContaining(problem)])
})

const TEXT_IS_NO_BODY = {
  type: 'model_attributes_type',
  loc: ['body'],
  msg: 'Input should be a valid dictionary or object to extract fields from',
  input: '**********',
}

test.each([
  ['text/plain', '{"name":"n"}', [TEXT_IS_NO_BODY]],
  ['application/x-www-form-urlencoded', '{"name":"n"}', [TEXT_IS_NO_BODY]],
  ['text/plain; application/json', '{"name"', [TEXT_IS_NO_BODY]],
  ['text/plain', '', [expect.objectContaining({ type: 'missing', loc: ['body'] })]],
])('a body of the type %s is text to FastAPI, and no object: %s', async (type, body, detail) => {
  const path = `/things/${ID}/a?ids=${ID}`
  const answer = await send(path, { method: 'PUT', body, headers: { 'content-type': type } })
  expect([answer.status, answer.body]).toEqual([422, { detail }])
})

test.each(['application/json; charset=utf-8', 'Application/Merge-Patch+JSON', ''])(
  'a body of the type "%s" is JSON',
  async (type) => {
    const body = new TextEncoder().encode('{"name":"n"}')
    const path = `/things/${ID}/a?ids=${ID}`
    const server = api()
    const headers: Record<string, string> = { 'x-api-key': 'k', ...(type !== '' && { 'content-type': type }) }
    const request = new Request(`http://host${path}`, { method: 'PUT', body, headers })
    expect((await server.fetch(request)).status).toBe(201)
  },
)

test('a page of another origin is refused in the words of the API, before its caller is known', async () => {
  const headers = { 'content-type': 'text/plain', 'sec-fetch-site': 'cross-site' }
  const { status, body } = await send('/search', { method: 'POST', body: '{', headers, key: false })
  expect([status, Object.keys(body)]).toEqual([403, ['detail']])
  expect(body.detail).toContain('http.cors')
})

test('a body that is not UTF-8, too long or too deep', async () => {
  const sent = await put(new Uint8Array([0x22, 0xff, 0x22]))
  expect(sent).toMatchObject({ status: 400, body: { detail: 'There was an error parsing the body' } })
  expect(await put('['.repeat(200))).toMatchObject({
    status: 400,
    body: { detail: 'The body is nested deeper than 100 levels.' },
  })
  expect(await send(`/things/${ID}/a`, { method: 'PUT', body: ' '.repeat(20) }, api(10))).toMatchObject({
    status: 413,
    body: { detail: 'The body is larger than 10 bytes.' },
  })
})

test('an optional body may be left out', async () => {
  expect((await send('/search', { method: 'POST', key: false })).body).toEqual({ limit: 5, caller: null })
  expect((await send('/search', { method: 'POST', body: '{"limit":"2"}' })).body).toEqual({
    limit: 2,
    caller: null,
  })
})

test('an empty answer has no body', async () => {
  expect(await send('/things/1', { method: 'DELETE' })).toMatchObject({ status: 204, body: undefined })
})

test('every error is a detail, and tells nothing of its cause', async () => {
  expect(await send('/fail/refusal')).toMatchObject({
    status: 409,
    body: { detail: 'There is one already.' },
  })
  expect((await send('/fail/refusal')).headers.get('x-a')).toBe('b')
  expect(await send('/nowhere')).toMatchObject({ status: 404, body: { detail: 'Not Found' } })
  const wrong = await send('/things/1', { method: 'PATCH' })
  expect(wrong).toMatchObject({ status: 405, body: { detail: 'Method Not Allowed' } })
  expect(wrong.headers.get('allow')).toBe('DELETE, OPTIONS')
  const unavailable = await send('/fail/unavailable')
  expect(unavailable.status).toBe(503)
  expect(unavailable.headers.get('retry-after')).not.toBeNull()
  const bug = await send('/fail/bug')
  expect(bug).toMatchObject({
    status: 500,
    body: { detail: 'Internal Server Error', id: expect.any(String) },
  })
  expect(reported.find(({ id }) => id === bug.body.id)?.error).toMatchObject({ message: 'password' })
  for (const { body } of [unavailable, bug]) expect(JSON.stringify(body)).not.toContain('password')
})
