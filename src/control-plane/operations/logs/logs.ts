import * as z from 'zod/mini'
import { type Reply, route, tagged } from '../../api/route.ts'
import type { ControlPlaneContext } from '../../context.ts'
import type { LogLevel } from '../../deployers/deployer.ts'
import type { LogLine } from '../../logs/logs.ts'
import { presentLine, presentProjectLine } from '../../present.ts'
import type { DeploymentRecord, RevisionRecord, RevisionStatus } from '../../records/records.ts'
import * as t from '../../wire/common.ts'
import { DEPLOYMENTS_TAG } from '../../wire/deployment.ts'
import { findDeployment, onDeployment, onRevision, revisionOfDeployment } from '../on-deployment.ts'

const ORDER = z.enum(['asc', 'desc'])
const DEFAULT_ORDER = z._default(ORDER, 'asc')
const LEVEL = z.enum(['DEBUG', 'INFO', 'WARNING', 'ERROR', 'CRITICAL'])
const TYPE = z.enum(['build', 'deploy'])
/** The lines to select. */
const FILTERS = {
  start_time: z.optional(t.TIME),
  end_time: z.optional(t.TIME),
  query: z.optional(t.STRING),
  level: z.optional(LEVEL),
  run_id: z.optional(t.STRING),
} as const
const PAGE = {
  order: DEFAULT_ORDER,
  limit: t.limited(1000, 50),
  offset: z.optional(t.STRING),
} as const

const LOG_ENTRY = t.titled('LogEntry', {
  id: t.STRING,
  timestamp: t.TIME,
  level: LEVEL,
  message: t.STRING,
  revision_id: t.OPT_UUID,
  run_id: t.OPT_STRING,
})

const LOG_PAGE = t.titled('LogsResponse', {
  logs: t.list(LOG_ENTRY),
  next_offset: t.NULL_STRING,
})

const LOG_ITEMS = t.titled('DeploymentLogsResponse', {
  items: t.list(LOG_ENTRY),
  next_cursor: t.NULL_STRING,
})

const REVISION_LOGS = z.object({ type: TYPE, ...FILTERS, ...PAGE })

const DEPLOYMENT_LOGS = z.object({
  type: t.described(z._default(TYPE, 'deploy'), 'The build log is that of the newest revision.'),
  ...FILTERS,
  ...PAGE,
})

const LIST_DEPLOYMENT_LOGS = z.object({
  deployment_id: t.UUID,
  revision_id: z.optional(t.UUID),
  log_type: z._default(z.enum(['BUILD', 'DEPLOY']), 'DEPLOY'),
  ...FILTERS,
  sort_order: DEFAULT_ORDER,
  page_size: t.limited(100, 20),
  cursor: z.optional(t.STRING),
})

/** What the command-line tools send. Times are strings, or milliseconds since 1970. */
const PROJECT_LOGS = t.titled('ProjectLogsRequest', {
  order: z.nullish(ORDER),
  limit: z.nullish(t.integer({ minimum: 1, maximum: 1000 })),
  offset: t.OPT_STRING,
  level: z.nullish(LEVEL),
  query: t.OPT_STRING,
  start_time: t.OPT_TIME,
  end_time: t.OPT_TIME,
})
type ProjectLogsBody = z.output<typeof PROJECT_LOGS>

const PROJECT_LOG_ENTRY = t.titled('ProjectLogEntry', {
  id: t.STRING,
  timestamp: t.described(t.INTEGER, 'Milliseconds since 1970.'),
  level: LEVEL,
  message: t.STRING,
})

const PROJECT_LOG_PAGE = t.titled('ProjectLogsResponse', {
  logs: t.list(PROJECT_LOG_ENTRY),
  next_offset: t.NULL_STRING,
})

