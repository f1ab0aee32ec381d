import { Annotation, InMemoryStore, StateGraph } from '@langchain/langgraph'
import { Client } from '@langchain/langgraph-sdk'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { langgraph } from '../../../src/agents/langgraph/langgraph.ts'
import { STORE_ROUTES } from '../../../src/faces/rest/store/routes.ts'
import { type Authenticate, createAgentServer, type OwnEngineOptions } from '../../../src/index.ts'
import { anyCharacter } from '../../kit/arbitraries.ts'
import { DATABASES } from '../../kit/databases.ts'
import { serveAgents } from '../../kit/host.ts'

const State = Annotation.Root({ seen: Annotation<unknown>() })

/** A graph that reads an item, and writes another. */
const graph = () =>
  langgraph(
    new StateGraph(State)
      .addNode('node', async (_state, { store }) => {
        const seen = await store!.get(['outside'], 'k')
        await store!.put(['inside'], 'k', { from: 'a node' })
        return { seen: seen?.value ?? null }
      })
      .addEdge('__start__', 'node')
      .addEdge('node', '__end__')
      .compile(),
  )

const agents = { a: graph() }
const authenticate: Authenticate = ({ headers }) => {
  const id = headers.get('authorization')?.replace('Bearer ', '')
  return id ? { id } : null
}

