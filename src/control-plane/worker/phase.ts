import { reportError } from '../../http/index.ts'
import type { DeployContext, Running } from '../deployers/deployer.ts'
import { DeployError } from '../deployers/errors.ts'
import type { LogPlace } from '../logs/logs.ts'
import type { DeploymentRecord, RevisionRecord, RevisionStatus } from '../records/records.ts'
import { deploymentContext, phaseContext, type WorkerContext } from './context.ts'
import { type End, endOf, PHASES, type Phase, statusesBefore } from './plan.ts'
import type { Changed, Tenure } from './tenure.ts'
import { watchFor } from './watch-for.ts'

/** How often a phase is begun again whose process was lost, before it is presumed to be what kills it. */
const MAX_ATTEMPTS = 3

/** Takes a revision through one phase, to the status after it or to its end. */
export async function runPhase(
  context: WorkerContext,
  tenure: Tenure,
  phase: Phase,
  { id, attempts, status }: RevisionRecord,
): Promise<void> {
  const { begins, fails } = PHASES[phase]
  // A lost process has left the revision in the status of the phase.
  const isAgain = status === begins && attempts > 0
  if (isAgain && attempts >= MAX_ATTEMPTS) {
    const reason = `Its process was lost ${attempts} times in this phase.`
    return endRevision(context, tenure, id, { status: fails, reason })
  }
  const limitMs = context.times[`${phase}Ms`]
  const stop = watchFor(context, tenure, async () => {
    const [deployment, revision] = await Promise.all([tenure.load(), tenure.loadRevision(id)])
    return deployment && revision ? endOf(deployment.record, revision) : undefined
  })
  let free: (() => void) | undefined
  try {
    if (phase === 'build') {
      await tenure.change(id, (deployment, revision) =>
        passed(context, deployment, revision!, statusesBefore(phase, revision!.status).slice(0, -1)),
      )
      free = await context.builds.take(stop.signal)
    }
    await tenure.change(id, (deployment, revision) => {
      const changed = passed(context, deployment, revision!, statusesBefore(phase, revision!.status))
      const deadline = context.now() + limitMs
      return {
        ...changed,
        revision: { ...changed.revision, attempts: isAgain ? attempts + 1 : 1, deadline },
      }
    })
    stop.after(limitMs, {
      status: fails,
      reason: `It took longer than ${Math.round(limitMs / 1_000)} seconds.`,
    })
    await WORK[phase](context, tenure, id, stop.signal)
  } catch (error) {
    // What the phase throws once it was told to stop is only how it stopped.
    const end = stop.end ?? (stop.signal.aborted ? undefined : failure(context, fails, error))
    if (tenure.signal.aborted) throw error
    if (end) await endRevision(context, tenure, id, end)
    else await leave(tenure, id, attempts)
  } finally {
    free?.()
    stop.done()
  }
}

/** The worker closes: another process begins the phase again, and this attempt does not count. */
const leave = (tenure: Tenure, id: string, attempts: number): Promise<void> =>
  tenure.change(id, (deployment, revision) => ({ deployment, revision: { ...revision!, attempts } }))

type Work = (context: WorkerContext, tenure: Tenure, id: string, signal: AbortSignal) => Promise<void>

const WORK: Readonly<Record<Phase, Work>> = {
  async prepare(context, tenure, id, signal) {
    const { deployer } = context
    const given = await load(context, tenure, id, signal, 'build')
    const done = deployer.prepare && (await settled(context, signal, deployer.prepare(given.phase)))
    signal.throwIfAborted()
    await tenure.change(id, (deployment, revision) => {
      const next: readonly RevisionStatus[] = deployer.build
        ? ['QUEUED', 'AWAITING_BUILD']
        : ['QUEUED', 'AWAITING_DEPLOY']
      const changed = passed(context, deployment, revision!, next)
      const prepared = done?.prepared ?? null
      const sourceRevisionConfig = {
        ...revision!.sourceRevisionConfig,
        ...(done?.repoCommitSha !== undefined && { repo_commit_sha: done.repoCommitSha }),
      }
      return {
        deployment:
          deployment.latestRevisionId === id ? { ...changed.deployment, sourceRevisionConfig } : deployment,
        revision: {
          ...changed.revision,
          sourceRevisionConfig,
          prepared,
          ...(!deployer.build && { artifact: prepared }),
        },
      }
    })
  },

  async build(context, tenure, id, signal) {
    const given = await load(context, tenure, id, signal, 'build')
    const prepared = given.revision.prepared ?? null
    const artifact = await settled(context, signal, context.deployer.build!({ ...given.phase, prepared }))
    signal.throwIfAborted()
    await tenure.change(id, (deployment, revision) => {
      const changed = passed(context, deployment, revision!, ['AWAITING_DEPLOY'])
      return { deployment, revision: { ...changed.revision, artifact } }
    })
  },

  async deploy(context, tenure, id, signal) {
    const { deployer } = context
    const given = await load(context, tenure, id, signal, 'deploy')
    const { phase, revision, deployment } = given
    const active = deployment.activeRevisionId
    const previous = active === null ? undefined : (await tenure.loadRevision(active))?.running
    const deploy: DeployContext = { ...phase, artifact: revision.artifact ?? null, previous }
    const discard = (server: Running) => stopServer(context, deployment, server)
    const started = await settled(context, signal, deployer.deploy(deploy), discard)
    if (signal.aborted) {
      await discard(started)
      throw signal.reason
    }
    // Not aborted any more: requests may already go to the new server.
    const promote = { ...deploy, signal: tenure.signal }
    const running = deployer.promote
      ? await deployer.promote(promote, started).catch(async (error: unknown) => {
          await discard(started)
          throw error
        })
      : started
    await context.logs.flush()
    await tenure.change(id, (now, revisionNow) => {
      const changed = passed(context, now, revisionNow!, ['DEPLOYED'])
      const replaced =
        previous && active !== null && active !== id ? [{ revisionId: active, ...previous }] : []
      return {
        deployment: {
          ...now,
          activeRevisionId: id,
          url: running.url,
          pending: now.pending.filter((one) => one !== id),
          retiring: [...now.retiring, ...replaced],
          updatedAt: context.now(),
        },
        revision: { ...changed.revision, running },
      }
    })
  },
}

