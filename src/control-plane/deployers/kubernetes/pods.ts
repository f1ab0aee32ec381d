import type { V1ContainerStatus } from '@kubernetes/client-node'
import type { KubernetesObject } from './api.ts'

type Pod = KubernetesObject<'Pod'>

/** Why a server does not start, if waiting will not help. */
export interface PodProblem {
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

export function problemOf(pods: readonly Pod[]): PodProblem | undefined {
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
export function notReady(pods: readonly Pod[]): Omit<PodProblem, 'text'> | undefined {
  for (const pod of pods)
    for (const { name, ready, state } of containersOf(pod))
      if (!ready && (state?.running || state?.terminated))
        return { pod: pod.metadata.name, container: name, hasRun: true }
  return undefined
}

/** Why no node accepts a pod, in Kubernetes's words. */
export function unschedulable(pods: readonly Pod[]): string | undefined {
  const conditions = pods.flatMap(({ status }) => status?.conditions ?? [])
  return conditions.find(
    ({ type, status, reason }) => type === 'PodScheduled' && status === 'False' && reason === 'Unschedulable',
  )?.message
}

export const containersOf = ({ status }: Pod): readonly V1ContainerStatus[] => [
  ...(status?.initContainerStatuses ?? []),
  ...(status?.containerStatuses ?? []),
]
