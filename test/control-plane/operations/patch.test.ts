import { describe, expect, test } from 'vitest'
import { type Body, created, DOCKER, GITHUB, type Served, SOURCE, serve } from '../support/served.ts'

const ANY = '5f0c7d0e-1c2f-4a5b-8c9d-0123456789ab'

const patch = (served: Served, id: string, body: Body) => served.ask('PATCH', `/v2/deployments/${id}`, body)

const revisions = async (served: Served, id: string): Promise<number> =>
  (await served.ask('GET', `/v2/deployments/${id}/revisions`)).body.resources.length

describe('a PATCH makes a revision', () => {
  test.each([
    { source_revision_config: { repo_ref: 'next' } },
    { source_revision_config: { langgraph_config_path: 'other.json' } },
    { source_revision_config: { repo_ref: 'main' } },
    { source_config: { resource_spec: { cpu: 1 } } },
    { source_config: { install_command: 'npm ci' } },
    { source_config: { build_command: 'npm run build' } },
    { secrets: [{ name: 'A', value: 'b' }] },
    { secret_references: [] },
    { tracked_packages: ['langgraph:1.0'] },
    { source_revision_config: { tracked_packages: ['langgraph:1.0'] } },
  ])('of %j', async (body) => {
    const served = serve()
    const { id, latest_revision_id } = await created(served)
    const { status, body: answer } = await patch(served, id, body)
    expect(status).toBe(200)
    expect(answer.latest_revision_id).not.toBe(latest_revision_id)
    const { resources } = (await served.ask('GET', `/v2/deployments/${id}/revisions?limit=1`)).body
    expect(resources[0]).toMatchObject({
      id: answer.latest_revision_id,
      revision_number: 2,
      status: 'CREATING',
    })
  })

  test.each([
    {},
    { source_config: {} },
    { source_config: null, source_revision_config: null, secrets: null, secret_references: null },
    { source_config: { build_on_push: true } },
    { source_config: { custom_url: 'https://mine.test' } },
    { source_config: { resource_spec: null } },
    { source_revision_config: {} },
    { source_revision_config: { repo_ref: null, image_uri: null } },
    { display_name: 'The one' },
    { secrets: [] },
    { revision_source: 'github' },
  ])('not of %j', async (body) => {
    const served = serve()
    const { id, latest_revision_id } = await created(served)
    const answer = await patch(served, id, body)
    expect(answer).toMatchObject({ status: 200, body: { latest_revision_id } })
    expect(await revisions(served, id)).toBe(1)
  })
})

test('what is left out or null stays, and a resource_spec is replaced as a whole', async () => {
  const served = serve({ secrets: { show: 'plaintext' } })
  const secrets = [{ name: 'A', value: '1' }]
  const { id } = await created(served, {
    source_config: {
      ...GITHUB.source_config,
      install_command: 'npm ci',
      resource_spec: { cpu: 1, memory_mb: 512 },
    },
    secrets,
  })
  const { body } = await patch(served, id, {
    source_config: {
      install_command: null,
      build_command: 'make',
      resource_spec: { cpu: 2 },
      custom_url: 'https://x.test',
    },
    source_revision_config: { repo_ref: 'next', langgraph_config_path: null },
    secrets: [],
  })
  expect(body).toMatchObject({
    source_config: {
      install_command: 'npm ci',
      build_command: 'make',
      custom_url: 'https://x.test',
      build_on_push: false,
    },
    source_revision_config: {
      repo_ref: 'next',
      langgraph_config_path: 'langgraph.json',
      repo_commit_sha: null,
    },
    secrets,
  })
  expect(body.source_config.resource_spec).toEqual({ cpu: 2 })
  const named = await patch(served, id, { display_name: 'The one' })
  expect(named.body).toMatchObject({ display_name: 'The one', name: 'one', secrets })
  expect((await patch(served, id, { display_name: null })).body.display_name).toBe('The one')
})

