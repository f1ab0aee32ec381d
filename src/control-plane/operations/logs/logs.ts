import { type Reply, route, tagged } from '../../api/route.ts'
import type { ControlPlaneContext } from '../../context.ts'
import { presentLine, presentProjectLine } from '../../present/log.ts'
import type { DeploymentRecord } from '../../records/records.ts'
import { DEPLOYMENTS_TAG } from '../../wire/deployment.ts'
import {
  DEPLOYMENT_LOGS,
  LIST_DEPLOYMENT_LOGS,
  LOG_ITEMS,
  LOG_PAGE,
  PROJECT_LOG_PAGE,
  PROJECT_LOGS,
  type ProjectLogsBody,
  REVISION_LOGS,
} from '../../wire/logs.ts'
import { findDeployment, onDeployment, onRevision, revisionOfDeployment } from '../on-deployment.ts'
import { type LogRequest, readLogs } from './read-logs.ts'

export const logOperations = tagged(DEPLOYMENTS_TAG, [
  onRevision('GET', '/v2/deployments/:deployment_id/revisions/:revision_id/logs', {
    summary: 'Get Revision Logs',
    query: REVISION_LOGS,
    answers: { 200: LOG_PAGE },
    errors: [400, 404],
    run: async (context, { deployment, revision }, { query }) => {
      const { lines, next } = await readLogs(context, deployment, { ...query, revision })
      return { body: { logs: lines.map(presentLine), next_offset: next } }
    },
  }),
  onDeployment('GET', '/v2/deployments/:deployment_id/logs', {
    summary: 'Get Deployment Logs',
    query: DEPLOYMENT_LOGS,
    answers: { 200: LOG_PAGE },
    errors: [400, 404],
    run: async (context, deployment, { query }) => {
      const { lines, next } = await readLogs(context, deployment, query)
      return { body: { logs: lines.map(presentLine), next_offset: next } }
    },
  }),
  route('GET', '/v2/deployment-logs', {
    summary: 'List Deployment Logs',
    query: LIST_DEPLOYMENT_LOGS,
    answers: { 200: LOG_ITEMS },
    errors: [400, 404],
    run: async (context, { query, call }) => {
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
  }),
])

const SPEC = {
  body: PROJECT_LOGS,
  bodyOptional: true,
  answers: { 200: PROJECT_LOG_PAGE },
  errors: [400, 404],
} as const
const DEFAULT_LIMIT = 50

async function projectLogs(
  context: ControlPlaneContext,
  deployment: DeploymentRecord,
  which: Pick<LogRequest, 'type' | 'revision'>,
  body: ProjectLogsBody,
): Promise<Reply> {
  const request = { ...body, ...which, limit: body.limit ?? DEFAULT_LIMIT }
  const { lines, next } = await readLogs(context, deployment, request)
  return { body: { logs: lines.map(presentProjectLine), next_offset: next } }
}

/** The version 1 routes, which all command-line tools call. A project is a deployment. */
export const projectLogOperations = tagged('Projects (v1)', [
  onRevision('POST', '/v1/projects/:deployment_id/revisions/:revision_id/build_logs', {
    summary: 'Get Build Logs',
    ...SPEC,
    run: async (context, { deployment, revision }, { body }) =>
      projectLogs(context, deployment, { type: 'build', revision }, body),
  }),
  onRevision('POST', '/v1/projects/:deployment_id/revisions/:revision_id/deploy_logs', {
    summary: 'Get Revision Deploy Logs',
    ...SPEC,
    run: async (context, { deployment, revision }, { body }) =>
      projectLogs(context, deployment, { type: 'deploy', revision }, body),
  }),
  onDeployment('POST', '/v1/projects/:deployment_id/deploy_logs', {
    summary: 'Get Deploy Logs',
    ...SPEC,
    run: async (context, deployment, { body }) => projectLogs(context, deployment, { type: 'deploy' }, body),
  }),
])
