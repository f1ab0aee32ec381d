import { reportError } from '../../core/http/index.ts'
import { pause } from '../../core/time.ts'
import { watchChanges } from '../../storage/coordination/changes.ts'
import type { KeyedSemaphore } from '../../storage/coordination/keyed-semaphore.ts'
import { DeployError, type Running } from '../deployers/deployer.ts'
import { isLeaving } from '../records/create-deployments.ts'
import type { RunningServer } from '../records/records.ts'
import { partitionOf } from '../records/stored.ts'
import { deploymentContext, phaseContext, type WorkerContext } from './context.ts'
import type { Lease } from './lease.ts'
import type { End } from './plan.ts'

/** How often a deployment is read without a notification, because those may be lost. In milliseconds. */
const RECHECK_MS = 1_000

/** Watches a deployment during work on it. `check` returns an end if the work has to stop. */
export function supervise(lease: Lease, check: () => Promise<End | undefined>) {
  const { store, onError, closing } = lease.context
  const stopped = new AbortController()
  const signal = AbortSignal.any([stopped.signal, lease.signal, closing])
  const changes = watchChanges(store, partitionOf(lease.id))
  let end: End | undefined
  let isDone = false
  let timer: ReturnType<typeof setTimeout> | undefined
  let free = () => {}

  const stop = (decided: End) => {
    if (signal.aborted) return
    end = decided
    stopped.abort(new DOMException(decided.reason, 'AbortError'))
  }
  async function watch(): Promise<void> {
    for (;;) {
      await changes.next(RECHECK_MS, signal)
      if (isDone || signal.aborted) return
      try {
        const decided = await check()
        if (decided) stop(decided)
      } catch (error) {
        // The lease decides whether the work may continue.
        reportError(error, onError)
      }
    }
  }

  void watch()
  return {
    /** Aborts when the work has to stop. */
    signal,
    /** Why it had to stop. Undefined if the lease was lost or the worker is closing: that decides nothing. */
    get end() {
      return end
    },
    stopAfter(ms: number, decided: End): void {
      timer = setTimeout(() => stop(decided), ms)
    },
    /** Takes a slot until `done`. */
    async acquire(slots: KeyedSemaphore<string | null>, owner: string | null): Promise<void> {
      free = await slots.acquire(owner, signal)
    },
    done(): void {
      isDone = true
      clearTimeout(timer)
      changes.close()
      free()
    },
  }
}

/**
 * The result of work that was asked to stop when the signal aborted. Work that continues beyond the grace
 * time is not awaited: its later result goes to `late`.
 */
export async function settled<T>(
  { times, onError }: Pick<WorkerContext, 'times' | 'onError'>,
  signal: AbortSignal,
  work: Promise<T>,
  late: (result: T) => Promise<void> = async () => {},
): Promise<T> {
  const ended = new AbortController()
  const result = work.finally(() => ended.abort())
  await pause(Number.POSITIVE_INFINITY, signal, ended.signal)
  await pause(times.graceMs, ended.signal)
  if (ended.signal.aborted) return result
  result.then(late).catch((error: unknown) => reportError(error, onError))
  throw signal.reason
}

/**
 * Like `settled`, for a phase whose failure clients may read: the deployer's own `DeployError`, otherwise one
 * with the error id that `onError` received. Store errors have other types, and decide nothing about a
 * revision.
 */
export async function phaseResult<T>(
  context: Pick<WorkerContext, 'times' | 'onError'>,
  signal: AbortSignal,
  work: Promise<T>,
  late?: (result: T) => Promise<void>,
): Promise<T> {
  try {
    return await settled(context, signal, work, late)
  } catch (error) {
    // After an abort, an error only shows how the work stopped.
    if (signal.aborted || error instanceof DeployError) throw error
    const id = reportError(error, context.onError)
    throw new DeployError(`The deployer failed (error id ${id}).`, { cause: error })
  }
}

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
