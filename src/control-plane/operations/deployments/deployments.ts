import * as z from 'zod/mini'
import { ownerOf } from '../../../core/principal.ts'
import { IDEMPOTENCY_KEY, IF_MATCH, requestKey } from '../../api/headers.ts'
import { route, tagged } from '../../api/route.ts'
import { InvalidRequest, noDeployment } from '../../errors.ts'
import { presentDeployment } from '../../present.ts'
import * as t from '../../wire/common.ts'
import * as wire from '../../wire/deployment.ts'
import { commaSeparated, findDeployment, ifMatch, onDeployment } from '../on-deployment.ts'
import { changeDeployment } from './change.ts'
import { newDeployment } from './create.ts'

const DELETE_TRACING_PROJECT = t.described(
  z._default(t.BOOLEAN, false),
  'Accepted, and without effect: deployments have no tracing project here.',
)

const BULK_DELETED = t.titled('DeploymentsDeleted', {
  deleted: t.list(t.UUID),
  failed: t.list(t.titled('DeploymentNotDeleted', { deployment_id: t.UUID, detail: t.STRING })),
})

export const deploymentOperations = tagged(wire.DEPLOYMENTS_TAG, [
  route('GET', '/v2/deployments', {
    summary: 'List Deployments',
    description: 'Newest first. `offset` of the answer is that of the next page.',
    query: z.object({
      ...t.PAGE_QUERY,
      name_contains: z.optional(t.STRING),
      name: t.textQuery('The whole name.'),
      status: z.optional(t.STRING),
      remote_reconciled: z.optional(
        t.described(
          t.BOOLEAN,
          'Accepted, and without effect: this server reconciles all deployments itself.',
        ),
      ),
      tag_value_ids: t.textQuery('Separated by commas.'),
      image_version: z.optional(t.STRING),
      deployment_type: z.optional(z.enum(['dev_free', 'dev', 'prod'])),
      deployment_ids: t.textQuery('Separated by commas.'),
      agent_id: z.optional(t.STRING),
      agent_environment: z.optional(t.STRING),
    }),
    answers: { 200: t.pageOf('DeploymentsList', wire.DEPLOYMENT) },
    run: async (context, { query, call }) => {
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
  }),
  route('POST', '/v2/deployments', {
    summary: 'Create Deployment',
    body: wire.CREATE_DEPLOYMENT,
    headers: IDEMPOTENCY_KEY,
    answers: { 201: wire.DEPLOYMENT },
    errors: [400, 409],
    run: async (context, input) => {
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
  }),
  onDeployment('GET', '/v2/deployments/:deployment_id', {
    summary: 'Get Deployment',
    answers: { 200: wire.DEPLOYMENT },
    errors: [404],
    run: async (deployment, _, context) => ({ body: await presentDeployment(context, deployment) }),
  }),
  onDeployment('PATCH', '/v2/deployments/:deployment_id', {
    summary: 'Patch Deployment',
    description:
      'What is left out or null stays as it is. A change of the revision, of the resources, the commands or the secrets makes a new revision.',
    body: wire.PATCH_DEPLOYMENT,
    headers: { ...IDEMPOTENCY_KEY, ...IF_MATCH },
    answers: { 200: wire.DEPLOYMENT },
    errors: [400, 404, 409, 412],
    run: async (deployment, input, context) => {
      const key = await requestKey(context.secrets, input)
      const check = await ifMatch(context, input.call, deployment)
      const changed = await changeDeployment(context, deployment, input.body, { key, check })
      return { body: await presentDeployment(context, changed) }
    },
  }),
  route('GET', '/v2/deployments/free-count', {
    summary: 'Count Free Deployments',
    answers: { 200: t.titled('FreeDeploymentsCount', { count: t.INTEGER }) },
    run: async ({ deployments }, { call }) => ({
      body: { count: await deployments.countOfType(ownerOf(call.principal), 'dev_free') },
    }),
  }),
  onDeployment('DELETE', '/v2/deployments/:deployment_id', {
    summary: 'Delete Deployment',
    description: 'Its servers are stopped in the background: it is gone once it is answered with 404.',
    query: z.object({ delete_tracing_project: DELETE_TRACING_PROJECT }),
    headers: IF_MATCH,
    answers: { 204: null },
    errors: [404, 412],
    run: async (deployment, { call }, context) => {
      await context.deployments.remove(deployment, await ifMatch(context, call, deployment))
      return {}
    },
  }),
  route('DELETE', '/v2/deployments', {
    summary: 'Delete Deployments',
    description:
      '200 where all of them are deleted, 207 where some of them are, 404 where none of them is known.',
    query: z.object({
      deployment_ids: t.list(t.UUID, { minItems: 1, maxItems: 100 }),
      delete_tracing_project: DELETE_TRACING_PROJECT,
    }),
    answers: { 200: BULK_DELETED, 207: BULK_DELETED },
    errors: [404],
    run: async ({ deployments }, { query, call }) => {
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
  }),
])

export const tierOperations = tagged(wire.DEPLOYMENTS_TAG, [
  route('PATCH', '/v2/deployments/:deployment_id/resource-tiers', {
    summary: 'Set Resource Tiers',
    description:
      'At least one of the tiers. A database tier needs a dedicated compute tier. No revision is made.',
    params: t.DEPLOYMENT_PATH,
    body: t.titled('ResourceTiersPatchRequest', {
      compute_tier: wire.TIER,
      database_tier: wire.TIER,
    }),
    headers: IF_MATCH,
    answers: { 200: wire.DEPLOYMENT },
    errors: [404, 412],
    run: async (context, { params, body, call }) => {
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
  }),
  onDeployment('PATCH', '/v2/deployments/:deployment_id/deployment-tier', {
    summary: 'Set Deployment Tier',
    description: 'No revision is made.',
    body: t.titled('DeploymentTierPatchRequest', {
      deployment_tier: t.text({ minLength: 1, maxLength: 64 }),
    }),
    headers: IF_MATCH,
    answers: { 200: wire.DEPLOYMENT },
    errors: [404, 412],
    run: async (found, { body, call }, context) => {
      const check = await ifMatch(context, call, found)
      const changed = await context.deployments.update(found.id, (deployment) => {
        check(deployment)
        return {
          deployment: { ...deployment, tiers: { ...deployment.tiers, deployment: body.deployment_tier } },
        }
      })
      return { body: await presentDeployment(context, changed) }
    },
  }),
])

const invalid = (body: unknown, error: string) =>
  new InvalidRequest([
    { type: 'value_error', loc: ['body'], msg: `Value error, ${error}`, input: body, ctx: { error: {} } },
  ])
