import { describe, expect, test } from 'vitest'
import { created, DOCKER, GITHUB, type Served, SOURCE, serve } from '../support/served.ts'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const ANY = '5f0c7d0e-1c2f-4a5b-8c9d-0123456789ab'

/** Each request has a server of its own. */
const ask: Served['ask'] = (...request) => serve().ask(...request)

test('a new deployment has every field of the API, with its nulls', async () => {
  const { ask } = serve()
  const { status, body } = await ask('POST', '/v2/deployments', {
    ...GITHUB,
    secrets: [{ name: 'TOKEN', value: 'abc' }],
    unknown: 1,
  })
  expect(status).toBe(201)
  expect(body).toEqual({
    id: expect.stringMatching(UUID),
    tenant_id: expect.stringMatching(UUID),
    name: 'one',
    display_name: null,
    agent: null,
    source: 'github',
    source_config: {
      integration_id: null,
      repo_url: 'https://git.test/one.git',
      deployment_type: 'dev',
      build_on_push: false,
      custom_url: null,
      resource_spec: null,
      listener_id: null,
      listener_config: null,
      install_command: null,
      build_command: null,
      template_id: null,
    },
    source_revision_config: {
      repo_ref: 'main',
      langgraph_config_path: 'langgraph.json',
      image_uri: null,
      source_tarball_path: null,
      repo_commit_sha: null,
      tracked_packages: null,
    },
    secrets: [{ name: 'TOKEN', value: '***' }],
    secret_references: [],
    status: 'AWAITING_DATABASE',
    latest_revision_id: expect.stringMatching(UUID),
    active_revision_id: null,
    url: null,
    image_version: null,
    tracer_session_id: expect.stringMatching(UUID),
    compute_tier: null,
    database_tier: null,
    deployment_tier: null,
    created_at: expect.stringMatching(TIME),
    updated_at: expect.stringMatching(TIME),
  })
  expect((await ask('GET', `/v2/deployments/${body.id}`)).body).toEqual(body)
})

test('once it is deployed, custom_url is where it runs, and the commit is known', async () => {
  const served = serve()
  const { id, latest_revision_id } = await created(served)
  await served.work()
  const { body } = await served.ask('GET', `/v2/deployments/${id}`)
  expect(body).toMatchObject({
    status: 'READY',
    active_revision_id: latest_revision_id,
    url: `http://127.0.0.1/${latest_revision_id}`,
    source_config: { custom_url: `http://127.0.0.1/${latest_revision_id}` },
    source_revision_config: { repo_commit_sha: `sha of ${latest_revision_id}` },
  })
})

test('a custom_url of the client is kept', async () => {
  const served = serve()
  const source_config = { ...GITHUB.source_config, custom_url: 'https://mine.test' }
  const { id } = await created(served, { source_config })
  await served.work()
  const { body } = await served.ask('GET', `/v2/deployments/${id}`)
  expect(body.source_config.custom_url).toBe('https://mine.test')
})

test('deployment_type is answered as prod and build_on_push as false where they are not set', async () => {
  const body = await created(serve(), { ...DOCKER })
  expect(body.source_config).toMatchObject({
    deployment_type: 'prod',
    build_on_push: false,
    resource_spec: {},
  })
})

test('the owner is the tenant_id where it is a UUID, else a UUID stands for it', async () => {
  const served = serve()
  const as = (caller: string, name: string) =>
    served.ask('POST', '/v2/deployments', { ...GITHUB, name }, { 'x-caller': caller })
  expect((await as(ANY.toUpperCase(), 'one')).body.tenant_id).toBe(ANY)
  const [first, second, other] = [await as('bob', 'two'), await as('bob', 'three'), await as('carl', 'two')]
  expect(first.body.tenant_id).toBe(second.body.tenant_id)
  expect(first.body.tenant_id).not.toBe(other.body.tenant_id)
})

test.each(['dev_free', 'dev', 'prod', 'dev_zero', 'dev_free_zero', 'serverless'])(
  'a deployment can be %s',
  async (deployment_type) => {
    const source_config = { ...GITHUB.source_config, deployment_type }
    const { status, body } = await ask('POST', '/v2/deployments', { ...GITHUB, source_config })
    expect([status, body.source_config.deployment_type]).toEqual([201, deployment_type])
  },
)

