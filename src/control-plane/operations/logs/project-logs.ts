import { operation, tagged } from '../../api/operation.ts'
import type { ControlPlaneContext } from '../../context.ts'
import { presentProjectLine } from '../../present/log.ts'
import type { DeploymentRecord, RevisionRecord } from '../../records/records.ts'
import { DEPLOYMENT_PATH, ERROR, REVISION_PATH } from '../../wire/common.ts'
import { PROJECT_LOG_PAGE, PROJECT_LOGS, type ProjectLogsBody } from '../../wire/logs.ts'
import { findDeployment, findRevision } from '../find.ts'
import { readLogs } from './read-logs.ts'

/** The routes of version 1 that every command-line tool still calls. A project is a deployment, and has its id. */
const TAG = 'Projects (v1)'
const RESPONSES = { 200: PROJECT_LOG_PAGE, 400: ERROR, 404: ERROR } as const
const DEFAULT_LIMIT = 50

async function projectLogs(
  context: ControlPlaneContext,
  type: 'build' | 'deploy',
  deployment: DeploymentRecord,
  revision: RevisionRecord | undefined,
  body: ProjectLogsBody = {},
) {
  const limit = body.limit ?? DEFAULT_LIMIT
  const { lines, next } = await readLogs(context, deployment, { ...body, type, revision, limit })
  return { body: { logs: lines.map(presentProjectLine), next_offset: next } }
}

export const projectLogOperations = /* @__PURE__ */ tagged(TAG, [
  operation(
    'POST /v1/projects/{deployment_id}/revisions/{revision_id}/build_logs',
    'Get Build Logs',
    {
      params: REVISION_PATH,
      body: PROJECT_LOGS,
      bodyOptional: true,
      responses: RESPONSES,
    },
    async (context, input) => {
      const { deployment, revision } = await findRevision(context, input)
      return projectLogs(context, 'build', deployment, revision, input.body)
    },
  ),
  operation(
    'POST /v1/projects/{deployment_id}/revisions/{revision_id}/deploy_logs',
    'Get Revision Deploy Logs',
    {
      params: REVISION_PATH,
      body: PROJECT_LOGS,
      bodyOptional: true,
      responses: RESPONSES,
    },
    async (context, input) => {
      const { deployment, revision } = await findRevision(context, input)
      return projectLogs(context, 'deploy', deployment, revision, input.body)
    },
  ),
  operation(
    'POST /v1/projects/{deployment_id}/deploy_logs',
    'Get Deploy Logs',
    {
      params: DEPLOYMENT_PATH,
      body: PROJECT_LOGS,
      bodyOptional: true,
      responses: RESPONSES,
    },
    async (context, input) =>
      projectLogs(context, 'deploy', await findDeployment(context, input), undefined, input.body),
  ),
])
