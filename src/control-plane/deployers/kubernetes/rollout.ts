import type { V1ContainerStatus } from '@kubernetes/client-node'
import { backoff, sleep } from '../../../core/time.ts'
import { maskSecrets } from '../../secrets/mask.ts'
import { DeployError, type PhaseContext } from '../deployer.ts'
import type { KubernetesApi, KubernetesObject } from './api.ts'
import { ATTEMPT_ANNOTATION, REVISION_ANNOTATION, type Scope, WORKLOAD_LABEL } from './names.ts'
import { podLabels } from './objects.ts'
import type { KubernetesTimes } from './options.ts'

interface Rollout {
  readonly api: KubernetesApi
  readonly scope: Scope
  readonly workload: string
  readonly context: Pick<PhaseContext, 'signal' | 'log' | 'secrets'>
  readonly times: Pick<KubernetesTimes, 'progressDeadlineSeconds' | 'lookMs' | 'mostLookMs'>
}

/** How many lines of a failed server's log to read, and how many of them its error shows. */
const TAIL_LINES = 50
const SHOWN_LINES = 5

/** Waits until all servers of a workload are ready. Rejects with a `DeployError` that says why one is not. */
export async function waitForRollout(rollout: Rollout): Promise<void> {
  const { api, scope, workload, context, times } = rollout
  const deadlineMs = times.progressDeadlineSeconds * 1_000
  let deadline = performance.now() + deadlineMs
  let most = 0
  const logged = new Set<string>()
  const logOnce = (line: string | undefined, level?: 'WARNING') => {
    if (line === undefined || logged.has(line)) return
    logged.add(line)
    context.log(line, level)
  }
  for (let look = 0; ; look++) {
    const deployment = await api.find('Deployment', workload)
    if (!deployment || deployment.metadata.deletionTimestamp !== undefined)
      throw new DeployError(`The Deployment "${workload}" was removed during the rollout.`)
    const progress = progressOf(deployment)
    logOnce(progress.text)
    // Each server that becomes ready extends the time for the others.
    if (progress.ready > most) deadline = performance.now() + deadlineMs
    most = Math.max(most, progress.ready)
    if (progress.isDone) return
    const all = await api.list('Pod', podLabels(scope.labels, workload))
    const pods = all.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    const problem = problemOf(pods)
    if (problem) throw await failure(rollout, problem.text, problem)
    const held = progress.held ?? unschedulable(pods)
    logOnce(held && `A server is waiting to be scheduled: ${held}`, 'WARNING')
    // Kubernetes enforces no deadline for a Deployment that was once complete and is started again.
    if (progress.isLate || performance.now() > deadline) {
      const slow = notReady(pods)
      const why = slow
        ? 'A server is running but does not answer GET /ok with 200.'
        : 'No server was started.'
      throw await failure(rollout, `The servers were not ready in time. ${held ?? why}`, slow)
    }
    await sleep(backoff(look, times.lookMs, times.mostLookMs), context.signal)
  }
}

/** As `kubectl rollout status` reads it. `held` says why no servers can be created, such as a quota. */
function progressOf({ metadata, spec, status = {} }: KubernetesObject<'Deployment'>) {
  const wanted = spec?.replicas ?? 1
  const { observedGeneration = 0, replicas = 0, updatedReplicas: updated = 0, conditions = [] } = status
  const { availableReplicas: available = 0 } = status
  const isSeen = observedGeneration >= (metadata.generation ?? 0)
  const ready = isSeen ? Math.min(updated, available) : 0
  const isLate = conditions.some(
    ({ type, reason }) => type === 'Progressing' && reason === 'ProgressDeadlineExceeded',
  )
  return {
    ready,
    isDone: isSeen && updated >= wanted && replicas <= updated && available >= updated,
    isLate: isSeen && isLate,
    text: `${Math.min(ready, wanted)} of ${wanted} servers are ready.`,
    held: conditions.find(({ type, status }) => type === 'ReplicaFailure' && status === 'True')?.message,
  }
}

/** An error that ends with the last lines of the container's log. */
async function failure(
  rollout: Rollout,
  text: string,
  where: Omit<PodProblem, 'text'> | undefined,
): Promise<DeployError> {
  const { secrets, log } = rollout.context
  const lines = where?.hasRun ? await tailOf(rollout, where) : []
  for (const line of lines) log(line, 'ERROR')
  // `log` masks its lines, but an error must be masked here.
  const mask = maskSecrets(Object.values(secrets))
  const shown = lines.slice(-SHOWN_LINES).map((line) => mask(line).slice(0, 500))
  return new DeployError(shown.length === 0 ? text : `${text} Its last lines: ${shown.join(' | ')}`)
}

async function tailOf(
  { api, context }: Rollout,
  { container, pod }: Omit<PodProblem, 'text'>,
): Promise<readonly string[]> {
  try {
    const query = { container, tailLines: String(TAIL_LINES), limitBytes: '65536' }
    const response = await api.log(pod, query)
    return (await response?.text())?.split('\n').filter(Boolean) ?? []
  } catch (error) {
    context.signal.throwIfAborted()
    // The error to throw is the server's.
    context.log(`Its log could not be read: ${error instanceof Error ? error.message : error}`, 'WARNING')
    return []
  }
}

type Pod = KubernetesObject<'Pod'>

/** Why a server does not start, if waiting will not help. */
interface PodProblem {
  readonly pod: string
  readonly container: string
  /** A sentence. */
  readonly text: string
  /** Whether the container has run, so that it has a log. */
  readonly hasRun: boolean
}

