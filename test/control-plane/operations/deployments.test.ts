import { describe, expect, test } from 'vitest'
import { type Answer, created, DOCKER, GITHUB, type Served, SOURCE, serve } from '../support/served.ts'

const ANY = '5f0c7d0e-1c2f-4a5b-8c9d-0123456789ab'

const names = ({ body }: Answer): string[] => body.resources.map(({ name }: { name: string }) => name)

/** Four deployments, the newest one first in lists. */
async function four(served: Served): Promise<Record<string, Answer['body']>> {
  const alpha = await created(served, { name: 'alpha' })
  const beta = await created(served, {
    name: 'beta',
    source_config: { ...GITHUB.source_config, deployment_type: 'dev_free' },
    agent: { agent_id: 'b', environment: 'production' },
  })
  const gamma = await created(served, { ...DOCKER, name: 'Alphabet' })
  const delta = await created(served, { ...SOURCE, name: 'delta', secrets: [] })
  return { alpha, beta, gamma, delta }
}

describe('lists', () => {
  test('are newest first, in pages whose offset is that of the next one', async () => {
    const served = serve()
    await four(served)
    const first = await served.ask('GET', '/v2/deployments?limit=3')
    expect(names(first)).toEqual(['delta', 'Alphabet', 'beta'])
    expect(first.body.offset).toBe(3)
    const second = await served.ask('GET', `/v2/deployments?limit=3&offset=${first.body.offset}`)
    expect(names(second)).toEqual(['alpha'])
    expect(second.body.offset).toBe(4)
    expect((await served.ask('GET', '/v2/deployments?offset=9')).body).toEqual({ resources: [], offset: 9 })
  })

  test('have 20 deployments unless asked otherwise', async () => {
    const served = serve()
    for (let n = 0; n < 21; n++) await created(served, { name: `n${n}` })
    expect((await served.ask('GET', '/v2/deployments')).body.resources).toHaveLength(20)
    expect((await served.ask('GET', '/v2/deployments?limit=100')).body.resources).toHaveLength(21)
  })

  test.each([
    ['name_contains=', ['delta', 'Alphabet', 'beta', 'alpha']],
    ['name_contains=ALPHA', ['Alphabet', 'alpha']],
    ['name=alpha', ['alpha']],
    ['name=', ['delta', 'Alphabet', 'beta', 'alpha']],
    ['deployment_type=dev_free', ['beta']],
    ['deployment_type=dev', ['delta', 'alpha']],
    ['deployment_type=prod', ['Alphabet']],
    ['status=AWAITING_DATABASE', ['delta', 'Alphabet', 'beta', 'alpha']],
    ['status=READY', []],
    ['status=anything', []],
    ['agent_id=b', ['beta']],
    ['agent_id=b&agent_environment=staging', []],
    ['agent_environment=production', ['beta']],
    ['image_version=1.0', []],
    [`tag_value_ids=${ANY}`, []],
    ['remote_reconciled=true', ['delta', 'Alphabet', 'beta', 'alpha']],
    ['name_contains=a&limit=1&offset=1', ['Alphabet']],
    ['name=alpha&offset=1', []],
    ['name=alpha&status=READY', []],
    ['name=alpha&deployment_type=dev', ['alpha']],
    ['name=nobody', []],
    ['status=AWAITING_DATABASE&deployment_type=dev', ['delta', 'alpha']],
    ['status=AWAITING_DATABASE&limit=2&offset=1', ['Alphabet', 'beta']],
    ['deployment_type=dev&limit=1&offset=1', ['alpha']],
    ['unknown=1', ['delta', 'Alphabet', 'beta', 'alpha']],
  ])('with %s have %j', async (query, expected) => {
    const served = serve()
    await four(served)
    expect(names(await served.ask('GET', `/v2/deployments?${query}`))).toEqual(expected)
  })

  test('have the deployments whose ids are given', async () => {
    const served = serve()
    const { alpha, delta } = await four(served)
    const ids = `${alpha.id}, ${delta.id},${ANY},`
    expect(names(await served.ask('GET', `/v2/deployments?deployment_ids=${ids}`))).toEqual([
      'delta',
      'alpha',
    ])
    expect(names(await served.ask('GET', '/v2/deployments?deployment_ids=nonsense'))).toEqual([])
  })

  test('change their statuses with their deployments', async () => {
    const served = serve()
    await created(served)
    await served.work()
    expect(names(await served.ask('GET', '/v2/deployments?status=READY'))).toEqual(['one'])
  })

  test.each([
    ['limit=0', 'greater_than_equal'],
    ['limit=101', 'less_than_equal'],
    ['limit=x', 'int_parsing'],
    ['offset=-1', 'greater_than_equal'],
    ['deployment_type=huge', 'literal_error'],
    ['remote_reconciled=perhaps', 'bool_parsing'],
  ])('with %s are 422', async (query, type) => {
    const { status, body } = await serve().ask('GET', `/v2/deployments?${query}`)
    expect(status).toBe(422)
    expect(body.detail).toMatchObject([{ type, loc: ['query', query.split('=')[0]] }])
  })
})

