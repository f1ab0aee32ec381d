import { reportError } from '../../core/http/index.ts'
import { type DeployContext, DeployError, type Running } from '../deployers/deployer.ts'
import type { LogPlace } from '../logs/logs.ts'
import type { DeploymentRecord, RevisionRecord, RunningServer } from '../records/records.ts'
import { deploymentContext, phaseContext } from './context.ts'
import type { Lease } from './lease.ts'
import { type End, endOf, PHASES, type Phase, statusesBefore } from './plan.ts'
import { phaseResult, supervise } from './supervise.ts'

/**
 * How often a phase is started again after its process was lost. After that, the phase is assumed to crash
 * it.
 */
const MAX_ATTEMPTS = 3

/** Runs one phase of a revision, up to the next status or the revision's end. */
export async function runPhase(lease: Lease, phase: Phase, revision: RevisionRecord): Promise<void> {
  const { context } = lease
  const { id, owner, attempts, status } = revision
  const { begins, fails } = PHASES[phase]
  // A lost process has left the revision in the phase's status.
  const isAgain = status === begins && attempts > 0
  if (isAgain && attempts >= MAX_ATTEMPTS) {
    const reason = `Its process was lost ${attempts} times in this phase.`
    return endRevision(lease, id, { status: fails, reason })
  }
  const limitMs = context.times[`${phase}Ms`]
  const supervision = supervise(lease, async () => {
    const [deployment, revision] = await Promise.all([lease.load(), lease.loadRevision(id)])
    return deployment && revision ? endOf(deployment.record, revision) : undefined
  })
  const { signal } = supervision
  try {
    if (phase === 'build') {
      await lease.changeRevision(id, (_, revision) => ({
        passes: statusesBefore(phase, revision.status).slice(0, -1),
      }))
      await supervision.acquire(context.builds, owner)
    }
    await lease.changeRevision(id, (_, revision) => ({
      passes: statusesBefore(phase, revision.status),
      revision: { attempts: isAgain ? attempts + 1 : 1 },
    }))
    const reason = `It took longer than ${Math.round(limitMs / 1_000)} seconds.`
    supervision.stopAfter(limitMs, { status: fails, reason })
    await WORK[phase](lease, id, signal)
  } catch (error) {
    if (lease.signal.aborted) throw error
    // After an abort, an error only shows how the phase stopped.
    if (supervision.end) await endRevision(lease, id, supervision.end)
    // The worker is closing: another process starts the phase again, and this attempt does not count.
    else if (signal.aborted) await lease.changeRevision(id, () => ({ revision: { attempts } }))
    else if (error instanceof DeployError)
      await endRevision(lease, id, { status: fails, reason: error.message })
    // The store failed, not the revision: the phase is started again.
    else throw error
  } finally {
    supervision.done()
  }
}

type Work = (lease: Lease, id: string, signal: AbortSignal) => Promise<void>

