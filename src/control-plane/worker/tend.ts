import { reportError } from '../../http/index.ts'
import { ConflictError } from '../../storage/index.ts'
import type { Running } from '../deployers/deployer.ts'
import { isLeaving } from '../records/create-deployments.ts'
import type { RevisionRecord, RunningServer } from '../records/records.ts'
import { partitionOf } from '../records/stored.ts'
import type { WorkerContext } from './context.ts'
import { endRevision, runPhase } from './phase.ts'
import { nextStep, type Step } from './plan.ts'
import { removeDeployment } from './remove.ts'
import { recoverServer, retireServer } from './serve.ts'
import type { Tenure } from './tenure.ts'

/** The longest wait after failures, in milliseconds. */
const MAX_RETRY_MS = 60_000
/** How long a worker rests without a notification, in milliseconds. */
const REST_MS = 5_000

export interface Tending {
  /** Settles when the deployment is at rest for the first time, or the tenure is over. */
  readonly rested: Promise<void>
  /** Settles when the lease was given back or lost, or the worker closes. Never rejects. */
  readonly done: Promise<void>
  /** What was started here, where the deployer's servers end with their process. */
  readonly serving: Running | undefined
}

/** Does what is to do for a deployment, one step after another, and gives it back when nothing is to do. */
export function tend(context: WorkerContext, tenure: Tenure): Tending {
  const { store, deployer, closing, times, onError } = context
  const isHost = deployer.recover !== undefined
  const retiring = new Set<string>()
  let isDown = isHost
  let serving: Running | undefined
  let recoverAt = 0
  let failures = 0
  let rest: (() => void) | undefined
  const rested = new Promise<void>((resolve) => {
    rest = resolve
  })

  async function step(): Promise<'again' | 'over' | number> {
    const read = await tenure.load()
    if (!read) {
      await tenure.release()
      return 'over'
    }
    const { record: deployment } = read
    const pending = await Promise.all(deployment.pending.map((id) => tenure.loadRevision(id)))
    if (!isLeaving(deployment)) for (const server of deployment.retiring) retire(server)
    const next = nextStep({
      deployment,
      pending: pending.filter((one): one is RevisionRecord => one !== undefined),
      isDown: isDown && deployment.activeRevisionId !== null && Date.now() >= recoverAt,
      hasBuild: deployer.build !== undefined,
    })
    if (next.do !== 'rest') return perform(next)
    if (isDown && deployment.activeRevisionId !== null) return recoverAt - Date.now()
    if (isHost && deployment.activeRevisionId !== null) return REST_MS
    if (deployment.retiring.length > 0) return REST_MS
    await tenure.release(read)
    return 'over'
  }

  async function perform(next: Exclude<Step, { do: 'rest' }>): Promise<'again' | 'over'> {
    switch (next.do) {
      case 'ready':
        await tenure.change(undefined, (latest) => ({
          deployment: { ...latest, status: 'READY', updatedAt: context.now() },
        }))
        return 'again'
      case 'end':
        await endRevision(context, tenure, next.revision.id, next.end)
        return 'again'
      case 'recover':
        serving = await recoverServer(context, tenure)
        isDown = serving === undefined
        if (isDown) recoverAt = Date.now() + backOff(++failures)
        return 'again'
      case 'phase':
        await runPhase(context, tenure, next.phase, next.revision)
        if (isHost && next.phase === 'deploy') await startedHere(next.revision.id)
        return 'again'
      case 'remove':
        await removeDeployment(context, tenure)
        await tenure.release()
        return 'over'
    }
  }

  async function startedHere(revisionId: string): Promise<void> {
    if ((await tenure.load())?.record.activeRevisionId !== revisionId) return
    serving = (await tenure.loadRevision(revisionId))?.running
    isDown = false
  }

  /** Beside the steps: a server that drains must not hold up the next revision. */
  function retire(server: RunningServer): void {
    if (retiring.has(server.revisionId)) return
    retiring.add(server.revisionId)
    void retireServer(context, tenure, server).then((isStopped) => {
      if (isStopped) retiring.delete(server.revisionId)
      else setTimeout(() => retiring.delete(server.revisionId), backOff(1))
    }, report)
  }

  const backOff = (count: number): number => Math.min(times.retryMs * 2 ** (count - 1), MAX_RETRY_MS)
  const report = (error: unknown): void => void reportError(error, onError)
  const isOver = (): boolean => closing.aborted || tenure.signal.aborted

  async function steps(): Promise<void> {
    let errors = 0
    while (!isOver()) {
      let wait = 0
      try {
        const came = await step()
        if (came === 'over') return
        errors = 0
        if (came === 'again') continue
        rest?.()
        wait = came
      } catch (error) {
        if (isOver()) return
        // Somebody changed it in the moment of its release.
        if (error instanceof ConflictError) continue
        report(error)
        wait = backOff(++errors)
      }
      await changedWithin(wait)
    }
  }

  function changedWithin(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer)
        unwatch()
        for (const signal of [tenure.signal, closing]) signal.removeEventListener('abort', end)
        resolve()
      }
      const timer = setTimeout(end, Math.max(ms, 0))
      const unwatch = store.watch(partitionOf(tenure.id), ({ docs }) => docs && end())
      for (const signal of [tenure.signal, closing]) signal.addEventListener('abort', end)
      if (isOver()) end()
    })
  }

  const done = steps()
    .catch(report)
    .finally(() => rest?.())
  return {
    rested,
    done,
    get serving() {
      return serving
    },
  }
}