test('free-count counts deployments of type dev_free, and is no id', async () => {
  const served = serve()
  expect((await served.ask('GET', '/v2/deployments/free-count')).body).toEqual({ count: 0 })
  await four(served)
  expect((await served.ask('GET', '/v2/deployments/free-count')).body).toEqual({ count: 1 })
  expect(
    (await served.ask('GET', '/v2/deployments/free-count', undefined, { 'x-caller': 'bob' })).body.count,
  ).toBe(0)
})

test('an id is a UUID, also in capitals or without hyphens', async () => {
  const served = serve()
  const { id } = await created(served)
  for (const spelled of [id.toUpperCase(), id.replaceAll('-', '')]) {
    const { status, body } = await served.ask('GET', `/v2/deployments/${encodeURIComponent(spelled)}`)
    expect([status, body.id]).toEqual([200, id])
  }
  const { status, body } = await served.ask('GET', '/v2/deployments/xyz')
  expect(status).toBe(422)
  expect(body.detail).toMatchObject([{ type: 'uuid_parsing', loc: ['path', 'deployment_id'], input: 'xyz' }])
})

test('a deployment of another owner is as unknown as one that never was, for every operation', async () => {
  const served = serve()
  const { id, latest_revision_id: revision } = await created(served)
  const requests = [
    ['GET', `/v2/deployments/${id}`],
    ['PATCH', `/v2/deployments/${id}`, {}],
    ['DELETE', `/v2/deployments/${id}`],
    ['DELETE', `/v2/deployments?deployment_ids=${id}`],
    ['GET', `/v2/deployments/${id}/revisions`],
    ['POST', `/v2/deployments/${id}/revisions`, {}],
    ['GET', `/v2/deployments/${id}/revisions/${revision}`],
    ['POST', `/v2/deployments/${id}/revisions/${revision}/redeploy`],
    ['POST', `/v2/deployments/${id}/revisions/${revision}/interrupt`],
    ['POST', `/v2/deployments/${id}/revisions/${revision}/interruption`],
    ['GET', `/v2/deployments/${id}/revisions/${revision}/logs?type=build`],
    ['GET', `/v2/deployments/${id}/logs`],
    ['GET', `/v2/deployment-logs?deployment_id=${id}`],
    ['PATCH', `/v2/deployments/${id}/resource-tiers`, { compute_tier: 'DEDICATED_S' }],
    ['PATCH', `/v2/deployments/${id}/deployment-tier`, { deployment_tier: 'x' }],
    ['POST', `/v2/deployments/${id}/push-token`],
    ['POST', `/v2/deployments/${id}/upload-url`],
    ['POST', `/v1/projects/${id}/revisions/${revision}/build_logs`, {}],
    ['POST', `/v1/projects/${id}/revisions/${revision}/deploy_logs`, {}],
    ['POST', `/v1/projects/${id}/deploy_logs`, {}],
  ] as const
  for (const [method, path, body] of requests) {
    const known = await served.ask(method, path, body, { 'x-caller': 'bob' })
    const never = await served.ask(method, path.replaceAll(id, ANY), body, { 'x-caller': 'bob' })
    expect([path, known.status, known.body]).toEqual([
      path,
      404,
      { detail: `Deployment ID ${id} not found.` },
    ])
    expect([path, never.status, never.body]).toEqual([
      path,
      404,
      { detail: `Deployment ID ${ANY} not found.` },
    ])
  }
  expect(
    (await served.ask('GET', '/v2/deployments', undefined, { 'x-caller': 'bob' })).body.resources,
  ).toEqual([])
  expect(
    (await served.ask('GET', `/v2/deployments?deployment_ids=${id}`, undefined, { 'x-caller': 'bob' })).body
      .resources,
  ).toEqual([])
  expect((await served.ask('GET', `/v2/deployments/${id}`)).body.status).toBe('AWAITING_DATABASE')
})