/** Container states that Kubernetes cannot resolve, although it retries. */
const HOPELESS = [
  'ImagePullBackOff',
  'InvalidImageName',
  'ErrImageNeverPull',
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
]

function problemOf(pods: readonly Pod[]): PodProblem | undefined {
  for (const pod of pods)
    for (const container of containersOf(pod)) {
      const { reason = '', message } = container.state?.waiting ?? {}
      const hasRun = reason === 'CrashLoopBackOff'
      if (!hasRun && !HOPELESS.includes(reason)) continue
      const why = hasRun ? endOf(container) : `cannot be started: ${reason}${message ? `: ${message}` : ''}`
      const text = `The container "${container.name}" ${why}.`
      return { pod: pod.metadata.name, container: container.name, text, hasRun }
    }
  return undefined
}

function endOf({ lastState, restartCount = 0 }: V1ContainerStatus): string {
  const { exitCode, reason, message } = lastState?.terminated ?? {}
  const why = [reason, message].filter(Boolean).join(': ')
  return `keeps exiting (${restartCount} restarts), last with exit code ${exitCode ?? 'unknown'}${why && ` (${why})`}`
}

/** A container that is running but not ready, or has ended. */
function notReady(pods: readonly Pod[]): Omit<PodProblem, 'text'> | undefined {
  for (const pod of pods)
    for (const { name, ready, state } of containersOf(pod))
      if (!ready && (state?.running || state?.terminated))
        return { pod: pod.metadata.name, container: name, hasRun: true }
  return undefined
}

/** Why no node accepts a pod, in Kubernetes's words. */
function unschedulable(pods: readonly Pod[]): string | undefined {
  const conditions = pods.flatMap(({ status }) => status?.conditions ?? [])
  return conditions.find(
    ({ type, status, reason }) => type === 'PodScheduled' && status === 'False' && reason === 'Unschedulable',
  )?.message
}

export const containersOf = ({ status }: Pod): readonly V1ContainerStatus[] => [
  ...(status?.initContainerStatuses ?? []),
  ...(status?.containerStatuses ?? []),
]

/** Stops the servers of a workload, unless a later attempt has applied it again. It can be deployed again. */
export async function stopWorkload(
  api: KubernetesApi,
  workload: string,
  attempt: string | undefined,
): Promise<void> {
  for (;;) {
    const found = await api.find('Deployment', workload)
    if (!found || attemptOf(found) !== attempt) return
    // An autoscaler would start new ones.
    await api.remove('HorizontalPodAutoscaler', workload, 'Background')
    if (await api.stop(workload, found.metadata.resourceVersion)) return
  }
}

/** Stops what a lost process has left: all workloads except the given ones and the active one. */
export async function stopOthers(
  api: KubernetesApi,
  scope: Scope,
  named: readonly (string | undefined)[],
): Promise<void> {
  const kept = [...named, await servingWorkload(api, scope)]
  for (const found of await api.list('Deployment', scope.labels)) {
    const { name } = found.metadata
    if (!kept.includes(name) && found.spec?.replicas !== 0) await stopWorkload(api, name, attemptOf(found))
  }
}

/** Removes a deployment's stopped workloads except the newest ones. Their Secrets are removed with them. */
export async function removeOld(api: KubernetesApi, scope: Scope, keep: number): Promise<void> {
  const serving = await servingWorkload(api, scope)
  const stopped = (await api.list('Deployment', scope.labels))
    .filter(({ metadata, spec }) => spec?.replicas === 0 && metadata.name !== serving)
    .sort((a, b) => revisionOf(b) - revisionOf(a))
  // A workload that was started again meanwhile has another version.
  for (const { metadata } of stopped.slice(keep))
    await api.remove('Deployment', metadata.name, 'Background', metadata.resourceVersion)
}

/** Removes what a deploy attempt has applied, unless a later attempt has applied it again. */
export async function removeAttempt(api: KubernetesApi, workload: string, attempt: string): Promise<void> {
  for (const kind of ['HorizontalPodAutoscaler', 'Deployment', 'Secret'] as const)
    for (;;) {
      const found = await api.find(kind, workload)
      if (!found || attemptOf(found) !== attempt) break
      if (await api.remove(kind, workload, 'Background', found.metadata.resourceVersion)) break
    }
}

/** Removes all objects of a deployment, and waits until they no longer exist. */
export async function removeAll(
  api: KubernetesApi,
  labels: Scope['labels'],
  lookMs: number,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    let isGone = true
    for (const kind of ['Service', 'HorizontalPodAutoscaler', 'Deployment', 'Secret'] as const)
      for (const { metadata } of await api.list(kind, labels)) {
        isGone = false
        if (metadata.deletionTimestamp === undefined) await api.remove(kind, metadata.name, 'Foreground')
      }
    if (isGone) return
    await sleep(lookMs, signal)
  }
}

async function servingWorkload(api: KubernetesApi, { service }: Scope): Promise<string | undefined> {
  return (await api.find('Service', service))?.spec?.selector?.[WORKLOAD_LABEL]
}

const attemptOf = ({ metadata }: KubernetesObject): string | undefined =>
  metadata.annotations?.[ATTEMPT_ANNOTATION]

const revisionOf = ({ metadata }: KubernetesObject): number =>
  Number(metadata.annotations?.[REVISION_ANNOTATION] ?? 0)
