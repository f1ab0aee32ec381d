import { reportError } from '../../core/http/index.ts'
import { backoff } from '../../core/time.ts'
import { changedWithin } from '../../storage/coordination/changes.ts'
import { ConflictError, type Op } from '../../storage/index.ts'
import type { Running } from '../deployers/deployer.ts'
import { isLeaving } from '../records/create-deployments.ts'
import { releaseNames } from '../records/names.ts'
import type { RevisionRecord, RunningServer } from '../records/records.ts'
import { DEPLOYMENTS, ofDeployment, partitionOf, REVISIONS, recordOf } from '../records/stored.ts'
import { deploymentContext } from './context.ts'
import type { Lease } from './lease.ts'
import { endRevision, runPhase } from './phase.ts'
import { nextStep, type Step } from './plan.ts'
import { recoverServer, retireServer, settled } from './supervise.ts'

/** The longest delay after failures, in milliseconds. */
const MAX_RETRY_MS = 60_000
/** How long a worker rests without a notification, in milliseconds. */
const REST_MS = 5_000
/** After this many consecutive failures, `rested` resolves without a success. */
const MANY_FAILURES = 3

interface Rest {
  /** How long to rest without a notification, in milliseconds. */
  readonly ms: number
  /** Whether nothing is in progress. */
  readonly isReached: boolean
}

export type Reconciler = ReturnType<typeof startReconciler>

/** Does what a deployment needs, one step at a time, and releases it when nothing is left to do. */
export function startReconciler(lease: Lease) {
  const { store, deployer, closing, times, onError, now } = lease.context
  const isHost = deployer.recover !== undefined
  /** Servers that are being stopped, with the time of the next retry. */
  const retiring = new Map<string, number>()
  let isDown = isHost
  let serving: Running | undefined
  let recoverAt = 0
  let failures = 0
  let isDone = false
  /** Callers of `rested` that wait for the rest after the next step, and after the current one. */
  const waiting: (() => void)[] = []
  const asked: (() => void)[] = []
  let lookAgain = () => {}

  const delayAfter = (count: number): number => backoff(count - 1, times.retryMs, MAX_RETRY_MS)
  const report = (error: unknown): void => void reportError(error, onError)
  const isOver = (): boolean => closing.aborted || lease.signal.aborted

  async function step(): Promise<'again' | 'over' | Rest> {
    const read = await lease.load()
    if (!read) {
      // Its deletion has succeeded, but the store's response was lost.
      await store.trim(partitionOf(lease.id), { keepLast: 0 })
      await lease.release()
      return 'over'
    }
    const { record: deployment } = read
    const [oldest] = deployment.pending
    if (!isLeaving(deployment)) for (const server of deployment.retiring) retire(server)
    const next = nextStep({
      deployment,
      revision: oldest === undefined ? undefined : await lease.loadRevision(oldest),
      isDown: isDown && deployment.activeRevisionId !== null && performance.now() >= recoverAt,
      hasBuild: deployer.build !== undefined,
    })
    if (next.do !== 'rest') return perform(next)
    const serves = isHost && deployment.activeRevisionId !== null
    if (serves || deployment.retiring.length > 0) return restOf(serves && isDown)
    await lease.release(read)
    return 'over'
  }

  function restOf(isRecoveredLater: boolean): Rest {
    const due = [...retiring.values(), ...(isRecoveredLater ? [recoverAt] : [])]
    const ms = due.reduce((least, at) => Math.min(least, at - performance.now()), REST_MS)
    return { ms, isReached: ![...retiring.values()].includes(Number.POSITIVE_INFINITY) }
  }

  async function perform(next: Step): Promise<'again' | 'over'> {
    if (next.do === 'remove') {
      await removeDeployment(lease)
      await lease.release()
      return 'over'
    }
    if (next.do === 'ready') await lease.change(() => ({ status: 'READY', updatedAt: now() }))
    else if (next.do === 'end') await endRevision(lease, next.revision.id, next.end)
    else if (next.do === 'recover') {
      serving = await recoverServer(lease)
      isDown = serving === undefined
      failures = isDown ? failures + 1 : 0
      if (isDown) recoverAt = performance.now() + delayAfter(failures)
    } else if (next.do === 'phase') {
      await runPhase(lease, next.phase, next.revision)
      if (isHost && next.phase === 'deploy') await startedHere(next.revision.id)
    }
    return 'again'
  }

  async function startedHere(revisionId: string): Promise<void> {
    if ((await lease.load())?.record.activeRevisionId !== revisionId) return
    serving = (await lease.loadRevision(revisionId))?.running
    isDown = false
  }

  /** Not one of the steps: a server that drains must not delay the next revision. */
  function retire(server: RunningServer): void {
    const { revisionId } = server
    if ((retiring.get(revisionId) ?? 0) > performance.now()) return
    retiring.set(revisionId, Number.POSITIVE_INFINITY)
    void retireServer(lease, server)
      .catch(report)
      .then((isStopped) => {
        if (isStopped) retiring.delete(revisionId)
        else retiring.set(revisionId, performance.now() + times.retryMs)
        lookAgain()
      })
  }

  async function steps(): Promise<void> {
    let errors = 0
    while (!isOver()) {
      let wait: number
      for (const one of waiting.splice(0)) asked.push(one)
      try {
        const came = await step()
        if (came === 'over') return
        errors = 0
        if (came === 'again') continue
        if (came.isReached) rest()
        wait = came.ms
      } catch (error) {
        if (isOver()) return
        // A request changed the deployment while it was being released.
        if (error instanceof ConflictError) continue
        report(error)
        wait = delayAfter(++errors)
        if (errors >= MANY_FAILURES) rest()
      }
      await sleepUntilChanged(wait)
    }
  }

  function rest(): void {
    for (const resolve of asked.splice(0)) resolve()
  }

  async function sleepUntilChanged(ms: number): Promise<void> {
    const again = new AbortController()
    lookAgain = () => again.abort()
    if (waiting.length > 0) lookAgain()
    await changedWithin(store, partitionOf(lease.id), ms, lease.signal, closing, again.signal)
  }

  const done = steps()
    .catch(report)
    .finally(() => {
      isDone = true
      for (const one of waiting.splice(0)) asked.push(one)
      rest()
    })
  return {
    /** Takes a step, and resolves when the deployment is idle, fails repeatedly, or the lease has ended. */
    rested: (): Promise<void> =>
      new Promise((resolve) => {
        if (isDone) return resolve()
        waiting.push(resolve)
        lookAgain()
      }),
    /** Resolves when the lease was released or lost, or the worker closes. Never rejects. */
    done,
    /** The server that was started here, for a deployer whose servers end with their process. */
    get serving() {
      return serving
    },
  }
}

