import { reportError } from '../../http/index.ts'
import type { DeployContext, Running } from '../deployers/deployer.ts'
import { DeployError } from '../deployers/errors.ts'
import type { LogPlace } from '../logs/logs.ts'
import type { DeploymentRecord, RevisionRecord, RevisionStatus } from '../records/records.ts'
import { deploymentContext, phaseContext, type WorkerContext } from './context.ts'
import type { Changed, Lease } from './lease.ts'
import { type End, endOf, PHASES, type Phase, statusesBefore } from './plan.ts'
import { readable, settled } from './settled.ts'
import { watchFor } from './watch-for.ts'

/** How often a phase is begun again whose process was lost, before it is presumed to be what kills it. */
const MAX_ATTEMPTS = 3

/** Takes a revision through one phase, to the status after it or to its end. */
export async function runPhase(
  context: WorkerContext,
  lease: Lease,
  phase: Phase,
  { id, owner, attempts, status }: RevisionRecord,
): Promise<void> {
  const { begins, fails } = PHASES[phase]
  // A lost process has left the revision in the status of the phase.
  const isAgain = status === begins && attempts > 0
  if (isAgain && attempts >= MAX_ATTEMPTS) {
    const reason = `Its process was lost ${attempts} times in this phase.`
    return endRevision(context, lease, id, { status: fails, reason })
  }
  const limitMs = context.times[`${phase}Ms`]
  const stop = watchFor(context, lease, async () => {
    const [deployment, revision] = await Promise.all([lease.load(), lease.loadRevision(id)])
    return deployment && revision ? endOf(deployment.record, revision) : undefined
  })
  let free: (() => void) | undefined
  try {
    if (phase === 'build') {
      await lease.change(id, (deployment, revision) =>
        passed(context, deployment, revision!, statusesBefore(phase, revision!.status).slice(0, -1)),
      )
      free = await context.builds.acquire(owner, stop.signal)
    }
    await lease.change(id, (deployment, revision) => {
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
    await WORK[phase](context, lease, id, stop.signal)
  } catch (error) {
    if (lease.signal.aborted) throw error
    // What the phase throws once it was told to stop is only how it stopped.
    if (stop.end) await endRevision(context, lease, id, stop.end)
    else if (stop.signal.aborted) await leave(lease, id, attempts)
    else if (error instanceof DeployError)
      await endRevision(context, lease, id, { status: fails, reason: error.message })
    // The store failed, not the revision: the phase is begun again.
    else throw error
  } finally {
    free?.()
    stop.done()
  }
}

/** The worker closes: another process begins the phase again, and this attempt does not count. */
const leave = (lease: Lease, id: string, attempts: number): Promise<void> =>
  lease.change(id, (deployment, revision) => ({ deployment, revision: { ...revision!, attempts } }))

type Work = (context: WorkerContext, lease: Lease, id: string, signal: AbortSignal) => Promise<void>

const WORK: Readonly<Record<Phase, Work>> = {
  async prepare(context, lease, id, signal) {
    const { deployer } = context
    const given = await load(context, lease, id, signal, 'build')
    const done = deployer.prepare && (await result(context, signal, deployer.prepare(given.phase)))
    signal.throwIfAborted()
    await context.logs.flush()
    await lease.change(id, (deployment, revision) => {
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

  async build(context, lease, id, signal) {
    const given = await load(context, lease, id, signal, 'build')
    const prepared = given.revision.prepared ?? null
    const artifact = await result(context, signal, context.deployer.build!({ ...given.phase, prepared }))
    signal.throwIfAborted()
    // Clients read the log of a build for the last time when they see that it is over.
    await context.logs.flush()
    await lease.change(id, (deployment, revision) => {
      const changed = passed(context, deployment, revision!, ['AWAITING_DEPLOY'])
      return { deployment, revision: { ...changed.revision, artifact } }
    })
  },

  async deploy(context, lease, id, signal) {
    const { deployer } = context
    const given = await load(context, lease, id, signal, 'deploy')
    const { phase, revision, deployment } = given
    const active = deployment.activeRevisionId
    const previous = active === null ? undefined : (await lease.loadRevision(active))?.running
    const deploy: DeployContext = { ...phase, artifact: revision.artifact ?? null, previous }
    const discard = (server: Running) => discardServer(context, lease, deployment, id, server)
    const started = await result(context, signal, deployer.deploy(deploy), discard)
    if (signal.aborted) {
      await discard(started)
      throw signal.reason
    }
    // Not aborted any more: requests may already go to the new server.
    const promoting = AbortSignal.any([lease.signal, AbortSignal.timeout(context.times.deployMs)])
    const promoted = deployer.promote?.({ ...deploy, signal: promoting }, started)
    const running = await result(context, promoting, promoted ?? Promise.resolve(started)).catch(
      async (error: unknown) => {
        await discard(started)
        throw promoting.aborted ? new DeployError('Its server could not be switched to in time.') : error
      },
    )
    await context.logs.flush()
    await lease.change(id, (now, revisionNow) => {
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
  lease: Lease,
  id: string,
  signal: AbortSignal,
  type: 'build' | 'deploy',
) {
  const [read, revision] = await Promise.all([lease.load(), lease.loadRevision(id)])
  const deployment = read!.record
  return {
    deployment,
    revision: revision!,
    phase: await phaseContext(context, deployment, revision!, signal, type),
  }
}

const result = <T>(
  context: WorkerContext,
  signal: AbortSignal,
  work: Promise<T>,
  late?: (result: T) => Promise<void>,
): Promise<T> => readable(context, signal, settled(context, signal, work, late))

/** Stops a server that will not serve. Where that fails, it is tried again later, as with servers that were replaced. */
async function discardServer(
  context: WorkerContext,
  lease: Lease,
  deployment: DeploymentRecord,
  revisionId: string,
  running: Running,
): Promise<void> {
  const { deployer, times, closing, onError } = context
  try {
    await deployer.stop(running, deploymentContext(context, deployment, AbortSignal.timeout(times.deployMs)))
  } catch (error) {
    reportError(error, onError)
    // Whoever begins the phase again finds what was left, and must not have it stopped in its hands.
    if (closing.aborted) return
    await lease.change(undefined, (latest) => ({
      deployment: { ...latest, retiring: [...latest.retiring, { revisionId, ...running }] },
    }))
  }
}

/** Ends a revision that is not deployed. */
export async function endRevision(
  context: WorkerContext,
  lease: Lease,
  id: string,
  { status, reason }: End,
): Promise<void> {
  const deploymentId = lease.id
  const place: LogPlace =
    status === 'DEPLOY_FAILED'
      ? { type: 'deploy', deploymentId }
      : { type: 'build', deploymentId, revisionId: id }
  const level = status.endsWith('FAILED') ? 'ERROR' : 'WARNING'
  context.logs.append(place, { at: context.now(), level, message: `${status}: ${reason}`, revisionId: id })
  // Clients read the log as soon as they see the status.
  await context.logs.flush()
  await lease.change(id, (deployment, revision) => {
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
