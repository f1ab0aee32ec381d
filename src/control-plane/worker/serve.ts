import { reportError } from '../../http/index.ts'
import type { Running } from '../deployers/deployer.ts'
import { DeployError } from '../deployers/errors.ts'
import { isLeaving } from '../records/create-deployments.ts'
import type { RunningServer, StatusChange } from '../records/records.ts'
import { deploymentContext, phaseContext, type WorkerContext } from './context.ts'
import type { Lease } from './lease.ts'
import { readable, settled } from './settled.ts'
import { watchFor } from './watch-for.ts'

/** Starts the active revision again, after a restart. Undefined where that failed: its revision is `UNKNOWN` until it succeeds. */
export async function recoverServer(context: WorkerContext, lease: Lease): Promise<Running | undefined> {
  const { deployer, times, now, closing } = context
  const deployment = (await lease.load())!.record
  const revision = await lease.loadRevision(deployment.activeRevisionId!)
  if (!revision?.running || !deployer.recover) return revision?.running
  const { id } = revision
  const stop = watchFor(context, lease, async () => {
    const read = await lease.load()
    return read && isLeaving(read.record) ? { status: 'UNKNOWN', reason: 'It is being deleted.' } : undefined
  })
  let free: (() => void) | undefined
  try {
    if (revision.status !== 'UNKNOWN')
      await lease.change(id, (latest, read) => ({
        deployment: latest,
        revision: { ...read!, ...moved(read!.history, 'UNKNOWN', now(), STARTING) },
      }))
    const phase = await phaseContext(context, deployment, revision, stop.signal, 'deploy')
    const deploy = { ...phase, artifact: revision.artifact ?? null, previous: revision.running }
    const held = await deployer.standBy?.(deploy, revision.running)
    free = await context.starts.acquire(deployment.owner, stop.signal)
    stop.after(times.deployMs, {
      status: 'UNKNOWN',
      reason: `It took longer than ${Math.round(times.deployMs / 1_000)} seconds to start again.`,
    })
    const work = settled(context, stop.signal, deployer.recover(deploy, held ?? revision.running))
    const running = await readable(context, stop.signal, work)
    await lease.change(id, (latest, read) => ({
      deployment: latest.url === running.url ? latest : { ...latest, url: running.url, updatedAt: now() },
      revision: {
        ...read!,
        running,
        ...(read!.status === 'UNKNOWN' && moved(read!.history, 'DEPLOYED', now())),
      },
    }))
    return running
  } catch (error) {
    if (lease.signal.aborted || closing.aborted) throw error
    const reason = stop.end?.reason ?? (error instanceof DeployError ? error.message : undefined)
    // The store failed, not the server.
    if (reason === undefined) throw error
    await lease.change(id, (latest, read) => ({
      deployment: latest,
      revision: {
        ...read!,
        ...failed(read!.history, now(), reason),
      },
    }))
    return undefined
  } finally {
    free?.()
    stop.done()
  }
}

const STARTING = 'Its server is being started again.'

/** Further failures take the place of the first one, so that the history of a server that never starts ends. */
const failed = (history: readonly StatusChange[], at: number, reason: string) =>
  history.at(-1)!.reason === STARTING
    ? moved(history, 'UNKNOWN', at, reason)
    : { history: [...history.slice(0, -1), { ...history.at(-1)!, reason }], updatedAt: at }

const moved = (
  history: readonly StatusChange[],
  status: 'DEPLOYED' | 'UNKNOWN',
  at: number,
  reason?: string,
) => ({
  status,
  updatedAt: at,
  history: [...history, { status, at, ...(reason !== undefined && { reason }) }],
})

/** Stops a server that a newer revision has replaced. Where that fails, it is tried again later. */
export async function retireServer(
  context: WorkerContext,
  lease: Lease,
  { revisionId, url, handle }: RunningServer,
): Promise<boolean> {
  const { deployer, onError } = context
  const deployment = (await lease.load())?.record
  if (!deployment) return true
  try {
    await deployer.stop({ url, handle }, deploymentContext(context, deployment, lease.signal))
    await lease.change(undefined, (latest) => ({
      deployment: { ...latest, retiring: latest.retiring.filter((one) => one.revisionId !== revisionId) },
    }))
    return true
  } catch (error) {
    if (!lease.signal.aborted) reportError(error, onError)
    return false
  }
}
