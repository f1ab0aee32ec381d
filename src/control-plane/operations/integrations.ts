import { ownerOf } from '../../principal.ts'
import { operation, tagged } from '../api/operation.ts'
import { refusal } from '../errors.ts'
import { INTEGRATION_LIST, INTEGRATION_PATH, REPOSITORY_LIST } from '../wire/integrations.ts'

const TAG = 'Integrations (v1)'
const GITHUB = '/v1/integrations/github'
const FORGE = '/v1/integrations/forge/github'

/* @__NO_SIDE_EFFECTS__ */
function integrationsAt(base: typeof GITHUB | typeof FORGE) {
  return operation(
    `GET ${base}/install`,
    'List GitHub Integrations',
    {
      responses: { 200: INTEGRATION_LIST },
    },
    async ({ integrations }, { call }) => ({
      body: (await integrations?.list(ownerOf(call.principal))) ?? [],
    }),
  )
}

/* @__NO_SIDE_EFFECTS__ */
function repositoriesAt(base: typeof GITHUB | typeof FORGE) {
  return operation(
    `GET ${base}/{integration_id}/repos`,
    'List GitHub Repositories',
    {
      params: INTEGRATION_PATH,
      responses: { 200: REPOSITORY_LIST },
      errors: [404],
    },
    async ({ integrations }, { params, call }) => {
      const id = params.integration_id
      const body = await integrations?.repositories(ownerOf(call.principal), id)
      if (!body) throw refusal(404, `Integration ID ${id} not found.`)
      return { body }
    },
  )
}

export const integrationOperations = /* @__PURE__ */ tagged(TAG, [
  integrationsAt(GITHUB),
  repositoriesAt(GITHUB),
  integrationsAt(FORGE),
  repositoriesAt(FORGE),
])
