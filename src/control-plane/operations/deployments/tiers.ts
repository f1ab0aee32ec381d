import { operation, tagged } from '../../api/operation.ts'
import { InvalidRequest } from '../../errors.ts'
import { presentDeployment } from '../../present/deployment.ts'
import { DEPLOYMENT_PATH, ERROR } from '../../wire/common.ts'
import { DEPLOYMENT, DEPLOYMENT_TIER, DEPLOYMENTS_TAG, RESOURCE_TIERS } from '../../wire/deployment.ts'
import { IF_MATCH } from '../../wire/headers.ts'
import { findDeployment } from '../find.ts'
import { ifMatch } from './if-match.ts'

export const tierOperations = /* @__PURE__ */ tagged(DEPLOYMENTS_TAG, [
  operation(
    'PATCH /v2/deployments/{deployment_id}/resource-tiers',
    'Set Resource Tiers',
    {
      description:
        'At least one of the tiers. A database tier needs a dedicated compute tier. No revision is made.',
      params: DEPLOYMENT_PATH,
      body: RESOURCE_TIERS,
      headers: IF_MATCH,
      responses: { 200: DEPLOYMENT, 404: ERROR, 412: ERROR },
    },
    async (context, input) => {
      const { compute_tier: compute, database_tier: database } = input.body
      if (compute == null && database == null) {
        throw invalid(input.body, "At least one of 'compute_tier' and 'database_tier' must be given")
      }
      const found = await findDeployment(context, input)
      const check = await ifMatch(context, input.call, found)
      const changed = await context.deployments.update(found.id, (deployment) => {
        check(deployment)
        const tiers = { ...deployment.tiers, compute: compute ?? deployment.tiers?.compute }
        if (database != null && !tiers.compute?.startsWith('DEDICATED_')) {
          throw invalid(input.body, "'database_tier' needs a dedicated 'compute_tier'")
        }
        return { deployment: { ...deployment, tiers: { ...tiers, database: database ?? tiers.database } } }
      })
      return { body: await presentDeployment(context, changed) }
    },
  ),
  operation(
    'PATCH /v2/deployments/{deployment_id}/deployment-tier',
    'Set Deployment Tier',
    {
      description: 'No revision is made.',
      params: DEPLOYMENT_PATH,
      body: DEPLOYMENT_TIER,
      headers: IF_MATCH,
      responses: { 200: DEPLOYMENT, 404: ERROR, 412: ERROR },
    },
    async (context, input) => {
      const found = await findDeployment(context, input)
      const check = await ifMatch(context, input.call, found)
      const tier = input.body.deployment_tier
      const changed = await context.deployments.update(found.id, (deployment) => {
        check(deployment)
        return { deployment: { ...deployment, tiers: { ...deployment.tiers, deployment: tier } } }
      })
      return { body: await presentDeployment(context, changed) }
    },
  ),
])

const invalid = (body: unknown, error: string) =>
  new InvalidRequest([
    { type: 'value_error', loc: ['body'], msg: `Value error, ${error}`, input: body, ctx: { error: {} } },
  ])
