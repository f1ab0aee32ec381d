import { operation, tagged } from '../../api/operation.ts'
import { presentLine } from '../../present/log.ts'
import { DEPLOYMENTS_TAG } from '../../wire/deployment.ts'
import { DEPLOYMENT_LOGS, LIST_DEPLOYMENT_LOGS, LOG_ITEMS, LOG_PAGE, REVISION_LOGS } from '../../wire/logs.ts'
import { findDeployment, onDeployment, onRevision, revisionOfDeployment } from '../on-deployment.ts'
import { readLogs } from './read-logs.ts'

export const logOperations = /* @__PURE__ */ tagged(DEPLOYMENTS_TAG, [
  onRevision(
    'GET /v2/deployments/{deployment_id}/revisions/{revision_id}/logs',
    'Get Revision Logs',
    { query: REVISION_LOGS, responses: { 200: LOG_PAGE }, errors: [400, 404] },
    async (context, { deployment, revision }, { query }) => {
      const { lines, next } = await readLogs(context, deployment, { ...query, revision })
      return { body: { logs: lines.map(presentLine), next_offset: next } }
    },
  ),
  onDeployment(
    'GET /v2/deployments/{deployment_id}/logs',
    'Get Deployment Logs',
    { query: DEPLOYMENT_LOGS, responses: { 200: LOG_PAGE }, errors: [400, 404] },
    async (context, deployment, { query }) => {
      const { lines, next } = await readLogs(context, deployment, query)
      return { body: { logs: lines.map(presentLine), next_offset: next } }
    },
  ),
  operation(
    'GET /v2/deployment-logs',
    'List Deployment Logs',
    { query: LIST_DEPLOYMENT_LOGS, responses: { 200: LOG_ITEMS }, errors: [400, 404] },
    async (context, { query, call }) => {
      const { deployment_id, revision_id, log_type, sort_order, page_size, cursor, ...rest } = query
      const deployment = await findDeployment(context, call, deployment_id)
      const { lines, next } = await readLogs(context, deployment, {
        ...rest,
        type: log_type === 'BUILD' ? 'build' : 'deploy',
        revision:
          revision_id === undefined
            ? undefined
            : await revisionOfDeployment(context, deployment, revision_id),
        order: sort_order,
        limit: page_size,
        offset: cursor,
      })
      return { body: { items: lines.map(presentLine), next_cursor: next } }
    },
  ),
])