test('secrets are replaced as a whole, and are what the next revision is given', async () => {
  const served = serve({ secrets: { show: 'plaintext' } })
  const { id } = await created(served, {
    secrets: [
      { name: 'A', value: '1' },
      { name: 'B', value: '2' },
    ],
  })
  const { body } = await patch(served, id, { secrets: [{ name: 'C', value: '3' }] })
  expect(body.secrets).toEqual([{ name: 'C', value: '3' }])
})

test('references to secrets are cleared by an empty list', async () => {
  const served = serve()
  const reference = { name: 'A', secret_name: 'store', secret_key: 'a' }
  const { id } = await created(served, { ...DOCKER, secret_references: [reference] })
  expect((await patch(served, id, { display_name: 'x' })).body.secret_references).toEqual([reference])
  expect((await patch(served, id, { secrets: [{ name: 'A', value: '1' }] })).body.detail).toContain(
    "'A' is listed twice",
  )
  expect((await patch(served, id, { secret_references: [] })).body.secret_references).toEqual([])
})

test('the commit of the revision before is not that of the new one', async () => {
  const served = serve()
  const { id, latest_revision_id } = await created(served)
  await served.work()
  const sha = async () =>
    (await served.ask('GET', `/v2/deployments/${id}`)).body.source_revision_config.repo_commit_sha
  expect(await sha()).toBe(`sha of ${latest_revision_id}`)
  await patch(served, id, { display_name: 'x' })
  expect(await sha()).toBe(`sha of ${latest_revision_id}`)
  const { body } = await patch(served, id, { source_revision_config: { repo_ref: 'next' } })
  expect(body.source_revision_config.repo_commit_sha).toBeNull()
  await served.work()
  expect(await sha()).toBe(`sha of ${body.latest_revision_id}`)
})

describe('fixed fields', () => {
  test.each([
    ['repo_url', 'https://git.test/two.git'],
    ['deployment_type', 'prod'],
    ['integration_id', ANY],
  ])('%s cannot change', async (field, value) => {
    const served = serve()
    const { id } = await created(served)
    expect(await patch(served, id, { source_config: { [field]: value } })).toMatchObject({
      status: 400,
      body: { detail: `'source_config.${field}' cannot be changed once the deployment is created.` },
    })
    expect(await revisions(served, id)).toBe(1)
  })

  test('can be sent as they are, as Terraform does it', async () => {
    const served = serve()
    const body = await created(served)
    expect((await patch(served, body.id, { source_config: GITHUB.source_config })).status).toBe(200)
  })

  test('a listener and its namespace cannot change', async () => {
    const served = serve()
    const listener = await served.ask('POST', '/v2/listeners', {
      compute_type: 'k8s',
      compute_id: 'c',
      compute_config: { k8s_namespaces: ['a', 'b'] },
    })
    const source_config = {
      resource_spec: {},
      listener_id: listener.body.id,
      listener_config: { k8s_namespace: 'a' },
    }
    const { id } = await created(served, { ...DOCKER, source_config })
    const change = (config: Body) => patch(served, id, { source_config: config })
    expect((await change({ listener_id: ANY })).body.detail).toContain(
      "'source_config.listener_id' cannot be changed",
    )
    expect((await change({ listener_config: { k8s_namespace: 'b' } })).body.detail).toContain(
      "'source_config.listener_config.k8s_namespace' cannot",
    )
    expect(
      (await change({ listener_config: { k8s_namespace: 'a' } })).body.source_config.listener_config,
    ).toEqual({ k8s_namespace: 'a' })
    expect(
      (await change({ listener_config: { k8s_namespace: null } })).body.source_config.listener_config,
    ).toEqual({ k8s_namespace: 'a' })
  })

  test('the source of a deployment stays, whatever that of a revision is', async () => {
    const served = serve()
    const { id } = await created(served)
    const from = (revision_source: string, path?: string) =>
      patch(served, id, { revision_source, source_revision_config: { source_tarball_path: path } })
    expect(await from('internal_source')).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining('There is nothing to deploy yet') },
    })
    expect((await from('external_docker')).body.detail).toMatchObject([
      { type: 'literal_error', loc: ['body', 'revision_source'] },
    ])

    const { body: upload } = await served.ask('POST', `/v2/deployments/${id}/upload-url`)
    await served.ask('PUT', upload.upload_url, 'a tar.gz')
    const patched = await from('internal_source', upload.object_path)
    expect(patched).toMatchObject({ status: 200, body: { source: 'github' } })
    const newest = async () =>
      (await served.ask('GET', `/v2/deployments/${id}/revisions?limit=1`)).body.resources[0]
    const uploaded = await newest()
    expect(uploaded).toMatchObject({
      source: 'internal_source',
      source_revision_config: { source_tarball_path: upload.object_path },
    })
    // The next one is of the deployment's own source again, and a redeploy of that of its revision.
    expect((await patch(served, id, { source_revision_config: { repo_ref: 'next' } })).status).toBe(200)
    expect(await newest()).toMatchObject({ source: 'github', revision_number: 3 })
    await served.ask('POST', `/v2/deployments/${id}/revisions/${uploaded.id}/redeploy`)
    expect(await newest()).toMatchObject({ source: 'internal_source', revision_number: 4 })
  })
})

