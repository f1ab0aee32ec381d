import { ownerOf } from '../../../principal.ts'
import { operation, tagged } from '../../api/operation.ts'
import { noDeployment } from '../../errors.ts'
import { DEPLOYMENT_PATH, ERROR } from '../../wire/common.ts'
import { BULK_DELETE, BULK_DELETED, DELETE_DEPLOYMENT, DEPLOYMENTS_TAG } from '../../wire/deployment.ts'
import { IF_MATCH } from '../../wire/headers.ts'
import { findDeployment } from '../find.ts'
import { ifMatch } from './if-match.ts'

export const deletions = /* @__PURE__ */ tagged(DEPLOYMENTS_TAG, [
  operation(
    'DELETE /v2/deployments/{deployment_id}',
    'Delete Deployment',
    {
      description: 'Its servers are stopped in the background: it is gone once it is answered with 404.',
      params: DEPLOYMENT_PATH,
      query: DELETE_DEPLOYMENT,
      headers: IF_MATCH,
      responses: { 204: null, 404: ERROR, 412: ERROR },
    },
    async (context, input) => {
      const deployment = await findDeployment(context, input)
      await context.deployments.remove(deployment, await ifMatch(context, input.call, deployment))
      return {}
    },
  ),
  operation(
    'DELETE /v2/deployments',
    'Delete Deployments',
    {
      description:
        '200 where all of them are deleted, 207 where some of them are, 404 where none of them is known.',
      query: BULK_DELETE,
      responses: { 200: BULK_DELETED, 207: BULK_DELETED, 404: ERROR },
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
