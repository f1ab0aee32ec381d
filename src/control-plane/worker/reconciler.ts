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
  const isHost = lease.context.deployer.recover !== undefined
  const work: Work = {
    lease,
    isHost,
    retiring: new Map(),
    isDown: isHost,
    serving: undefined,
    recoverAt: 0,
    failures: 0,
    waiting: [],
    asked: [],
    lookAgain: () => {},
  }
  let isDone = false
  const done = steps(work)
    .catch((error) => report(work, error))
    .finally(() => {
      isDone = true
      hear(work)
      rest(work)
    })
  return {
    /** Takes a step, and resolves when the deployment is idle, fails repeatedly, or the lease has ended. */
    rested: (): Promise<void> =>
      new Promise((resolve) => {
        if (isDone) return resolve()
        work.waiting.push(resolve)
        work.lookAgain()
      }),
    /** Resolves when the lease was released or lost, or the worker closes. Never rejects. */
    done,
    /** The server that was started here, for a deployer whose servers end with their process. */
    get serving() {
      return work.serving
    },
  }
}

interface Work {
  readonly lease: Lease
  readonly isHost: boolean
  /** Servers that are being stopped, with the time of the next retry. */
  readonly retiring: Map<string, number>
  isDown: boolean
  serving: Running | undefined
  recoverAt: number
  failures: number
  /** Callers of `rested` that wait for the rest after the next step, and after the current one. */
  readonly waiting: (() => void)[]
  readonly asked: (() => void)[]
  lookAgain: () => void
}

const report = ({ lease }: Work, error: unknown): void => void reportError(error, lease.context.onError)

const delayAfter = ({ lease }: Work, failures: number): number =>
  backoff(failures - 1, lease.context.times.retryMs, MAX_RETRY_MS)

async function steps(work: Work): Promise<void> {
  const { lease } = work
  const isOver = (): boolean => lease.context.closing.aborted || lease.signal.aborted
  let errors = 0
  while (!isOver()) {
    let wait: number
    hear(work)
    try {
      const came = await step(work)
      if (came === 'over') return
      errors = 0
      if (came === 'again') continue
      if (came.isReached) rest(work)
      wait = came.ms
    } catch (error) {
      if (isOver()) return
      // A request changed the deployment while it was being released.
      if (error instanceof ConflictError) continue
      report(work, error)
      wait = delayAfter(work, ++errors)
      if (errors >= MANY_FAILURES) rest(work)
    }
    await sleepUntilChanged(work, wait)
  }
}

function hear({ waiting, asked }: Work): void {
  for (const resolve of waiting.splice(0)) asked.push(resolve)
}

function rest({ asked }: Work): void {
  for (const resolve of asked.splice(0)) resolve()
}

async function sleepUntilChanged(work: Work, ms: number): Promise<void> {
  const { lease } = work
  const again = new AbortController()
  work.lookAgain = () => again.abort()
  if (work.waiting.length > 0) again.abort()
  const { store, closing } = lease.context
  await changedWithin(store, partitionOf(lease.id), ms, lease.signal, closing, again.signal)
}

async function step(work: Work): Promise<'again' | 'over' | Rest> {
  const { lease, isHost } = work
  const { store, deployer } = lease.context
  const read = await lease.load()
  if (!read) {
    // Its deletion has succeeded, but the store's response was lost.
    await store.trim(partitionOf(lease.id), { keepLast: 0 })
    await lease.release()
    return 'over'
  }
  const { record: deployment } = read
  const [oldest] = deployment.pending
  if (!isLeaving(deployment)) for (const server of deployment.retiring) retire(work, server)
  const next = nextStep({
    deployment,
    revision: oldest === undefined ? undefined : await lease.loadRevision(oldest),
    isDown: work.isDown && deployment.activeRevisionId !== null && performance.now() >= work.recoverAt,
    hasBuild: deployer.build !== undefined,
  })
  if (next.do !== 'rest') return perform(work, next)
  const serves = isHost && deployment.activeRevisionId !== null
  if (serves || deployment.retiring.length > 0) return restOf(work, serves && work.isDown)
  await lease.release(read)
  return 'over'
}

function restOf({ retiring, recoverAt }: Work, isRecoveredLater: boolean): Rest {
  const due = [...retiring.values(), ...(isRecoveredLater ? [recoverAt] : [])]
  const ms = due.reduce((least, at) => Math.min(least, at - performance.now()), REST_MS)
  return { ms, isReached: ![...retiring.values()].includes(Number.POSITIVE_INFINITY) }
}

async function perform(work: Work, next: Step): Promise<'again' | 'over'> {
  const { lease } = work
  if (next.do === 'remove') {
    await removeDeployment(lease)
    await lease.release()
    return 'over'
  }
  if (next.do === 'ready') await lease.change(() => ({ status: 'READY', updatedAt: lease.context.now() }))
  else if (next.do === 'end') await endRevision(lease, next.revision.id, next.end)
  else if (next.do === 'recover') {
    work.serving = await recoverServer(lease)
    work.isDown = work.serving === undefined
    work.failures = work.isDown ? work.failures + 1 : 0
    if (work.isDown) work.recoverAt = performance.now() + delayAfter(work, work.failures)
  } else if (next.do === 'phase') {
    await runPhase(lease, next.phase, next.revision)
    if (work.isHost && next.phase === 'deploy') await startedHere(work, next.revision.id)
  }
  return 'again'
}

async function startedHere(work: Work, revisionId: string): Promise<void> {
  const { lease } = work
  if ((await lease.load())?.record.activeRevisionId !== revisionId) return
  work.serving = (await lease.loadRevision(revisionId))?.running
  work.isDown = false
}

/** Not one of the steps: a server that drains must not delay the next revision. */
function retire(work: Work, server: RunningServer): void {
  const { lease, retiring } = work
  const { revisionId } = server
  if ((retiring.get(revisionId) ?? 0) > performance.now()) return
  retiring.set(revisionId, Number.POSITIVE_INFINITY)
  void retireServer(lease, server)
    .catch((error) => report(work, error))
    .then((isStopped) => {
      if (isStopped) retiring.delete(revisionId)
      else retiring.set(revisionId, performance.now() + lease.context.times.retryMs)
      work.lookAgain()
    })
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
