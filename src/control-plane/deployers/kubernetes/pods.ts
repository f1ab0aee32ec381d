import type { KubernetesObject } from './api.ts'

/** Why a server does not start, where that does not change by waiting. */
export interface PodProblem {
  readonly pod: string
  readonly container: string
  /** A sentence. */
  readonly text: string
  /** Whether the container has run, so that it has a log. */
  readonly hasRun: boolean
}

/** The parts of a pod's status that are read. */
interface PodStatus {
  readonly conditions?: readonly Condition[]
  readonly initContainerStatuses?: readonly ContainerStatus[]
  readonly containerStatuses?: readonly ContainerStatus[]
}

export interface Condition {
  readonly type: string
  readonly status: string
  readonly reason?: string
  readonly message?: string
}

export interface ContainerStatus {
  readonly name: string
  readonly ready?: boolean
  readonly restartCount?: number
  readonly state?: ContainerState
  readonly lastState?: ContainerState
}

interface ContainerState {
  readonly running?: object
  readonly waiting?: { readonly reason?: string; readonly message?: string }
  readonly terminated?: { readonly exitCode?: number; readonly reason?: string; readonly message?: string }
}

/** What Kubernetes reports of a container that it cannot start. It goes on trying, and nothing here makes that succeed. */
const HOPELESS = new Set([
  'ImagePullBackOff',
  'InvalidImageName',
  'ErrImageNeverPull',
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
])

export function problemOf(pods: readonly KubernetesObject[]): PodProblem | undefined {
  for (const pod of pods) {
    for (const container of containersOf(pod)) {
      const { reason, message } = container.state?.waiting ?? {}
      const found = { pod: pod.metadata.name, container: container.name }
      if (reason === 'CrashLoopBackOff')
        return { ...found, text: `The container "${container.name}" ${endOf(container)}.`, hasRun: true }
      if (reason !== undefined && HOPELESS.has(reason))
        return {
          ...found,
          text: `The container "${container.name}" cannot be started: ${reason}${message ? `: ${message}` : ''}.`,
          hasRun: false,
        }
    }
  }
  return undefined
}

function endOf({ lastState, restartCount = 0 }: ContainerStatus): string {
  const { exitCode, reason, message } = lastState?.terminated ?? {}
  const why = [reason, message].filter(Boolean).join(': ')
  return `ends again and again (${restartCount} restarts), last with the exit code ${exitCode ?? 'unknown'}${why && ` (${why})`}`
}

/** A container that runs and is not ready, or has ended. */
export function notReady(pods: readonly KubernetesObject[]): Omit<PodProblem, 'text'> | undefined {
  for (const pod of pods)
    for (const { name, ready, state } of containersOf(pod))
      if (!ready && (state?.running || state?.terminated))
        return { pod: pod.metadata.name, container: name, hasRun: true }
  return undefined
}

/** Why a pod has no place to run, as Kubernetes says it. */
export function unschedulable(pods: readonly KubernetesObject[]): string | undefined {
  for (const { status } of pods)
    for (const { type, status: holds, reason, message } of (status as PodStatus | undefined)?.conditions ??
      [])
      if (type === 'PodScheduled' && holds === 'False' && reason === 'Unschedulable') return message
  return undefined
}

export function containersOf({ status }: KubernetesObject): readonly ContainerStatus[] {
  const { initContainerStatuses = [], containerStatuses = [] } = (status ?? {}) as PodStatus
  return [...initContainerStatuses, ...containerStatuses]
}