const WORK: Readonly<Record<Phase, Work>> = {
  async prepare(lease, id, signal) {
    const { context } = lease
    const { deployer } = context
    const { given } = await load(lease, id, signal, 'build')
    const done = deployer.prepare && (await phaseResult(context, signal, deployer.prepare(given)))
    signal.throwIfAborted()
    await context.logs.flush()
    const prepared = done?.prepared ?? null
    await lease.changeRevision(id, (deployment, revision) => {
      const sourceRevisionConfig = {
        ...revision.sourceRevisionConfig,
        ...(done?.repoCommitSha !== undefined && { repo_commit_sha: done.repoCommitSha }),
      }
      return {
        deployment: deployment.latestRevisionId === id ? { sourceRevisionConfig } : undefined,
        revision: { sourceRevisionConfig, prepared, ...(!deployer.build && { artifact: prepared }) },
        passes: ['QUEUED', deployer.build ? 'AWAITING_BUILD' : 'AWAITING_DEPLOY'],
      }
    })
  },

  async build(lease, id, signal) {
    const { context } = lease
    const { given, revision } = await load(lease, id, signal, 'build')
    const prepared = revision.prepared ?? null
    const artifact = await phaseResult(context, signal, context.deployer.build!({ ...given, prepared }))
    signal.throwIfAborted()
    // Clients read a build's log for the last time when they see that it has ended.
    await context.logs.flush()
    await lease.changeRevision(id, () => ({ revision: { artifact }, passes: ['AWAITING_DEPLOY'] }))
  },

  async deploy(lease, id, signal) {
    const { context } = lease
    const { deployer, times } = context
    const { given, revision, deployment } = await load(lease, id, signal, 'deploy')
    const active = deployment.activeRevisionId
    const previous = active === null ? undefined : (await lease.loadRevision(active))?.running
    const deploy: DeployContext = { ...given, artifact: revision.artifact ?? null, previous }
    const discard = (server: Running) => discardServer(lease, deployment, { revisionId: id, ...server })
    const started = await phaseResult(context, signal, deployer.deploy(deploy), discard)
    if (signal.aborted) {
      await discard(started)
      throw signal.reason
    }
    // A newer revision does not abort this: requests may already go to the new server.
    const promoting = AbortSignal.any([lease.signal, AbortSignal.timeout(times.deployMs)])
    const promoted = deployer.promote?.({ ...deploy, signal: promoting }, started) ?? Promise.resolve(started)
    const running = await phaseResult(context, promoting, promoted).catch(async (error: unknown) => {
      await discard(started)
      throw promoting.aborted ? new DeployError('Its server could not be switched to in time.') : error
    })
    await context.logs.flush()
    const replaced = previous && active !== null && active !== id ? [{ revisionId: active, ...previous }] : []
    await lease.changeRevision(id, ({ pending, retiring }) => ({
      deployment: {
        activeRevisionId: id,
        url: running.url,
        pending: pending.filter((one) => one !== id),
        retiring: [...retiring, ...replaced],
        updatedAt: context.now(),
      },
      revision: { running },
      passes: ['DEPLOYED'],
    }))
  },
}

async function load(lease: Lease, id: string, signal: AbortSignal, type: 'build' | 'deploy') {
  const [read, loaded] = await Promise.all([lease.load(), lease.loadRevision(id)])
  const deployment = read!.record
  const revision = loaded!
  return {
    deployment,
    revision,
    given: await phaseContext(lease.context, deployment, revision, signal, type),
  }
}

/** Stops a server that will not be used. If that fails, it is retried later, as for replaced servers. */
async function discardServer(
  lease: Lease,
  deployment: DeploymentRecord,
  server: RunningServer,
): Promise<void> {
  const { context } = lease
  const { deployer, times, closing, onError } = context
  const { url, handle } = server
  const signal = AbortSignal.timeout(times.deployMs)
  try {
    await deployer.stop({ url, handle }, deploymentContext(context, deployment, signal))
  } catch (error) {
    reportError(error, onError)
    // The process that starts the phase again finds what was left, and may be using it.
    if (closing.aborted) return
    await lease.change(({ retiring }) => ({ retiring: [...retiring, server] }))
  }
}

/** Ends a revision without deploying it. */
export async function endRevision(lease: Lease, id: string, { status, reason }: End): Promise<void> {
  const { logs, now } = lease.context
  const deploymentId = lease.id
  const place: LogPlace =
    status === 'DEPLOY_FAILED'
      ? { type: 'deploy', deploymentId }
      : { type: 'build', deploymentId, revisionId: id }
  const level = status.endsWith('FAILED') ? 'ERROR' : 'WARNING'
  logs.append(place, { at: now(), level, message: `${status}: ${reason}`, revisionId: id })
  // Clients read the log as soon as they see the status.
  await logs.flush()
  await lease.changeRevision(id, ({ pending }) => ({
    deployment: { pending: pending.filter((one) => one !== id), updatedAt: now() },
    passes: [status],
    reason,
  }))
}
