import { describe, expect, test } from 'vitest'
import type { GitIntegrations } from '../../../src/control-plane/index.ts'
import { created, GITHUB, serve } from '../support/served.ts'

const ID = '5f0c7d0e-1c2f-4a5b-8c9d-0123456789ab'
const OTHER = '6f0c7d0e-1c2f-4a5b-8c9d-0123456789ab'

const repository = {
  host_integration_id: ID,
  id: 7,
  name: 'one',
  owner: 'ann',
  url: 'https://git.test/one',
  default_branch: 'main',
}

/** An integration that is Ann's. */
const integrations: GitIntegrations = {
  list: async (owner) => (owner === '[id]ann' ? [{ id: ID, installation_id: 1, name: 'Ann' }] : []),
  repositories: async (owner, id) => (owner === '[id]ann' && id === ID ? [repository] : undefined),
}

describe.each(['/v1/integrations/github', '/v1/integrations/forge/github'])('%s', (base) => {
  test('lists the integrations of the caller and their repositories', async () => {
    const served = serve({ integrations })
    expect((await served.ask('GET', `${base}/install`)).body).toEqual([
      { id: ID, installation_id: 1, name: 'Ann' },
    ])
    expect((await served.ask('GET', `${base}/${ID}/repos`)).body).toEqual([repository])
    const bob = { 'x-caller': 'bob' }
    expect((await served.ask('GET', `${base}/install`, undefined, bob)).body).toEqual([])
    expect((await served.ask('GET', `${base}/${ID}/repos`, undefined, bob)).status).toBe(404)
    expect((await served.ask('GET', `${base}/x/repos`)).status).toBe(422)
  })

  test('has nothing where the server knows no Git host', async () => {
    const served = serve()
    expect(await served.ask('GET', `${base}/install`)).toMatchObject({ status: 200, body: [] })
    expect(await served.ask('GET', `${base}/${ID}/repos`)).toMatchObject({
      status: 404,
      body: { detail: `Integration ID ${ID} not found.` },
    })
  })
})

test('with Git hosts, a github deployment needs one of the integrations', async () => {
  const served = serve({ integrations })
  const create = (integration_id?: string) =>
    served.ask('POST', '/v2/deployments', {
      ...GITHUB,
      source_config: { ...GITHUB.source_config, integration_id },
    })
  expect((await create()).body.detail).toBe(
    "'source_config.integration_id' is required for 'github' source deployments.",
  )
  expect((await create(OTHER)).body.detail).toBe(`Integration ID ${OTHER} not found.`)
  const { id } = await created(served, { source_config: { ...GITHUB.source_config, integration_id: ID } })
  expect(
    (await served.ask('PATCH', `/v2/deployments/${id}`, { source_config: { integration_id: OTHER } })).status,
  ).toBe(400)
})
