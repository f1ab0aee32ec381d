import { ownerOf } from '../../../principal.ts'
import { requestKey } from '../../api/idempotency-key.ts'
import { operation, tagged } from '../../api/operation.ts'
import { presentDeployment } from '../../present/deployment.ts'
import { DEPLOYMENT_PATH, ERROR } from '../../wire/common.ts'
import {
  CREATE_DEPLOYMENT,
  DEPLOYMENT,
  DEPLOYMENT_PAGE,
  DEPLOYMENTS_TAG,
  FREE_COUNT,
  LIST_DEPLOYMENTS,
  PATCH_DEPLOYMENT,
} from '../../wire/deployment.ts'
import { IDEMPOTENCY_KEY, IF_MATCH } from '../../wire/headers.ts'
import { findDeployment } from '../find.ts'
import { listOf } from '../lists.ts'
import { changeDeployment } from './change.ts'
import { newDeployment } from './create.ts'
import { ifMatch } from './if-match.ts'

export const deploymentOperations = /* @__PURE__ */ tagged(DEPLOYMENTS_TAG, [
  operation(
    'GET /v2/deployments',
    'List Deployments',
    {
      description: 'Newest first. `offset` of the answer is that of the next page.',
      query: LIST_DEPLOYMENTS,
      responses: { 200: DEPLOYMENT_PAGE },
    },
    async (context, { query, call }) => {
      const { limit, offset } = query
      const filter = {
        // The command-line tools send an empty text where they want all.
        name: query.name || undefined,
        nameContains: query.name_contains || undefined,
        status: query.status || undefined,
        imageVersion: query.image_version || undefined,
        deploymentType: query.deployment_type,
        ids: listOf(query.deployment_ids),
        tagValueIds: listOf(query.tag_value_ids),
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
      body: CREATE_DEPLOYMENT,
      headers: IDEMPOTENCY_KEY,
      responses: { 201: DEPLOYMENT, 400: ERROR, 409: ERROR },
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
  operation(
    'GET /v2/deployments/{deployment_id}',
    'Get Deployment',
    {
      params: DEPLOYMENT_PATH,
      responses: { 200: DEPLOYMENT, 404: ERROR },
    },
    async (context, input) => ({
      body: await presentDeployment(context, await findDeployment(context, input)),
    }),
  ),
  operation(
    'PATCH /v2/deployments/{deployment_id}',
    'Patch Deployment',
    {
      description:
        'What is left out or null stays as it is. A change of the revision, of the resources, the commands or the secrets makes a new revision.',
      params: DEPLOYMENT_PATH,
      body: PATCH_DEPLOYMENT,
      headers: { ...IDEMPOTENCY_KEY, ...IF_MATCH },
      responses: { 200: DEPLOYMENT, 400: ERROR, 404: ERROR, 409: ERROR, 412: ERROR },
    },
    async (context, input) => {
      const { body } = input
      const deployment = await findDeployment(context, input)
      const changed = await changeDeployment(context, deployment, {
        ...body,
        displayName: body.display_name,
        source: body.revision_source,
        key: await requestKey(context.secrets, input),
        check: await ifMatch(context, input.call, deployment),
      })
      return { body: await presentDeployment(context, changed) }
    },
  ),
  operation(
    'GET /v2/deployments/free-count',
    'Count Free Deployments',
    {
      responses: { 200: FREE_COUNT },
    },
    async ({ deployments }, { call }) => ({
      body: { count: await deployments.countOfType(ownerOf(call.principal), 'dev_free') },
    }),
  ),
])
