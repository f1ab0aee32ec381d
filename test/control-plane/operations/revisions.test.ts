import { describe, expect, test } from 'vitest'
import { untilAborted } from '../support/scripted-deployer.ts'
import { created, GITHUB, type Served, SOURCE, serve } from '../support/served.ts'

const ANY = '5f0c7d0e-1c2f-4a5b-8c9d-0123456789ab'
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)

const list = async (served: Served, id: string, query = '') =>
  served.ask('GET', `/v2/deployments/${id}/revisions${query}`)

test('a revision has every field of the API, with the history of its status', async () => {
  const served = serve()
  const { id, latest_revision_id } = await created(served)
  const path = `/v2/deployments/${id}/revisions/${latest_revision_id}`
  expect((await served.ask('GET', path)).body).toEqual({
    id: latest_revision_id,
    deployment_id: id,
    revision_number: 1,
    source: 'github',
    source_revision_config: {
      repo_ref: 'main',
      langgraph_config_path: 'langgraph.json',
      image_uri: null,
      source_tarball_path: null,
      repo_commit_sha: null,
      tracked_packages: null,
    },
    status: 'CREATING',
    status_message: null,
    status_history: [{ status: 'CREATING', at: TIME, reason: null }],
    created_at: TIME,
    updated_at: TIME,
  })
  await served.work()
  const { body } = await served.ask('GET', path)
  expect(body).toMatchObject({ status: 'DEPLOYED', status_message: null })
  expect(body.source_revision_config.repo_commit_sha).toBe(`sha of ${latest_revision_id}`)
  expect(body.status_history.map(({ status }: { status: string }) => status)).toEqual([
    'CREATING',
    'QUEUED',
    'AWAITING_BUILD',
    'BUILDING',
    'AWAITING_DEPLOY',
    'DEPLOYING',
    'DEPLOYED',
  ])
})

test('a failed revision says why, as far as the deployer lets it be known', async () => {
  const served = serve({ onError: () => {} })
  served.deployer.script.build = () => {
    throw new Error('password: hunter2')
  }
  const { id, latest_revision_id } = await created(served)
  await served.work()
  const { body } = await served.ask('GET', `/v2/deployments/${id}/revisions/${latest_revision_id}`)
  expect(body.status).toBe('BUILD_FAILED')
  expect(body.status_message).toEqual(expect.any(String))
  expect(JSON.stringify(body)).not.toContain('hunter2')
})

describe('a list of revisions', () => {
  test('is newest first, in pages', async () => {
    const served = serve()
    const { id } = await created(served)
    for (let n = 0; n < 3; n++) await served.ask('POST', `/v2/deployments/${id}/revisions`, {})
    const first = await list(served, id, '?limit=3')
    expect(first.body.resources.map((one: { revision_number: number }) => one.revision_number)).toEqual([
      4, 3, 2,
    ])
    const rest = await list(served, id, `?limit=3&offset=${first.body.offset}`)
    expect(rest.body.resources.map((one: { revision_number: number }) => one.revision_number)).toEqual([1])
    expect(rest.body.offset).toBe(4)
  })

  test('has some statuses, separated by commas', async () => {
    const served = serve()
    const { id } = await created(served)
    await served.work()
    await served.ask('POST', `/v2/deployments/${id}/revisions`, {})
    const statuses = async (query: string) =>
      (await list(served, id, query)).body.resources.map((one: { status: string }) => one.status)
    expect(await statuses('?status=DEPLOYED')).toEqual(['DEPLOYED'])
    expect(await statuses('?status=CREATING,DEPLOYED')).toEqual(['CREATING', 'DEPLOYED'])
    expect(await statuses('?status=')).toEqual(['CREATING', 'DEPLOYED'])
    expect(await statuses('?status=SKIPPED&remote_reconciled=false')).toEqual([])
    const wrong = await list(served, id, '?status=DEPLOYED,NO')
    expect(wrong.status).toBe(400)
    expect(wrong.body.detail).toContain("'status' must be some of CREATING, QUEUED")
  })
})