test('a PATCH is refused as a creation is', async () => {
  const served = serve()
  const { id } = await created(served)
  const detail = async (body: Body) => {
    const answer = await patch(served, id, body)
    expect(answer.status).toBe(400)
    return answer.body.detail
  }
  expect(await detail({ secrets: [{ name: 'PORT', value: '1' }] })).toContain("'PORT' is reserved")
  expect(await detail({ source_revision_config: { image_uri: 'x' } })).toContain(
    "'source_revision_config.image_uri' is not allowed",
  )
  expect(await detail({ secret_references: [{ name: 'A', secret_name: 'b', secret_key: 'c' }] })).toContain(
    "'secret_references' is not allowed",
  )
  await patch(served, id, { source_revision_config: { repo_ref: 'refs/tags/v1' } })
  expect(await detail({ source_config: { build_on_push: true } })).toContain('is a tag')
  expect((await patch(served, id, { display_name: '' })).status).toBe(422)
  expect((await patch(served, id, { display_name: 7 })).status).toBe(422)
})

test('what the deployer refuses is 400, and changes nothing', async () => {
  const served = serve({ deployer: refusing('memory_mb is too small.') })
  const { id, updated_at } = await created(served)
  const answer = await patch(served, id, { source_config: { resource_spec: { memory_mb: 1 } } })
  expect(answer).toMatchObject({ status: 400, body: { detail: 'memory_mb is too small.' } })
  expect((await served.ask('GET', `/v2/deployments/${id}`)).body.updated_at).toBe(updated_at)
})

const refusing = (why: string) => ({
  refuses: ({ sourceConfig }: { readonly sourceConfig: { readonly resource_spec?: unknown } }) =>
    sourceConfig.resource_spec ? why : undefined,
  deploy: async () => ({ url: 'http://127.0.0.1', handle: null }),
  stop: async () => {},
  destroy: async () => {},
})

test('an empty deployment keeps changes for its first revision', async () => {
  const served = serve({ secrets: { show: 'plaintext' } })
  const { id } = await created(served, { ...SOURCE, source: 'internal_docker', secrets: [] })
  const secrets = [{ name: 'A', value: '1' }]
  expect((await patch(served, id, { secrets })).body).toMatchObject({ secrets, latest_revision_id: null })
  const { body } = await patch(served, id, { source_revision_config: { image_uri: 'registry.test/i:1' } })
  expect(body).toMatchObject({ secrets, latest_revision_id: expect.any(String) })
  const revision = await served.ask('POST', `/v2/deployments/${id}/revisions`, {})
  expect(revision.body.source_revision_config.image_uri).toBe('registry.test/i:1')
})
