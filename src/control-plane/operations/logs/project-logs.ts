import { type Reply, tagged } from '../../api/operation.ts'
import type { ControlPlaneContext } from '../../context.ts'
import { presentProjectLine } from '../../present/log.ts'
import type { DeploymentRecord } from '../../records/records.ts'
import { PROJECT_LOG_PAGE, PROJECT_LOGS, type ProjectLogsBody } from '../../wire/logs.ts'
import { onDeployment, onRevision } from '../on-deployment.ts'
import { type LogRequest, readLogs } from './read-logs.ts'

const SPEC = {
  body: PROJECT_LOGS,
  bodyOptional: true,
  responses: { 200: PROJECT_LOG_PAGE },
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
export const projectLogOperations = /* @__PURE__ */ tagged('Projects (v1)', [
  onRevision(
    'POST /v1/projects/{deployment_id}/revisions/{revision_id}/build_logs',
    'Get Build Logs',
    SPEC,
    async (context, { deployment, revision }, { body }) =>
      projectLogs(context, deployment, { type: 'build', revision }, body),
  ),
  onRevision(
    'POST /v1/projects/{deployment_id}/revisions/{revision_id}/deploy_logs',
    'Get Revision Deploy Logs',
    SPEC,
    async (context, { deployment, revision }, { body }) =>
      projectLogs(context, deployment, { type: 'deploy', revision }, body),
  ),
  onDeployment(
    'POST /v1/projects/{deployment_id}/deploy_logs',
    'Get Deploy Logs',
    SPEC,
    async (context, deployment, { body }) => projectLogs(context, deployment, { type: 'deploy' }, body),
  ),
])