export const logOperations = tagged(DEPLOYMENTS_TAG, [
  onRevision('GET', '/v2/deployments/:deployment_id/revisions/:revision_id/logs', {
    summary: 'Get Revision Logs',
    query: REVISION_LOGS,
    answers: { 200: LOG_PAGE },
    errors: [400, 404],
    run: async ({ deployment, revision }, { query }, context) => {
      const { lines, next } = await readLogs(context, deployment, { ...query, revision })
      return { body: { logs: lines.map(presentLine), next_offset: next } }
    },
  }),
  onDeployment('GET', '/v2/deployments/:deployment_id/logs', {
    summary: 'Get Deployment Logs',
    query: DEPLOYMENT_LOGS,
    answers: { 200: LOG_PAGE },
    errors: [400, 404],
    run: async (deployment, { query }, context) => {
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
    run: async ({ deployment, revision }, { body }, context) =>
      projectLogs(context, deployment, { type: 'build', revision }, body),
  }),
  onRevision('POST', '/v1/projects/:deployment_id/revisions/:revision_id/deploy_logs', {
    summary: 'Get Revision Deploy Logs',
    ...SPEC,
    run: async ({ deployment, revision }, { body }, context) =>
      projectLogs(context, deployment, { type: 'deploy', revision }, body),
  }),
  onDeployment('POST', '/v1/projects/:deployment_id/deploy_logs', {
    summary: 'Get Deploy Logs',
    ...SPEC,
    run: async (deployment, { body }, context) => projectLogs(context, deployment, { type: 'deploy' }, body),
  }),
])

/** The parameters of all log routes. Times are RFC 3339. */
interface LogRequest {
  readonly type: 'build' | 'deploy'
  readonly revision?: RevisionRecord | undefined
  readonly order?: 'asc' | 'desc' | null | undefined
  readonly limit: number
  readonly offset?: string | null | undefined
  readonly start_time?: string | null | undefined
  readonly end_time?: string | null | undefined
  readonly query?: string | null | undefined
  readonly level?: LogLevel | null | undefined
  readonly run_id?: string | null | undefined
}

interface LogAnswer {
  readonly lines: readonly LogLine[]
  /** Null at the end. An active build has no end, so that followers know where to continue. */
  readonly next: string | null
}

/** A page of the server log, or of a revision's build log. Default: the newest revision. */
async function readLogs(
  context: ControlPlaneContext,
  deployment: DeploymentRecord,
  request: LogRequest,
): Promise<LogAnswer> {
  const { type } = request
  const revision = request.revision ?? (type === 'build' ? await latest(context, deployment) : undefined)
  if (type === 'build' && !revision) return { lines: [], next: null }
  const deploymentId = deployment.id
  const revisionId = revision?.id
  // The status is read before the lines. Otherwise the last lines of a build that ends in between would be
  // lost.
  const goesOn = type === 'build' && BUILDING.has(revision!.status)
  const place = type === 'build' ? { type, deploymentId, revisionId: revisionId! } : { type, deploymentId }
  const page = await context.logs.read(place, {
    revisionId,
    order: request.order ?? 'asc',
    limit: request.limit,
    offset: request.offset || undefined,
    startTime: timeOf(request.start_time),
    endTime: timeOf(request.end_time),
    query: request.query || undefined,
    level: request.level ?? undefined,
    runId: request.run_id || undefined,
  })
  const isEnd = page.isEnd && !(goesOn && request.order !== 'desc')
  return { lines: page.lines, next: isEnd ? null : page.nextOffset }
}

const latest = (context: ControlPlaneContext, deployment: DeploymentRecord) =>
  deployment.latestRevisionId === null
    ? undefined
    : revisionOfDeployment(context, deployment, deployment.latestRevisionId)

/** The statuses in which a build log can grow. */
const BUILDING: ReadonlySet<RevisionStatus> = new Set<RevisionStatus>([
  'CREATING',
  'QUEUED',
  'AWAITING_BUILD',
  'BUILDING',
])

const timeOf = (time: string | null | undefined): number | undefined =>
  time == null ? undefined : Date.parse(time)