describe('a new revision', () => {
  test('is made of what the deployment has, and of what is given', async () => {
    const served = serve({ secrets: { show: 'plaintext' } })
    const { id } = await created(served, { secrets: [{ name: 'A', value: '1' }] })
    const { status, body } = await served.ask('POST', `/v2/deployments/${id}/revisions`, {
      source_config: {
        install_command: 'npm ci',
        build_command: 'make',
        resource_spec: { cpu: 1 },
        repo_url: 'ignored',
      },
      source_revision_config: { repo_ref: 'next' },
      secrets: [{ name: 'B', value: '2' }],
      tracked_packages: ['a:1'],
      display_name: 'ignored',
    })
    expect(status).toBe(201)
    expect(body).toMatchObject({
      revision_number: 2,
      status: 'CREATING',
      source_revision_config: {
        repo_ref: 'next',
        langgraph_config_path: 'langgraph.json',
        tracked_packages: ['a:1'],
      },
    })
    expect((await served.ask('GET', `/v2/deployments/${id}`)).body).toMatchObject({
      latest_revision_id: body.id,
      display_name: null,
      source_config: {
        install_command: 'npm ci',
        repo_url: GITHUB.source_config.repo_url,
        resource_spec: { cpu: 1 },
      },
      secrets: [{ name: 'B', value: '2' }],
    })
  })

  test('needs no body', async () => {
    const served = serve()
    const { id } = await created(served)
    const { status, body } = await served.ask('POST', `/v2/deployments/${id}/revisions`)
    expect([status, body.revision_number]).toEqual([201, 2])
  })

  test.each(['internal_source', 'internal_docker'])('of %s needs something to deploy', async (source) => {
    const served = serve()
    const { id } = await created(served, { ...SOURCE, source, secrets: [] })
    const { status, body } = await served.ask('POST', `/v2/deployments/${id}/revisions`, {})
    expect(status).toBe(400)
    expect(body.detail).toContain('There is nothing to deploy yet')
  })
})

test('a redeploy takes all that the revision was made with, and what was built for it', async () => {
  const served = serve({ secrets: { show: 'plaintext' } })
  const { id, latest_revision_id: first } = await created(served, { secrets: [{ name: 'A', value: '1' }] })
  await served.work()
  await served.ask('PATCH', `/v2/deployments/${id}`, {
    source_config: { resource_spec: { cpu: 1 }, build_command: 'make', custom_url: 'https://x.test' },
    source_revision_config: { repo_ref: 'next' },
    secrets: [{ name: 'B', value: '2' }],
  })
  await served.work()
  served.deployer.calls.length = 0
  const { status, body } = await served.ask('POST', `/v2/deployments/${id}/revisions/${first}/redeploy`)
  expect(status).toBe(200)
  expect(body).toMatchObject({
    id,
    source_config: { resource_spec: null, build_command: null, custom_url: 'https://x.test' },
    source_revision_config: { repo_ref: 'main', repo_commit_sha: `sha of ${first}` },
    secrets: [{ name: 'A', value: '1' }],
  })
  await served.work()
  const third = body.latest_revision_id
  expect(served.deployer.calls).toEqual(expect.arrayContaining([`deploy ${third}`]))
  expect(served.deployer.calls.filter((call) => /^(prepare|build)/.test(call))).toEqual([])
  expect((await served.ask('GET', `/v2/deployments/${id}`)).body.active_revision_id).toBe(third)
})

test.each(['interrupt', 'interruption'])('%s stops a revision that is under way', async (verb) => {
  const served = serve()
  served.deployer.script.build = untilAborted
  const { id, latest_revision_id } = await created(served)
  const path = `/v2/deployments/${id}/revisions/${latest_revision_id}`
  const { status, body } = await served.ask('POST', `${path}/${verb}`)
  expect([status, body.id]).toEqual([200, latest_revision_id])
  await served.work()
  expect((await served.ask('GET', path)).body.status).toBe('INTERRUPTED')
  const again = await served.ask('POST', `${path}/${verb}`)
  expect(again.status).toBe(400)
  expect(again.body.detail).toContain('INTERRUPTED')
})

test('a revision of another deployment is as unknown as one that never was', async () => {
  const served = serve()
  const one = await created(served)
  const two = await created(served, { name: 'two' })
  for (const revision of [two.latest_revision_id, ANY])
    for (const [method, place] of [
      ['GET', ''],
      ['POST', '/redeploy'],
      ['POST', '/interrupt'],
      ['GET', '/logs?type=deploy'],
    ] as const) {
      const answer = await served.ask(method, `/v2/deployments/${one.id}/revisions/${revision}${place}`)
      expect(answer).toMatchObject({ status: 404, body: { detail: `Deployment ID ${one.id} not found.` } })
    }
})