describe('a name', () => {
  test.each(['a', 'Abc-9', 'a--', 'x'.repeat(128)])('can be %s', async (name) => {
    expect((await ask('POST', '/v2/deployments', { ...GITHUB, name })).status).toBe(201)
  })
  test.each(['', '9a', '-a', 'a_b', 'a b', 'ä', 'a.b', 'x'.repeat(129), 'a\n', '../a', '$(id)'])(
    'cannot be %j',
    async (name) => {
      const { status, body } = await ask('POST', '/v2/deployments', { ...GITHUB, name })
      expect(status).toBe(400)
      expect(body.detail).toContain('starts with a letter')
    },
  )
})

test('a name can be taken once by an owner, and by others', async () => {
  const served = serve()
  await created(served)
  const again = await served.ask('POST', '/v2/deployments', GITHUB)
  expect(again.status).toBe(409)
  expect(again.body.detail).toContain("'one' already exists")
  expect((await served.ask('POST', '/v2/deployments', GITHUB, { 'x-caller': 'bob' })).status).toBe(201)
})

test('an agent can replace the name, and can be taken once in an environment', async () => {
  const served = serve()
  const agent = { agent_id: 'My Agent!', environment: 'staging' }
  const { name: _, ...nameless } = GITHUB
  const { body, status } = await served.ask('POST', '/v2/deployments', { ...nameless, agent })
  expect(status).toBe(201)
  expect(body).toMatchObject({ name: 'My-Agent-staging', agent })
  const again = await served.ask('POST', '/v2/deployments', { ...GITHUB, name: 'other', agent })
  expect(again.status).toBe(409)
  expect(again.body.detail).toContain("agent 'My Agent!' in environment 'staging'")
  const neither = await served.ask('POST', '/v2/deployments', nameless)
  expect(neither.status).toBe(422)
  expect(neither.body.detail[0]).toMatchObject({
    type: 'missing',
    loc: ['body', 'name'],
    msg: 'Field required',
  })
})

describe('what a source needs', () => {
  const without = (
    deployment: typeof GITHUB | typeof DOCKER,
    part: 'source_config' | 'source_revision_config',
    field: string,
  ) => ({
    ...deployment,
    [part]: { ...deployment[part], [field]: null },
  })
  test.each([
    [GITHUB, 'source_config', 'repo_url'],
    [GITHUB, 'source_config', 'deployment_type'],
    [GITHUB, 'source_config', 'build_on_push'],
    [GITHUB, 'source_revision_config', 'repo_ref'],
    [GITHUB, 'source_revision_config', 'langgraph_config_path'],
    [DOCKER, 'source_config', 'resource_spec'],
    [DOCKER, 'source_revision_config', 'image_uri'],
  ] as const)('%#: %j needs %s.%s', async (deployment, part, field) => {
    const { status, body } = await ask('POST', '/v2/deployments', without(deployment, part, field))
    expect(status).toBe(400)
    expect(body.detail).toBe(`'${part}.${field}' is required for '${deployment.source}' source deployments.`)
  })

  test.each([
    [
      DOCKER,
      { source_config: { resource_spec: {}, deployment_type: 'dev' } },
      'source_config.deployment_type',
    ],
    [DOCKER, { source_config: { resource_spec: {}, build_on_push: true } }, 'source_config.build_on_push'],
    [
      DOCKER,
      { source_config: { resource_spec: {}, repo_url: 'https://git.test' } },
      'source_config.repo_url',
    ],
    [DOCKER, { source_config: { resource_spec: {}, template_id: 'x' } }, 'source_config.template_id'],
    [SOURCE, { source_revision_config: { repo_ref: 'main' } }, 'source_revision_config.repo_ref'],
    [SOURCE, { source_revision_config: { image_uri: 'i' } }, 'source_revision_config.image_uri'],
    [
      GITHUB,
      { source_revision_config: { ...GITHUB.source_revision_config, source_tarball_path: 'x' } },
      'source_revision_config.source_tarball_path',
    ],
    [GITHUB, { secret_references: [{ name: 'A', secret_name: 'b', secret_key: 'c' }] }, 'secret_references'],
    [GITHUB, { source_config: { ...GITHUB.source_config, listener_id: ANY } }, 'source_config.listener_id'],
  ])('%#: some fields are refused', async (deployment, change, field) => {
    const { status, body } = await ask('POST', '/v2/deployments', { ...deployment, ...change })
    expect(status).toBe(400)
    expect(body.detail).toBe(`'${field}' is not allowed for '${deployment.source}' source deployments.`)
  })

  test('build_on_push needs a branch', async () => {
    const { status, body } = await ask('POST', '/v2/deployments', {
      ...GITHUB,
      source_config: { ...GITHUB.source_config, build_on_push: true },
      source_revision_config: { ...GITHUB.source_revision_config, repo_ref: 'refs/tags/v1' },
    })
    expect(status).toBe(400)
    expect(body.detail).toContain('is a tag')
  })

  test('a template needs its id, and a deployer that takes templates', async () => {
    const template = { ...SOURCE, source: 'internal_template' }
    const { body } = await ask('POST', '/v2/deployments', template)
    expect(body.detail).toContain("'source_config.template_id' is required")
    const refused = await ask('POST', '/v2/deployments', { ...template, source_config: { template_id: 't' } })
    expect(refused).toMatchObject({ status: 400, body: { detail: 'Templates are not supported here.' } })
  })

  test('an upload cannot be named before there is a deployment', async () => {
    const source_revision_config = { source_tarball_path: `uploads/${ANY}/${ANY}.tar.gz` }
    const { status, body } = await ask('POST', '/v2/deployments', { ...SOURCE, source_revision_config })
    expect(status).toBe(400)
    expect(body.detail).toContain('upload-url')
  })
})