async function load(
  context: WorkerContext,
  tenure: Tenure,
  id: string,
  signal: AbortSignal,
  type: 'build' | 'deploy',
) {
  const [read, revision] = await Promise.all([tenure.load(), tenure.loadRevision(id)])
  const deployment = read!.record
  return {
    deployment,
    revision: revision!,
    phase: await phaseContext(context, deployment, revision!, signal, type),
  }
}

/**
 * The result of a phase. A deployer that does not stop when it is told is not waited for long: what it comes to later is given to
 * `late`.
 */
async function settled<T>(
  { times, onError }: WorkerContext,
  signal: AbortSignal,
  work: Promise<T>,
  late: (result: T) => Promise<void> = async () => {},
): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  let isLate = false
  const over = new Promise<never>((_, reject) => {
    const wait = () => {
      timer = setTimeout(() => {
        isLate = true
        reject(signal.reason)
        work.then(late).catch((error: unknown) => reportError(error, onError))
      }, times.graceMs)
    }
    if (signal.aborted) wait()
    else signal.addEventListener('abort', wait, { once: true })
  })
  over.catch(() => {})
  try {
    return await Promise.race([work, over])
  } finally {
    if (!isLate) clearTimeout(timer)
  }
}

async function stopServer(
  context: WorkerContext,
  deployment: DeploymentRecord,
  running: Running,
): Promise<void> {
  const { deployer, times } = context
  await deployer.stop(running, deploymentContext(context, deployment, AbortSignal.timeout(times.deployMs)))
}

/** Ends a revision that is not deployed. */
export async function endRevision(
  context: WorkerContext,
  tenure: Tenure,
  id: string,
  { status, reason }: End,
): Promise<void> {
  const deploymentId = tenure.id
  const place: LogPlace =
    status === 'DEPLOY_FAILED'
      ? { type: 'deploy', deploymentId }
      : { type: 'build', deploymentId, revisionId: id }
  const level = status.endsWith('FAILED') ? 'ERROR' : 'WARNING'
  context.logs.append(place, { at: context.now(), level, message: `${status}: ${reason}`, revisionId: id })
  // Clients read the log as soon as they see the status.
  await context.logs.flush()
  await tenure.change(id, (deployment, revision) => {
    const changed = passed(context, deployment, revision!, [status], reason)
    const pending = deployment.pending.filter((one) => one !== id)
    return {
      deployment: { ...deployment, pending, updatedAt: context.now() },
      revision: changed.revision,
    }
  })
}

/** The revision with further statuses in its history. */
function passed(
  { now }: Pick<WorkerContext, 'now'>,
  deployment: DeploymentRecord,
  revision: RevisionRecord,
  statuses: readonly RevisionStatus[],
  reason?: string,
): Changed & { readonly revision: RevisionRecord } {
  const at = now()
  const entries = statuses.map((status) => ({ status, at, ...(reason !== undefined && { reason }) }))
  const status = statuses.at(-1) ?? revision.status
  const { deadline: _, ...rest } = revision
  return {
    deployment,
    revision: { ...rest, status, history: [...revision.history, ...entries], updatedAt: at },
  }
}

/** How a phase failed, in words for whoever deploys: those of a `DeployError`, else an id by which `onError` tells more. */
export function failure(
  { onError }: Pick<WorkerContext, 'onError'>,
  status: RevisionStatus,
  error: unknown,
): End {
  if (error instanceof DeployError) return { status, reason: error.message }
  return { status, reason: `The deployer failed (error id ${reportError(error, onError)}).` }
}
