import { backoff, sleep } from '../../../time.ts'
import { maskSecrets } from '../../secrets/mask.ts'
import type { PhaseContext } from '../deployer.ts'
import { DeployError } from '../errors.ts'
import type { KubernetesApi, KubernetesObject } from './api.ts'
import type { Place } from './names.ts'
import { podLabels } from './objects.ts'
import { type Condition, notReady, type PodProblem, problemOf, unschedulable } from './pods.ts'

export interface Rollout {
  readonly api: KubernetesApi
  readonly place: Place
  readonly workload: string
  readonly context: Pick<PhaseContext, 'signal' | 'log' | 'secrets'>
  /** How long it may take until one more server is ready, in milliseconds. */
  readonly deadlineMs: number
  /** The first and the longest wait between two looks, in milliseconds. */
  readonly lookMs: number
  readonly mostLookMs: number
}

/** How many lines of a failed server's log are read, and how many of them its error shows. */
const TAIL_LINES = 50
const SHOWN_LINES = 5

/** Waits until all servers of a workload are ready. Rejects with a `DeployError` that says why one is not. */
export async function waitForRollout(rollout: Rollout): Promise<void> {
  const { api, place, workload, context, deadlineMs, lookMs, mostLookMs } = rollout
  let deadline = performance.now() + deadlineMs
  let most = 0
  const told = new Set<string>()
  const tell = (line: string | undefined, level?: 'WARNING') => {
    if (line === undefined || told.has(line)) return
    told.add(line)
    context.log(line, level)
  }
  for (let look = 0; ; look++) {
    const deployment = await api.find('Deployment', place.namespace, workload)
    if (!deployment || deployment.metadata.deletionTimestamp !== undefined)
      throw new DeployError(`The Deployment "${workload}" was removed while it was rolled out.`)
    const progress = progressOf(deployment)
    tell(progress.text)
    if (progress.ready > most) deadline = performance.now() + deadlineMs
    most = Math.max(most, progress.ready)
    if (progress.isDone) return
    const pods = await podsOf(rollout)
    const problem = problemOf(pods)
    if (problem) throw await failure(rollout, problem.text, problem)
    const held = progress.held ?? unschedulable(pods)
    tell(held && `A server waits for a place: ${held}`, 'WARNING')
    // Kubernetes watches no deadline of a Deployment that was complete once and is started again.
    if (progress.isLate || performance.now() > deadline)
      throw await failure(
        rollout,
        `The servers were not ready in time. ${held ?? lateReason(pods)}`,
        notReady(pods),
      )
    await sleep(backoff(look, lookMs, mostLookMs), context.signal)
  }
}

const lateReason = (pods: readonly KubernetesObject[]): string =>
  notReady(pods) ? 'A server runs and does not answer GET /ok with 200.' : 'No server was started.'

async function podsOf({ api, place, workload }: Rollout): Promise<readonly KubernetesObject[]> {
  const pods = await api.list('Pod', place.namespace, podLabels(place.labels, workload))
  return pods.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
}

interface DeploymentStatus {
  readonly observedGeneration?: number
  readonly replicas?: number
  readonly updatedReplicas?: number
  readonly availableReplicas?: number
  readonly conditions?: readonly Condition[]
}

interface Progress {
  readonly isDone: boolean
  readonly isLate: boolean
  readonly ready: number
  readonly text: string
  /** Why servers cannot be made at all, such as a quota. */
  readonly held: string | undefined
}

/** As `kubectl rollout status` reads it. */
function progressOf({ metadata, spec, status }: KubernetesObject): Progress {
  const wanted = (spec?.replicas as number | undefined) ?? 1
  const {
    observedGeneration = 0,
    replicas = 0,
    updatedReplicas = 0,
    availableReplicas = 0,
    conditions = [],
  } = (status ?? {}) as DeploymentStatus
  const isSeen = observedGeneration >= (metadata.generation ?? 0)
  const ready = isSeen ? Math.min(updatedReplicas, availableReplicas) : 0
  return {
    ready,
    isDone:
      isSeen &&
      updatedReplicas >= wanted &&
      replicas <= updatedReplicas &&
      availableReplicas >= updatedReplicas,
    isLate:
      isSeen &&
      conditions.some(({ type, reason }) => type === 'Progressing' && reason === 'ProgressDeadlineExceeded'),
    text: `${Math.min(ready, wanted)} of ${wanted} servers are ready.`,
    held: conditions.find(({ type, status }) => type === 'ReplicaFailure' && status === 'True')?.message,
  }
}

/** An error that ends with what the container has logged last. */
async function failure(
  rollout: Rollout,
  text: string,
  where: Omit<PodProblem, 'text'> | undefined,
): Promise<DeployError> {
  const lines = where?.hasRun ? await tailOf(rollout, where) : []
  for (const line of lines) rollout.context.log(line, 'ERROR')
  // A line of the log is masked by whoever writes it; an error is not.
  const mask = maskSecrets(Object.values(rollout.context.secrets))
  const shown = lines.slice(-SHOWN_LINES).map((line) => mask(line).slice(0, 500))
  return new DeployError(shown.length === 0 ? text : `${text} Its last lines: ${shown.join(' | ')}`)
}

async function tailOf(
  { api, place, context }: Rollout,
  where: Omit<PodProblem, 'text'>,
): Promise<readonly string[]> {
  try {
    const query = { container: where.container, tailLines: String(TAIL_LINES), limitBytes: '65536' }
    const response = await api.log(place.namespace, where.pod, query)
    return (await response?.text())?.split('\n').filter(Boolean) ?? []
  } catch (error) {
    context.signal.throwIfAborted()
    // The failure itself is what has to be told.
    context.log(`Its log could not be read: ${error instanceof Error ? error.message : error}`, 'WARNING')
    return []
  }
}