async function serve(options: Partial<OwnEngineOptions> = {}) {
  const host = await serveAgents({ agents, ...options })
  const clientOf = (user?: string) =>
    new Client({
      apiUrl: host.origin,
      apiKey: null,
      callerOptions: { maxRetries: 0 },
      ...(user && { defaultHeaders: { authorization: `Bearer ${user}` } }),
    }).store
  async function send(method: string, path: string, body?: unknown, user?: string) {
    const response = await fetch(`${host.origin}${path}`, {
      method,
      headers: { 'content-type': 'application/json', ...(user && { authorization: `Bearer ${user}` }) },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, body: text ? JSON.parse(text) : undefined }
  }
  return { host, clientOf, store: clientOf(), send }
}

describe.each(Object.entries(DATABASES))("the SDK's client.store over %s", (_name, create) => {
  test('puts, gets, searches, lists and deletes items', async () => {
    const { store } = await serve(await (await create())())
    await store.putItem(['a', 'b'], 'k', { text: 'one', n: 1 })
    const item = (await store.getItem(['a', 'b'], 'k'))!
    expect(item).toMatchObject({ namespace: ['a', 'b'], key: 'k', value: { text: 'one', n: 1 } })
    expect(Date.parse(item.createdAt)).toBeGreaterThan(Date.now() - 60_000)
    await store.putItem(['a', 'b'], 'k', { text: 'two', n: 2 })
    const changed = (await store.getItem(['a', 'b'], 'k'))!
    expect(changed.createdAt).toBe(item.createdAt)
    expect(Date.parse(changed.updatedAt)).toBeGreaterThan(Date.parse(item.updatedAt))
    await store.putItem(['a'], 'other', { n: 10 }, { index: false, ttl: 5 })
    const keys = async (...asked: Parameters<typeof store.searchItems>) =>
      (await store.searchItems(...asked)).items.map(({ key }) => key).sort()
    expect(await keys(['a'])).toEqual(['k', 'other'])
    expect(await keys([], { filter: { n: { $gte: 3 } } })).toEqual(['other'])
    expect(await keys(['a'], { limit: 1, offset: 1, refreshTtl: true })).toHaveLength(1)
    expect(await store.listNamespaces({ prefix: ['a'], maxDepth: 1 })).toEqual({ namespaces: [['a']] })
    expect(await store.listNamespaces({ suffix: ['b'] })).toEqual({ namespaces: [['a', 'b']] })
    expect(await store.listNamespaces({ limit: 1, offset: 1 })).toEqual({ namespaces: [['a', 'b']] })
    await store.deleteItem(['a', 'b'], 'k')
    await store.deleteItem(['a', 'b'], 'k')
    expect(await store.getItem(['a', 'b'], 'k', { refreshTtl: false })).toBeNull()
    expect(await store.listNamespaces()).toEqual({ namespaces: [['a']] })
  })
})

test('a graph and a client have one store', async () => {
  const { host, store, send } = await serve()
  await store.putItem(['outside'], 'k', { from: 'a client' })
  const thread = host.thread()
  await thread.start({}, { assistant_id: 'a' })
  await thread.transcript()
  expect((await thread.get('/state')).body.values.seen).toEqual({ from: 'a client' })
  expect((await store.getItem(['inside'], 'k'))?.value).toEqual({ from: 'a node' })
  expect(await send('GET', '/store/items?namespace=inside&key=k')).toEqual({
    status: 200,
    body: {
      namespace: ['inside'],
      key: 'k',
      value: { from: 'a node' },
      created_at: expect.stringMatching(/^\d{4}-.*Z$/),
      updated_at: expect.stringMatching(/^\d{4}-.*Z$/),
    },
  })
})

test('a search by similarity gives scores', async () => {
  const embed = async (texts: string[]) => texts.map((text) => [text.includes('sun') ? 1 : 0, 0.5])
  const { store } = await serve({ graphStore: { embed, dims: 2, fields: ['text'] } })
  await store.putItem(['a'], 'wet', { text: 'rain' })
  await store.putItem(['a'], 'bright', { text: 'sun' })
  await store.putItem(['a'], 'hidden', { text: 'sun' }, { index: false })
  const { items } = await store.searchItems(['a'], { query: 'sun' })
  expect(items.map(({ key, score }) => [key, score && Math.round(score * 100)])).toEqual([
    ['bright', 100],
    ['wet', 45],
    ['hidden', undefined],
  ])
})

describe('two users', () => {
  test('never see the items of the other, whichever way they ask', async () => {
    const { clientOf, send } = await serve({ authenticate })
    const [ann, bob] = [clientOf('ann'), clientOf('bob')]
    await ann.putItem(['notes', 'ann'], 'k', { secret: 'ann' })
    await bob.putItem(['notes'], 'mine', { secret: 'bob' })
    expect(await bob.getItem(['notes', 'ann'], 'k')).toBeNull()
    expect((await bob.searchItems([])).items.map(({ key }) => key)).toEqual(['mine'])
    expect((await bob.searchItems(['notes', 'ann'])).items).toEqual([])
    expect(await bob.listNamespaces()).toEqual({ namespaces: [['notes']] })
    await bob.deleteItem(['notes', 'ann'], 'k')
    await bob.putItem(['notes', 'ann'], 'k', { secret: 'not yours' })
    expect((await ann.getItem(['notes', 'ann'], 'k'))?.value).toEqual({ secret: 'ann' })
    for (const { method, path } of STORE_ROUTES) {
      const { status } = await send(method, path, method === 'GET' ? undefined : { namespace_prefix: [] })
      expect([method, path, status]).toEqual([method, path, 401])
    }
  })

  test('do what authorize lets them do, which knows the namespace and the key', async () => {
    const asked: unknown[] = []
    const { send } = await serve({
      authenticate,
      authorize: (principal, action, { namespace, key }) => {
        asked.push([action, namespace, key])
        return namespace?.[0] === principal?.id
      },
    })
    const item = { namespace: ['ann'], key: 'k' }
    expect((await send('PUT', '/store/items', { ...item, value: {} }, 'ann')).status).toBe(204)
    expect((await send('GET', '/store/items?namespace=ann&key=k', undefined, 'ann')).body.key).toBe('k')
    expect((await send('POST', '/store/items/search', { namespace_prefix: ['ann'] }, 'ann')).status).toBe(200)
    expect((await send('POST', '/store/namespaces', { prefix: ['ann'] }, 'ann')).status).toBe(200)
    expect((await send('DELETE', '/store/items', item, 'ann')).status).toBe(204)
    expect(asked).toEqual([
      ['store:put', ['ann'], 'k'],
      ['store:get', ['ann'], 'k'],
      ['store:search', ['ann'], undefined],
      ['store:list_namespaces', ['ann'], undefined],
      ['store:delete', ['ann'], 'k'],
    ])
    for (const [method, path, body] of [
      ['PUT', '/store/items', { ...item, value: {} }],
      ['GET', '/store/items?namespace=ann&key=k'],
      ['DELETE', '/store/items', item],
      ['POST', '/store/items/search', { namespace_prefix: [] }],
      ['POST', '/store/namespaces', {}],
    ] as const)
      expect([method, path, (await send(method, path, body, 'bob')).status]).toEqual([method, path, 403])
  })

  test('do not share a BaseStore of the server unless authorize decides', async () => {
    const graphStore = new InMemoryStore()
    const closed = await serve({ authenticate, graphStore })
    const refused = await closed.send('POST', '/store/items/search', { namespace_prefix: [] }, 'ann')
    expect(refused).toEqual({
      status: 403,
      body: { error: 'permission_denied', message: expect.stringContaining('`authorize`') },
    })
    const decided = await serve({ authenticate, graphStore, authorize: () => true })
    await decided.clientOf('ann').putItem(['a'], 'k', { n: 1 })
    expect((await graphStore.get(['a'], 'k'))?.value).toEqual({ n: 1 })
    const open = await serve({ graphStore })
    expect((await open.store.getItem(['a'], 'k'))?.value).toEqual({ n: 1 })
    expect((await open.send('PUT', '/store/items', { namespace: ['a:b'], key: 'k', value: {} })).status).toBe(
      422,
    )
  })
})

test('disable_store turns the routes off, and leaves the store to the graphs', async () => {
  const { host, send } = await serve({ http: { disable_store: true } })
  for (const [method, path] of [
    ['PUT', '/store/items'],
    ['GET', '/store/items?namespace=a&key=k'],
    ['DELETE', '/store/items'],
    ['POST', '/store/items/search'],
    ['POST', '/store/namespaces'],
  ] as const)
    expect([path, (await send(method, path, method === 'GET' ? undefined : {})).status]).toEqual([path, 404])
  const thread = host.thread()
  await thread.start({}, { assistant_id: 'a' })
  await thread.transcript()
  expect((await thread.get('/state')).body.values.seen).toBeNull()
})

describe('a bad request', () => {
  const item = { namespace: ['a'], key: 'k', value: {} }
  test.each([
    ['no namespace', 'PUT', { ...item, namespace: [] }, 400, 'Namespace is required'],
    ['an empty label', 'PUT', { ...item, namespace: ['a', ''] }, 422, 'cannot be empty or contain periods'],
    [
      'a label with a period',
      'PUT',
      { ...item, namespace: ['a.b'] },
      422,
      'cannot be empty or contain periods',
    ],
    ['the reserved root', 'PUT', { ...item, namespace: ['langgraph'] }, 422, 'reserved'],
    ['a label with NUL', 'PUT', { ...item, namespace: ['a\0'] }, 422, 'NUL'],
    ['too many labels', 'PUT', { ...item, namespace: Array(33).fill('a') }, 422, '32 labels'],
    ['far too many labels', 'PUT', { ...item, namespace: Array(100_000).fill('a') }, 400, 'at most 33'],
    ['a long namespace', 'PUT', { ...item, namespace: ['a'.repeat(1_025)] }, 422, '1024 characters'],
    ['a long key', 'PUT', { ...item, key: 'k'.repeat(1_025) }, 422, '1024 characters'],
    ['no key', 'PUT', { namespace: ['a'], value: {} }, 400, 'key'],
    ['a value that is no object', 'PUT', { ...item, value: [1] }, 400, 'value: expected an object'],
    ['no value', 'PUT', { ...item, value: null }, 400, 'value: expected an object'],
    ['an index that is none', 'PUT', { ...item, index: true }, 400, 'index'],
    ['a time to live of nothing', 'PUT', { ...item, ttl: 0 }, 400, 'minutes'],
    ['a prefix that is no list', 'POST', { namespace_prefix: 'a' }, 400, 'namespace_prefix'],
    ['a limit of nothing', 'POST', { namespace_prefix: [], limit: 0 }, 400, 'limit'],
    ['a limit without bounds', 'POST', { namespace_prefix: [], limit: 1e9 }, 400, 'limit'],
    ['a filter that is no object', 'POST', { namespace_prefix: [], filter: [] }, 400, 'filter'],
    [
      'a body that is too deep',
      'PUT',
      `{"namespace":["a"],"key":"k","value":{"a":${'['.repeat(200)}${']'.repeat(200)}}}`,
      400,
      'nest',
    ],
  ] as const)('with %s is refused, and nothing is written', async (_what, method, body, status, sentence) => {
    const { send, store } = await serve()
    const answer = await send(method, method === 'PUT' ? '/store/items' : '/store/items/search', body)
    expect(answer).toEqual({
      status,
      body: { error: expect.any(String), message: expect.stringContaining(sentence) },
    })
    expect((await store.searchItems([])).items).toEqual([])
  })

  test('without a key or with no namespace: a get says what is missing, or finds nothing', async () => {
    const { send } = await serve()
    expect((await send('GET', '/store/items?namespace=a')).status).toBe(400)
    expect(await send('GET', '/store/items?key=k')).toEqual({ status: 200, body: null })
    expect((await send('GET', '/store/items?namespace=a..b&key=k')).status).toBe(422)
    expect((await send('DELETE', '/store/items', { key: 'k' })).status).toBe(204)
  })
})

test('names of objects in a value come back as they were sent, and change no object', async () => {
  const { send } = await serve()
  const body =
    '{"namespace":["__proto__"],"key":"constructor","value":{"__proto__":{"polluted":2},"a":{"__proto__":{"polluted":1}},"😀":"\\u0000"}}'
  expect((await send('PUT', '/store/items', body)).status).toBe(204)
  const item = await send('GET', '/store/items?namespace=__proto__&key=constructor')
  expect(JSON.stringify(item.body.value)).toBe(
    '{"__proto__":{"polluted":2},"a":{"__proto__":{"polluted":1}},"😀":"\\u0000"}',
  )
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
})

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: anyCharacter }),
  fc.constantFrom('a', 'langgraph', '*', '\ud800'),
)
const json = fc.oneof(fc.array(text, { maxLength: 4 }), fc.jsonValue(), fc.constant(undefined))
const request = fc.record({
  route: fc.constantFrom(
    { method: 'PUT', path: '/store/items' },
    { method: 'DELETE', path: '/store/items' },
    { method: 'POST', path: '/store/items/search' },
    { method: 'POST', path: '/store/namespaces' },
  ),
  body: fc.record({
    namespace: json,
    namespace_prefix: json,
    prefix: json,
    suffix: json,
    key: fc.oneof(text, fc.jsonValue()),
    value: fc.oneof(fc.dictionary(text, fc.jsonValue()), fc.jsonValue()),
    filter: fc.oneof(fc.dictionary(text, fc.jsonValue()), fc.constant(undefined)),
    max_depth: fc.oneof(fc.integer(), fc.constant(undefined)),
    limit: fc.oneof(fc.integer({ min: -1, max: 1_001 }), fc.constant(undefined)),
  }),
})