test.each(['internal_source', 'internal_docker'])(
  '%s is created empty, as the command-line tools do it, and has no revision yet',
  async (source) => {
    const served = serve()
    const body = await created(served, { ...SOURCE, source, secrets: undefined })
    expect(body).toMatchObject({ latest_revision_id: null, active_revision_id: null, secrets: [] })
    await served.work()
    expect((await served.ask('GET', `/v2/deployments/${body.id}`)).body.status).toBe('READY')
    expect((await served.ask('GET', `/v2/deployments/${body.id}/revisions`)).body).toEqual({
      resources: [],
      offset: 0,
    })
  },
)

describe('a secret', () => {
  const create = (name: string, value = 'x', more: readonly unknown[] = []) =>
    ask('POST', '/v2/deployments', {
      ...GITHUB,
      name: `s-${Math.random()}`.replace('.', ''),
      secrets: [{ name, value }, ...more],
    })

  test.each(['LANGSMITH_API_KEY', 'DATABASE_URI', 'PORT', 'PATH', 'LSD_ENV', 'LANGGRAPH_CLOUD_LICENSE_KEY'])(
    'cannot have the reserved name %s',
    async (name) => {
      expect(await create(name)).toMatchObject({
        status: 400,
        body: { detail: `The secret name '${name}' is reserved. Choose another name.` },
      })
    },
  )

  test.each(['', 'A=B', '1A', 'A B', 'A-B', 'A\0', 'ä'])('cannot have the name %j', async (name) => {
    const { status, body } = await create(name)
    expect(status).toBe(400)
    expect(body.detail).toContain('letters, digits and underscores')
  })

  test('cannot be given twice, be the mask, or have a NUL', async () => {
    expect((await create('A', 'x', [{ name: 'A', value: 'y' }])).body.detail).toContain("'A' is listed twice")
    expect((await create('A', '***')).body.detail).toContain('is the mask that responses show')
    const nul = await create('A', 'hush\0')
    expect(nul.body.detail).toContain('NUL')
    expect(JSON.stringify(nul.body)).not.toContain('hush')
  })

  test('can be empty', async () => {
    expect((await create('A', '')).status).toBe(201)
  })
})

