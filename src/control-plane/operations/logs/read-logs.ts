import type { ControlPlaneContext } from '../../context.ts'
import type { LogLevel } from '../../deployers/deployer.ts'
import type { LogLine } from '../../logs/logs.ts'
import type { DeploymentRecord, RevisionRecord, RevisionStatus } from '../../records/records.ts'
import { revisionOfDeployment } from '../on-deployment.ts'

/** The parameters of all log routes. Times are RFC 3339. */
export interface LogRequest {
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

export interface LogAnswer {
  readonly lines: readonly LogLine[]
  /** Null at the end. An active build has no end, so that followers know where to continue. */
  readonly next: string | null
}

/** A page of the server log, or of a revision's build log. Default: the newest revision. */
export async function readLogs(
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