test('any request is answered, never with a 5xx, and what was put can be read', async () => {
  const errors: unknown[] = []
  const server = createAgentServer({ agents, onError: (error) => errors.push(error) })
  const send = async (method: string, path: string, body?: unknown) => {
    const url = new URL(path, 'http://127.0.0.1')
    const response = await server.fetch(
      new Request(url, { method, ...(body !== undefined && { body: JSON.stringify(body) }) }),
    )
    const answer = await response.text()
    return { status: response.status, body: answer ? JSON.parse(answer) : undefined }
  }
  await fc.assert(
    fc.asyncProperty(request, async ({ route: { method, path }, body }) => {
      const { status, body: answer } = await send(method, path, body)
      expect([200, 204, 400, 422]).toContain(status)
      if (status >= 400) expect(answer).toEqual({ error: expect.any(String), message: expect.any(String) })
      if (method !== 'PUT' || status !== 204) return
      const namespace = (body.namespace as string[]).join('.')
      const query = new URLSearchParams({ namespace, key: body.key as string })
      if (query.get('namespace') !== namespace || JSON.stringify(query.get('key')).includes('\\ud')) return
      const read = await send('GET', `/store/items?${query}`)
      // A query cannot hold half of a surrogate pair.
      if (/\p{Surrogate}/u.test(namespace + String(body.key))) return
      expect(read.body.value).toEqual(JSON.parse(JSON.stringify(body.value)))
    }),
    { numRuns: 300 },
  )
  expect(errors).toEqual([])
  await server.close()
})
