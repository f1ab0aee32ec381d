import { ownerOf } from '../../core/principal.ts'
import { route, tagged } from '../api/route.ts'
import { refusal } from '../errors.ts'
import { INTEGRATION_LIST, INTEGRATION_PATH, REPOSITORY_LIST } from '../wire/integrations.ts'

const integrationsAt = (base: string) => [
  route('GET', `${base}/install`, {
    summary: 'List GitHub Integrations',
    answers: { 200: INTEGRATION_LIST },
    run: async ({ integrations }, { call }) => ({
      body: (await integrations?.list(ownerOf(call.principal))) ?? [],
    }),
  }),
  route('GET', `${base}/:integration_id/repos`, {
    summary: 'List GitHub Repositories',
    params: INTEGRATION_PATH,
    answers: { 200: REPOSITORY_LIST },
    errors: [404],
    run: async ({ integrations }, { params: { integration_id: id }, call }) => {
      const body = await integrations?.repositories(ownerOf(call.principal), id)
      if (!body) throw refusal(404, `Integration ID ${id} not found.`)
      return { body }
    },
  }),
]

export const integrationOperations = tagged('Integrations (v1)', [
  ...integrationsAt('/v1/integrations/github'),
  ...integrationsAt('/v1/integrations/forge/github'),
])
