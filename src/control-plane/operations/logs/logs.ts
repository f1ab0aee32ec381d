import { operation, tagged } from '../../api/operation.ts'
import { presentLine } from '../../present/log.ts'
import { DEPLOYMENT_PATH, ERROR, REVISION_PATH } from '../../wire/common.ts'
import { DEPLOYMENTS_TAG } from '../../wire/deployment.ts'
import { DEPLOYMENT_LOGS, LIST_DEPLOYMENT_LOGS, LOG_ITEMS, LOG_PAGE, REVISION_LOGS } from '../../wire/logs.ts'
import { findDeployment, findRevision, revisionOfDeployment } from '../find.ts'
import { readLogs } from './read-logs.ts'

export const logOperations = /* @__PURE__ */ tagged(DEPLOYMENTS_TAG, [
  operation(
    'GET /v2/deployments/{deployment_id}/revisions/{revision_id}/logs',
    'Get Revision Logs',
    {
      params: REVISION_PATH,
      query: REVISION_LOGS,
      responses: { 200: LOG_PAGE, 400: ERROR, 404: ERROR },
    },
    async (context, input) => {
      const { deployment, revision } = await findRevision(context, input)
      const { lines, next } = await readLogs(context, deployment, { ...input.query, revision })
      return { body: { logs: lines.map(presentLine), next_offset: next } }
    },
  ),
  operation(
    'GET /v2/deployments/{deployment_id}/logs',
    'Get Deployment Logs',
    {
      params: DEPLOYMENT_PATH,
      query: DEPLOYMENT_LOGS,
      responses: { 200: LOG_PAGE, 400: ERROR, 404: ERROR },
    },
    async (context, input) => {
      const deployment = await findDeployment(context, input)
      const { lines, next } = await readLogs(context, deployment, input.query)
      return { body: { logs: lines.map(presentLine), next_offset: next } }
    },
  ),
  operation(
    'GET /v2/deployment-logs',
    'List Deployment Logs',
    {
      query: LIST_DEPLOYMENT_LOGS,
      responses: { 200: LOG_ITEMS, 400: ERROR, 404: ERROR },
    },
    async (context, { query, call }) => {
      const { deployment_id, revision_id, log_type, sort_order, page_size, cursor, ...rest } = query
      const deployment = await findDeployment(context, { params: { deployment_id }, call })
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