/** Revisions deleted per commit. */
const PAGE = 200

/**
 * Stops a deployment's servers, removes what they left, and deletes its records. Each step may run again
 * after a crash: the deployment record exists until the last one.
 */
async function removeDeployment(lease: Lease): Promise<void> {
  const { context } = lease
  const { deployer, store, logs, uploads, now, opsOf, closing } = context
  const { record: deployment } = (await lease.load())!
  const { id } = deployment
  const signal = AbortSignal.any([lease.signal, closing])
  const given = deploymentContext(context, deployment, signal)
  if (deployment.status === 'AWAITING_DELETE') {
    const active = deployment.activeRevisionId
    const serving = active === null ? undefined : (await lease.loadRevision(active))?.running
    for (const server of [...(serving ? [serving] : []), ...deployment.retiring])
      await settled(context, signal, deployer.stop({ url: server.url, handle: server.handle }, given))
    await lease.change(() => ({
      status: 'AWAITING_FINAL_DELETE',
      retiring: [],
      url: null,
      updatedAt: now(),
    }))
  }
  await settled(context, signal, deployer.destroy(given))
  for (;;) {
    const { docs } = await store.list(REVISIONS, { orderBy: ofDeployment(id), limit: PAGE })
    if (docs.length === 0) break
    for (const doc of docs)
      await logs.remove({ type: 'build', deploymentId: id, revisionId: recordOf<RevisionRecord>(doc).id })
    await lease.commit(docs.map((doc): Op => ({ op: 'delete', collection: REVISIONS, id: doc.id })))
  }
  await logs.remove({ type: 'deploy', deploymentId: id })
  await uploads.removeAll(id)
  await releaseNames(store, deployment)
  const removed: Op = { op: 'delete', collection: DEPLOYMENTS, id }
  await lease.commit([removed, ...(opsOf?.({ deploymentId: id, status: 'DELETED', at: now() }) ?? [])])
  await store.trim(partitionOf(id), { keepLast: 0 })
}
