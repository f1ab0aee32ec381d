import { expect, test } from 'vitest'
import { created, DOCKER, nextMillisecond, type Served, serve } from '../support/served.ts'

const ANY = '5f0c7d0e-1c2f-4a5b-8c9d-0123456789ab'
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT/)

const add = (served: Served, compute_id: string, headers?: Readonly<Record<string, string>>) =>
  served.ask(
    'POST',
    '/v2/listeners',
    { compute_type: 'k8s', compute_id, compute_config: { k8s_namespaces: ['a'] } },
    headers,
  )

test('a listener is created, read, changed and deleted', async () => {
  const served = serve()
  const { status, body } = await add(served, 'cluster')
  expect(status).toBe(201)
  expect(body).toEqual({
    id: expect.any(String),
    version: null,
    compute_type: 'k8s',
    compute_id: 'cluster',
    compute_config: { k8s_namespaces: ['a'] },
    created_at: TIME,
    updated_at: TIME,
  })
  const path = `/v2/listeners/${body.id}`
  expect((await served.ask('GET', path)).body).toEqual(body)
  expect((await served.ask('PATCH', path, { version: '1.2' })).body).toMatchObject({
    version: '1.2',
    compute_config: { k8s_namespaces: ['a'] },
  })
  const cleared = await served.ask('PATCH', path, { version: null, compute_config: {} })
  expect(cleared.body).toMatchObject({ version: '1.2', compute_config: { k8s_namespaces: null } })
  expect(await served.ask('DELETE', path)).toMatchObject({ status: 204, body: undefined })
  for (const method of ['GET', 'DELETE'])
    expect(await served.ask(method, path)).toMatchObject({
      status: 404,
      body: { detail: `Listener ID ${body.id} not found.` },
    })
  expect((await served.ask('PATCH', path, {})).status).toBe(404)
  expect((await add(served, 'cluster')).status).toBe(201)
})

test('a listener may be created with its version', async () => {
  const served = serve()
  const body = { compute_type: 'k8s', compute_id: 'one', compute_config: {}, version: '0.2.1' }
  expect(await served.ask('POST', '/v2/listeners', body)).toMatchObject({
    status: 201,
    body: { version: '0.2.1' },
  })
})

test('a compute_id is taken once in a workspace', async () => {
  const served = serve()
  await add(served, 'cluster')
  const again = await add(served, 'cluster')
  expect(again.status).toBe(409)
  expect(again.body.detail).toContain('compute_id already exists')
  expect((await add(served, 'cluster', { 'x-caller': 'bob' })).status).toBe(201)
})

test('of many at once with one compute_id, one is created', async () => {
  const served = serve()
  const answers = await Promise.all(Array.from({ length: 10 }, () => add(served, 'cluster')))
  expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(9).fill(409)])
})

test('lists are newest first, in pages, and have those of the caller only', async () => {
  const served = serve()
  for (const name of ['a', 'b', 'c']) {
    await add(served, name)
    await nextMillisecond()
  }
  const ids = async (query: string, headers?: Readonly<Record<string, string>>) => {
    const { body } = await served.ask('GET', `/v2/listeners${query}`, undefined, headers)
    return [body.resources.map((one: { compute_id: string }) => one.compute_id).join(''), body.offset]
  }
  expect(await ids('')).toEqual(['cba', 3])
  expect(await ids('?limit=2')).toEqual(['cb', 2])
  expect(await ids('?limit=2&offset=2')).toEqual(['a', 3])
  expect(await ids('', { 'x-caller': 'bob' })).toEqual(['', 0])
})

test('a listener of another workspace is unknown', async () => {
  const served = serve()
  const { id } = (await add(served, 'cluster')).body
  const bob = { 'x-caller': 'bob' }
  for (const [method, body] of [['GET'], ['PATCH', {}], ['DELETE']] as const)
    expect((await served.ask(method, `/v2/listeners/${id}`, body, bob)).status).toBe(404)
  expect((await served.ask('GET', `/v2/listeners/${id}`)).status).toBe(200)
})

test('wrong listeners are 422', async () => {
  const served = serve()
  const types = async (body: unknown) =>
    (await served.ask('POST', '/v2/listeners', body)).body.detail.map(
      ({ type, loc }: { type: string; loc: unknown[] }) => `${type} ${loc.slice(1).join('.')}`,
    )
  expect(await types({})).toEqual(['missing compute_type', 'missing compute_id', 'missing compute_config'])
  expect(
    await types({ compute_type: 'vm', compute_id: '', compute_config: { k8s_namespaces: [1] } }),
  ).toEqual([
    'literal_error compute_type',
    'string_too_short compute_id',
    'string_type compute_config.k8s_namespaces.0',
  ])
})

test('images need a listener where the workspace has some, and one of its namespaces', async () => {
  const served = serve()
  expect((await created(served, DOCKER)).source_config.listener_id).toBeNull()
  const { id } = (await add(served, 'cluster')).body
  const create = (name: string, config: object) =>
    served.ask('POST', '/v2/deployments', {
      ...DOCKER,
      name,
      source_config: { resource_spec: {}, ...config },
    })
  const without = await create('two', {})
  expect(without.status).toBe(400)
  expect(without.body.detail).toContain("listener_id' is required")
  expect((await create('two', { listener_id: ANY })).body.detail).toBe(`Listener ID ${ANY} not found.`)
  const namespace = await create('two', { listener_id: id, listener_config: { k8s_namespace: 'b' } })
  expect(namespace.body.detail).toContain("'source_config.listener_config.k8s_namespace' must be one of a")
  expect((await create('two', { listener_id: id, listener_config: { k8s_namespace: 'a' } })).status).toBe(201)
})
