import { ownerOf } from '../../core/principal.ts'
import { operation, tagged } from '../api/operation.ts'
import { refusal } from '../errors.ts'
import { INTEGRATION_LIST, INTEGRATION_PATH, REPOSITORY_LIST } from '../wire/integrations.ts'

/* @__NO_SIDE_EFFECTS__ */
const integrationsAt = (base: string) => [
  operation(
    `GET ${base as `/${string}`}/install`,
    'List GitHub Integrations',
    { responses: { 200: INTEGRATION_LIST } },
    async ({ integrations }, { call }) => ({
      body: (await integrations?.list(ownerOf(call.principal))) ?? [],
    }),
  ),
  operation(
    `GET ${base as `/${string}`}/{integration_id}/repos`,
    'List GitHub Repositories',
    { params: INTEGRATION_PATH, responses: { 200: REPOSITORY_LIST }, errors: [404] },
    async ({ integrations }, { params: { integration_id: id }, call }) => {
      const body = await integrations?.repositories(ownerOf(call.principal), id)
      if (!body) throw refusal(404, `Integration ID ${id} not found.`)
      return { body }
    },
  ),
]

export const integrationOperations = /* @__PURE__ */ tagged('Integrations (v1)', [
  ...integrationsAt('/v1/integrations/github'),
  ...integrationsAt('/v1/integrations/forge/github'),
])