describe('a deletion', () => {
  test('is 204 at once, and the deployment is gone when its servers are', async () => {
    const served = serve()
    const { id } = await created(served)
    await served.work()
    expect(served.deployer.servers.size).toBe(1)
    expect(await served.ask('DELETE', `/v2/deployments/${id}?delete_tracing_project=true`)).toMatchObject({
      status: 204,
      body: undefined,
    })
    expect((await served.ask('GET', `/v2/deployments/${id}`)).body.status).toBe('AWAITING_DELETE')
    expect((await served.ask('PATCH', `/v2/deployments/${id}`, { display_name: 'x' })).status).toBe(404)
    expect((await served.ask('DELETE', `/v2/deployments/${id}`)).status).toBe(204)
    await served.work()
    expect(served.deployer.servers.size).toBe(0)
    expect(await served.ask('GET', `/v2/deployments/${id}`)).toMatchObject({
      status: 404,
      body: { detail: `Deployment ID ${id} not found.` },
    })
    expect((await created(served)).id).not.toBe(id)
  })

  test('of several tells which of them are unknown', async () => {
    const served = serve()
    const { alpha, beta, gamma } = await four(served)
    const all = await served.ask(
      'DELETE',
      `/v2/deployments?deployment_ids=${alpha.id}&deployment_ids=${beta.id}&deployment_ids=${beta.id}`,
    )
    expect(all).toMatchObject({ status: 200, body: { deleted: [alpha.id, beta.id], failed: [] } })
    const some = await served.ask(
      'DELETE',
      `/v2/deployments?deployment_ids=${gamma.id}&deployment_ids=${ANY}`,
    )
    expect(some.status).toBe(207)
    expect(some.body).toEqual({
      deleted: [gamma.id],
      failed: [{ deployment_id: ANY, detail: `Deployment ID ${ANY} not found.` }],
    })
    expect((await served.ask('DELETE', `/v2/deployments?deployment_ids=${ANY}`)).status).toBe(404)
    await served.work()
    expect(names(await served.ask('GET', '/v2/deployments'))).toEqual(['delta'])
  })

  test('of several needs between 1 and 100 ids', async () => {
    const served = serve()
    const types = async (query: string) =>
      (await served.ask('DELETE', `/v2/deployments?${query}`)).body.detail.map(
        ({ type }: { type: string }) => type,
      )
    expect(await types('')).toEqual(['missing'])
    expect(await types('deployment_ids=x')).toEqual(['uuid_parsing'])
    expect(await types(Array(101).fill(`deployment_ids=${ANY}`).join('&'))).toEqual(['too_long'])
  })
})

describe('tiers', () => {
  test('are kept and answered, and make no revision', async () => {
    const served = serve()
    const { id, latest_revision_id } = await created(served)
    const path = `/v2/deployments/${id}/resource-tiers`
    const set = async (body: unknown) => (await served.ask('PATCH', path, body)).body
    expect(await set({ compute_tier: 'DEDICATED_S', database_tier: null })).toMatchObject({
      compute_tier: 'DEDICATED_S',
      database_tier: null,
    })
    expect(await set({ database_tier: 'DEDICATED_L' })).toMatchObject({
      compute_tier: 'DEDICATED_S',
      database_tier: 'DEDICATED_L',
      latest_revision_id,
    })
    const tier = await served.ask('PATCH', `/v2/deployments/${id}/deployment-tier`, {
      deployment_tier: 'pro',
    })
    expect(tier.body).toMatchObject({ deployment_tier: 'pro', compute_tier: 'DEDICATED_S' })
  })

  test.each([
    [{}, "Value error, At least one of 'compute_tier' and 'database_tier' must be given"],
    [{ compute_tier: null }, "Value error, At least one of 'compute_tier' and 'database_tier' must be given"],
    [{ database_tier: 'DEDICATED_S' }, "Value error, 'database_tier' needs a dedicated 'compute_tier'"],
    [
      { compute_tier: 'SERVERLESS_S', database_tier: 'DEDICATED_S' },
      "Value error, 'database_tier' needs a dedicated 'compute_tier'",
    ],
  ])('%j is 422', async (body, msg) => {
    const served = serve()
    const { id } = await created(served)
    const answer = await served.ask('PATCH', `/v2/deployments/${id}/resource-tiers`, body)
    expect(answer.status).toBe(422)
    expect(answer.body.detail).toEqual([
      { type: 'value_error', loc: ['body'], msg, input: body, ctx: { error: {} } },
    ])
  })

  test('have names', async () => {
    const served = serve()
    const { id } = await created(served)
    const answer = await served.ask('PATCH', `/v2/deployments/${id}/resource-tiers`, { compute_tier: 'HUGE' })
    expect(answer.body.detail).toMatchObject([{ type: 'literal_error', loc: ['body', 'compute_tier'] }])
    const empty = await served.ask('PATCH', `/v2/deployments/${id}/deployment-tier`, { deployment_tier: '' })
    expect(empty.body.detail).toMatchObject([{ type: 'string_too_short', loc: ['body', 'deployment_tier'] }])
  })
})
