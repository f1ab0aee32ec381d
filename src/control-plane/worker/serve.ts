import { reportError } from '../../core/http/index.ts'
import { DeployError, type Running } from '../deployers/deployer.ts'
import { isLeaving } from '../records/create-deployments.ts'
import type { RunningServer } from '../records/records.ts'
import { deploymentContext, phaseContext } from './context.ts'
import type { Lease } from './lease.ts'
import { phaseResult, supervise } from './supervise.ts'

const STARTING = 'Its server is restarting.'

/**
 * Starts the active revision again, after a restart. Undefined if that failed: its revision is `UNKNOWN`
 * until it succeeds.
 */
export async function recoverServer(lease: Lease): Promise<Running | undefined> {
  const { context } = lease
  const { deployer, times, now, closing } = context
  const deployment = (await lease.load())!.record
  const revision = await lease.loadRevision(deployment.activeRevisionId!)
  if (!revision?.running || !deployer.recover) return revision?.running
  const { id } = revision
  const supervision = supervise(lease, async () => {
    const read = await lease.load()
    return read && isLeaving(read.record) ? { status: 'UNKNOWN', reason: 'It is being deleted.' } : undefined
  })
  const { signal } = supervision
  try {
    if (revision.status !== 'UNKNOWN')
      await lease.changeRevision(id, () => ({ passes: ['UNKNOWN'], reason: STARTING }))
    const phase = await phaseContext(context, deployment, revision, signal, 'deploy')
    const deploy = { ...phase, artifact: revision.artifact ?? null, previous: revision.running }
    const held = await deployer.standBy?.(deploy, revision.running)
    await supervision.acquire(context.starts, deployment.owner)
    const seconds = Math.round(times.deployMs / 1_000)
    const reason = `It took longer than ${seconds} seconds to restart.`
    supervision.stopAfter(times.deployMs, { status: 'UNKNOWN', reason })
    const running = await phaseResult(context, signal, deployer.recover(deploy, held ?? revision.running))
    await lease.changeRevision(id, ({ url }, { status }) => ({
      deployment: url === running.url ? undefined : { url: running.url, updatedAt: now() },
      revision: { running },
      passes: status === 'UNKNOWN' ? ['DEPLOYED'] : undefined,
    }))
    return running
  } catch (error) {
    if (lease.signal.aborted || closing.aborted) throw error
    const reason = supervision.end?.reason ?? (error instanceof DeployError ? error.message : undefined)
    // The store failed, not the server.
    if (reason === undefined) throw error
    await lease.changeRevision(id, (_, { history }) => {
      const last = history.at(-1)!
      if (last.reason === STARTING) return { passes: ['UNKNOWN'], reason }
      // The reason of a further failure replaces the first one's, so that the history stays short.
      return { revision: { history: [...history.slice(0, -1), { ...last, reason }], updatedAt: now() } }
    })
    return undefined
  } finally {
    supervision.done()
  }
}

/** Stops a server that a newer revision has replaced. False if that failed and has to be retried. */
export async function retireServer(lease: Lease, server: RunningServer): Promise<boolean> {
  const { context } = lease
  const { deployer, onError } = context
  const { revisionId, url, handle } = server
  const deployment = (await lease.load())?.record
  if (!deployment) return true
  try {
    await deployer.stop({ url, handle }, deploymentContext(context, deployment, lease.signal))
    await lease.change(({ retiring }) => ({
      retiring: retiring.filter((one) => one.revisionId !== revisionId),
    }))
    return true
  } catch (error) {
    if (!lease.signal.aborted) reportError(error, onError)
    return false
  }
}
