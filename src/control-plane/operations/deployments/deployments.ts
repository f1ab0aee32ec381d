import { ownerOf } from '../../../core/principal.ts'
import { requestKey } from '../../api/idempotency-key.ts'
import { operation, tagged } from '../../api/operation.ts'
import { InvalidRequest, noDeployment } from '../../errors.ts'
import { presentDeployment } from '../../present/deployment.ts'
import { DEPLOYMENT_PATH } from '../../wire/common.ts'
import * as wire from '../../wire/deployment.ts'
import { IDEMPOTENCY_KEY, IF_MATCH } from '../../wire/headers.ts'
import { commaSeparated, findDeployment, ifMatch, onDeployment } from '../on-deployment.ts'
import { changeDeployment } from './change.ts'
import { newDeployment } from './create.ts'

export const deploymentOperations = /* @__PURE__ */ tagged(wire.DEPLOYMENTS_TAG, [
  operation(
    'GET /v2/deployments',
    'List Deployments',
    {
      description: 'Newest first. `offset` of the answer is that of the next page.',
      query: wire.LIST_DEPLOYMENTS,
      responses: { 200: wire.DEPLOYMENT_PAGE },
    },
    async (context, { query, call }) => {
      const { limit, offset } = query
      const filter = {
        // The command-line tools send an empty string for all deployments.
        name: query.name || undefined,
        nameContains: query.name_contains || undefined,
        status: query.status || undefined,
        imageVersion: query.image_version || undefined,
        deploymentType: query.deployment_type,
        ids: commaSeparated(query.deployment_ids),
        tagValueIds: commaSeparated(query.tag_value_ids),
        agentId: query.agent_id || undefined,
        agentEnvironment: query.agent_environment || undefined,
      }
      const page = await context.deployments.list(ownerOf(call.principal), filter, { limit, offset })
      const resources = await Promise.all(page.map((deployment) => presentDeployment(context, deployment)))
      return { body: { resources, offset: offset + resources.length } }
    },
  ),
  operation(
    'POST /v2/deployments',
    'Create Deployment',
    {
      body: wire.CREATE_DEPLOYMENT,
      headers: IDEMPOTENCY_KEY,
      responses: { 201: wire.DEPLOYMENT },
      errors: [400, 409],
    },
    async (context, input) => {
      const key = await requestKey(context.secrets, input)
      const { deployment, first } = await newDeployment(
        context,
        input.body,
        ownerOf(input.call.principal),
        key,
      )
      const created = await context.deployments.create(deployment, first)
      return { body: await presentDeployment(context, created) }
    },
  ),
  onDeployment(
    'GET /v2/deployments/{deployment_id}',
    'Get Deployment',
    { responses: { 200: wire.DEPLOYMENT }, errors: [404] },
    async (context, deployment) => ({ body: await presentDeployment(context, deployment) }),
  ),
  onDeployment(
    'PATCH /v2/deployments/{deployment_id}',
    'Patch Deployment',
    {
      description:
        'What is left out or null stays as it is. A change of the revision, of the resources, the commands or the secrets makes a new revision.',
      body: wire.PATCH_DEPLOYMENT,
      headers: { ...IDEMPOTENCY_KEY, ...IF_MATCH },
      responses: { 200: wire.DEPLOYMENT },
      errors: [400, 404, 409, 412],
    },
    async (context, deployment, input) => {
      const key = await requestKey(context.secrets, input)
      const check = await ifMatch(context, input.call, deployment)
      const changed = await changeDeployment(context, deployment, input.body, { key, check })
      return { body: await presentDeployment(context, changed) }
    },
  ),
  operation(
    'GET /v2/deployments/free-count',
    'Count Free Deployments',
    { responses: { 200: wire.FREE_COUNT } },
    async ({ deployments }, { call }) => ({
      body: { count: await deployments.countOfType(ownerOf(call.principal), 'dev_free') },
    }),
  ),
  onDeployment(
    'DELETE /v2/deployments/{deployment_id}',
    'Delete Deployment',
    {
      description: 'Its servers are stopped in the background: it is gone once it is answered with 404.',
      query: wire.DELETE_DEPLOYMENT,
      headers: IF_MATCH,
      responses: { 204: null },
      errors: [404, 412],
    },
    async (context, deployment, { call }) => {
      await context.deployments.remove(deployment, await ifMatch(context, call, deployment))
      return {}
    },
  ),
  operation(
    'DELETE /v2/deployments',
    'Delete Deployments',
    {
      description:
        '200 where all of them are deleted, 207 where some of them are, 404 where none of them is known.',
      query: wire.BULK_DELETE,
      responses: { 200: wire.BULK_DELETED, 207: wire.BULK_DELETED },
      errors: [404],
    },
    async ({ deployments }, { query, call }) => {
      const owner = ownerOf(call.principal)
      const ids = [...new Set(query.deployment_ids)]
      const found = await Promise.all(ids.map((id) => deployments.find(owner, id)))
      const known = found.filter((deployment) => deployment !== undefined)
      const deleted = known.map(({ id }) => id)
      if (deleted.length === 0 && ids[0] !== undefined) throw noDeployment(ids[0])
      await Promise.all(known.map((deployment) => deployments.remove(deployment)))
      const failed = ids
        .filter((id) => !deleted.includes(id))
        .map((id) => ({ deployment_id: id, detail: noDeployment(id).message }))
      return { status: failed.length > 0 ? 207 : 200, body: { deleted, failed } }
    },
  ),
])