test.each([
  ['masked', [{ name: 'A', value: '***' }]],
  ['plaintext', [{ name: 'A', value: 'very secret' }]],
  ['none', []],
] as const)('secrets are shown %s where the server is told so', async (show, secrets) => {
  const served = serve({ secrets: { show } })
  const body = await created(served, { secrets: [{ name: 'A', value: 'very secret' }] })
  expect(body.secrets).toEqual(secrets)
  const pages = await Promise.all([
    served.ask('GET', '/v2/deployments'),
    served.ask('GET', `/v2/deployments/${body.id}`),
    served.ask('GET', `/v2/deployments/${body.id}/revisions`),
  ])
  if (show !== 'plaintext') expect(JSON.stringify(pages)).not.toContain('very secret')
})

test('all members that a body lacks are told at once, in the order of their declaration', async () => {
  const { status, body } = await ask('POST', '/v2/deployments', {})
  expect(status).toBe(422)
  expect(body.detail).toEqual(
    ['name', 'source', 'source_config', 'source_revision_config'].map((name) => ({
      type: 'missing',
      loc: ['body', name],
      msg: 'Field required',
      input: {},
    })),
  )
  const agent = { agent_id: 'a', environment: 'staging' }
  const named = await ask('POST', '/v2/deployments', { agent })
  expect(named.body.detail.map(({ loc }: { loc: string[] }) => loc[1])).not.toContain('name')
})

test('all that a source needs and lacks is told at once', async () => {
  const { status, body } = await ask('POST', '/v2/deployments', {
    name: 'one',
    source: 'github',
    source_config: { deployment_type: 'dev' },
    source_revision_config: { repo_ref: 'main' },
  })
  expect(status).toBe(400)
  expect(body.detail).toBe(
    "'source_config.repo_url', 'source_config.build_on_push' and 'source_revision_config.langgraph_config_path' are required for 'github' source deployments.",
  )
})

test.each([
  'javascript:alert(1)',
  'data:text/html,x',
  'file:///etc/passwd',
  '//mine.test',
  'https://',
  'https://mine.test/a b',
  'https://mine.test\nx',
  ' https://mine.test',
])('a custom_url is an address of http: or https:, and not %j', async (custom_url) => {
  const { status, body } = await ask('POST', '/v2/deployments', {
    ...GITHUB,
    source_config: { ...GITHUB.source_config, custom_url },
  })
  expect(status).toBe(422)
  expect(body.detail).toMatchObject([
    { type: 'string_pattern_mismatch', loc: ['body', 'source_config', 'custom_url'], input: custom_url },
  ])
})

test('a body without a name is 422, and repeats no secret', async () => {
  const { name: _, ...nameless } = GITHUB
  const secrets = [{ name: 'A', value: 'hush-hush' }]
  const { status, body } = await ask('POST', '/v2/deployments', { ...nameless, secrets })
  expect(status).toBe(422)
  expect(body.detail).toMatchObject([{ type: 'missing', loc: ['body', 'name'], input: { source: 'github' } }])
  expect(JSON.stringify(body)).not.toContain('hush-hush')
})

test('a wrong body is 422, and repeats no secret', async () => {
  const { ask } = serve()
  const wrong = await ask('POST', '/v2/deployments', {
    ...GITHUB,
    source: 'ftp',
    secrets: [{ name: 'A', value: 5 }, { value: 'hush-hush' }],
    source_config: { ...GITHUB.source_config, resource_spec: { cpu: 9, min_scale: 'one', labels: { a: 1 } } },
  })
  expect(wrong.status).toBe(422)
  expect(
    wrong.body.detail.map(({ type, loc }: { type: string; loc: unknown[] }) => [type, loc.join('.')]),
  ).toEqual([
    ['literal_error', 'body.source'],
    ['int_parsing', 'body.source_config.resource_spec.min_scale'],
    ['less_than_equal', 'body.source_config.resource_spec.cpu'],
    ['string_type', 'body.source_config.resource_spec.labels.a'],
    ['string_type', 'body.secrets.0.value'],
    ['missing', 'body.secrets.1.name'],
  ])
  expect(JSON.stringify(wrong.body)).not.toContain('hush-hush')
})
