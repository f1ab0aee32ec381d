import * as z from 'zod/mini'
import { ownerOf } from '../../core/principal.ts'
import { type Operation, route, tagged } from '../api/route.ts'
import { refusal } from '../errors.ts'
import * as t from '../wire/common.ts'
import { flowOperations } from './auth/flows.ts'
import { providerOperations } from './auth/providers.ts'
import { connectionOperations, tokenOperations } from './auth/tokens.ts'
import { deploymentOperations, tierOperations } from './deployments/deployments.ts'
import { revisionOperations } from './deployments/revisions.ts'
import { uploadOperations } from './deployments/uploads.ts'
import { streamEvents } from './events.ts'
import { listenerOperations } from './listeners.ts'
import { logOperations, projectLogOperations } from './logs/logs.ts'

const integrationsAt = (base: string) => [
  route('GET', `${base}/install`, {
    summary: 'List GitHub Integrations',
    answers: {
      200: t.list(t.titled('GithubIntegration', { id: t.UUID, installation_id: t.INTEGER, name: t.STRING })),
    },
    run: async ({ integrations }, { call }) => ({
      body: (await integrations?.list(ownerOf(call.principal))) ?? [],
    }),
  }),
  route('GET', `${base}/:integration_id/repos`, {
    summary: 'List GitHub Repositories',
    params: z.object({ integration_id: t.UUID }),
    answers: {
      200: t.list(
        t.titled('GithubRepository', {
          host_integration_id: t.UUID,
          id: t.INTEGER,
          name: t.STRING,
          owner: t.STRING,
          url: t.STRING,
          default_branch: t.STRING,
        }),
      ),
    },
    errors: [404],
    run: async ({ integrations }, { params: { integration_id: id }, call }) => {
      const body = await integrations?.repositories(ownerOf(call.principal), id)
      if (!body) throw refusal(404, `Integration ID ${id} not found.`)
      return { body }
    },
  }),
]

const integrationOperations = tagged('Integrations (v1)', [
  ...integrationsAt('/v1/integrations/github'),
  ...integrationsAt('/v1/integrations/forge/github'),
])

/** All operations except those of the auth service, in document order. */
export const OPERATIONS: readonly Operation[] = [
  ...deploymentOperations,
  ...revisionOperations,
  ...logOperations,
  streamEvents,
  ...tierOperations,
  ...uploadOperations,
  ...listenerOperations,
  ...integrationOperations,
  ...projectLogOperations,
]

/** The auth service, and agents' connections to its tokens. */
export const authOperations: readonly Operation[] = [
  ...providerOperations,
  ...flowOperations,
  ...tokenOperations,
  ...connectionOperations,
]