export const tierOperations = /* @__PURE__ */ tagged(wire.DEPLOYMENTS_TAG, [
  operation(
    'PATCH /v2/deployments/{deployment_id}/resource-tiers',
    'Set Resource Tiers',
    {
      description:
        'At least one of the tiers. A database tier needs a dedicated compute tier. No revision is made.',
      params: DEPLOYMENT_PATH,
      body: wire.RESOURCE_TIERS,
      headers: IF_MATCH,
      responses: { 200: wire.DEPLOYMENT },
      errors: [404, 412],
    },
    async (context, { params, body, call }) => {
      const { compute_tier: compute, database_tier: database } = body
      if (compute == null && database == null)
        throw invalid(body, "At least one of 'compute_tier' and 'database_tier' must be given")
      const found = await findDeployment(context, call, params.deployment_id)
      const check = await ifMatch(context, call, found)
      const changed = await context.deployments.update(found.id, (deployment) => {
        check(deployment)
        const tiers = { ...deployment.tiers, compute: compute ?? deployment.tiers?.compute }
        if (database != null && !tiers.compute?.startsWith('DEDICATED_'))
          throw invalid(body, "'database_tier' needs a dedicated 'compute_tier'")
        return { deployment: { ...deployment, tiers: { ...tiers, database: database ?? tiers.database } } }
      })
      return { body: await presentDeployment(context, changed) }
    },
  ),
  onDeployment(
    'PATCH /v2/deployments/{deployment_id}/deployment-tier',
    'Set Deployment Tier',
    {
      description: 'No revision is made.',
      body: wire.DEPLOYMENT_TIER,
      headers: IF_MATCH,
      responses: { 200: wire.DEPLOYMENT },
      errors: [404, 412],
    },
    async (context, found, { body, call }) => {
      const check = await ifMatch(context, call, found)
      const changed = await context.deployments.update(found.id, (deployment) => {
        check(deployment)
        return {
          deployment: { ...deployment, tiers: { ...deployment.tiers, deployment: body.deployment_tier } },
        }
      })
      return { body: await presentDeployment(context, changed) }
    },
  ),
])

const invalid = (body: unknown, error: string) =>
  new InvalidRequest([
    { type: 'value_error', loc: ['body'], msg: `Value error, ${error}`, input: body, ctx: { error: {} } },
  ])
