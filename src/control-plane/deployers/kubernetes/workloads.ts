import { sleep } from '../../../core/time.ts'
import type { KubernetesApi, KubernetesObject } from './api.ts'
import { ATTEMPT_ANNOTATION, REVISION_ANNOTATION, type Scope, WORKLOAD_LABEL } from './names.ts'

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
