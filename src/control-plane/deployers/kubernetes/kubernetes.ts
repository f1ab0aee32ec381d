import { randomUUID } from 'node:crypto'
import { checkOptions } from '../../../core/options.ts'
import { sleep } from '../../../core/time.ts'
import { type DeployContext, DeployError, type Deployer, type Running } from '../deployer.ts'
import { createApi, type KubernetesApi } from './api.ts'
import { clientOf, defaultClient } from './client.ts'
import { followLogs } from './follow-logs.ts'
import { labelsOf, type Scope, scopeOf, workloadName } from './names.ts'
import { autoscalerOf, deploymentOf, podLabels, secretOf, serviceOf, type Workload } from './objects.ts'
import {
  KUBERNETES_DEPLOYER_OPTIONS,
  type KubernetesDeployerOptions,
  type KubernetesTimes,
  TIMES,
} from './options.ts'
import { imageOf, namespaceOf, refusalOf, refusedOf } from './pod-security.ts'
import { readResourceSpec } from './resource-spec.ts'
import { removeAll, removeAttempt, removeOld, stopOthers, stopWorkload, waitForRollout } from './rollout.ts'

export type { DeployContext, Deployer, DeploymentContext } from '../deployer.ts'
export type { KubeConfigLike, KubernetesClient, KubernetesRequest } from './client.ts'
export type {
  DeployedService,
  KubernetesDeployerOptions,
  KubernetesTimes,
  PodAllowances,
} from './options.ts'
export { DeployError }

/** How long to try to remove what a failed deploy has left, in milliseconds. */
const CLEAN_UP_MS = 5_000

interface Handle {
  readonly namespace: string
  readonly workload: string
  readonly attempt: string
}

/**
 * Runs images on Kubernetes. A deployment has one Service; each of its revisions has a Secret and a
 * Deployment, and an autoscaler if `max_scale` is higher than `min_scale`. A new revision is rolled out, the
 * Service is switched to it, and the old Deployment is kept without servers. Needs `@kubernetes/client-node`
 * 1 or 2, unless you pass a `client`.
 */
export function kubernetesDeployer(options: KubernetesDeployerOptions): Deployer {
  checkOptions('kubernetesDeployer', options, KUBERNETES_DEPLOYER_OPTIONS)
  const client = options.client ?? (options.kubeConfig ? clientOf(options.kubeConfig) : defaultClient())
  const times = { ...TIMES, ...options.times }
  const { revisionHistory = 5, followLogs: doesFollow = true } = options
  const cluster: Cluster = {
    options,
    times,
    apiFor: (namespace, signal) => createApi(client, namespace, signal, times),
    followers: new Map(),
  }
  const { apiFor, followers } = cluster
  return {
    refuses: (request) => refusalOf(request, options),
    // A redeploy reuses this result, and so finds the workload that was kept.
    prepare: async (context) => ({ prepared: { workload: workloadName(context) } }),
    deploy: (context) => deploy(cluster, context),
    async promote(context, running) {
      const handle = handleOf(running)!
      const previous = handleOf(context.previous)
      try {
        await select(cluster, context, handle, context.signal)
      } catch (error) {
        // The Service may have been switched after all, and the new servers will be stopped. This error is
        // the one to report.
        if (previous && !context.signal.aborted)
          await select(cluster, context, previous, AbortSignal.timeout(CLEAN_UP_MS)).catch(() => {})
        throw error
      }
      if (doesFollow) await follow(cluster, context, handle)
      return running
    },
    async stop(running, context) {
      const handle = handleOf(running)
      if (!handle) return
      const { namespace, workload, attempt } = handle
      const api = apiFor(namespace, context.signal)
      await sleep(times.drainMs, context.signal)
      await stopWorkload(api, workload, attempt)
      await removeOld(api, scopeOf(context, namespace), revisionHistory)
    },
    async destroy(context) {
      const { signal } = context
      for (const namespace of new Set([options.namespace, ...(options.namespaces ?? [])]))
        await removeAll(apiFor(namespace, signal), labelsOf(context), times.lookMs, signal)
    },
    async close() {
      await Promise.all([...followers.keys()].map((workload) => endFollower(cluster, workload)))
    },
  }
}

interface Cluster {
  readonly options: KubernetesDeployerOptions
  readonly times: KubernetesTimes
  readonly apiFor: (namespace: string, signal: AbortSignal) => KubernetesApi
  /** The log followers, by workload. */
  readonly followers: Map<string, { readonly end: AbortController; readonly ended: Promise<void> }>
}

async function deploy(cluster: Cluster, context: DeployContext): Promise<Running> {
  const { options, times, apiFor } = cluster
  const { signal, log, previous } = context
  const scope = scopeOf(context, namespaceOf(context, options))
  const workload = workloadOf(cluster, context, scope)
  const { name, spec, attempt } = workload
  // An earlier version of this deployer, or other options, may have accepted it.
  const [refused] = refusedOf(spec, options.allow)
  if (refused) throw new DeployError(`${refused.path.join('.')}: ${refused.message}`)
  const api = apiFor(scope.namespace, signal)
  if (spec.ignored.length > 0)
    log(`resource_spec has members that have no effect here: ${spec.ignored.join(', ')}.`, 'WARNING')
  log(`Rolling out the Deployment "${name}" in the namespace "${scope.namespace}".`)
  try {
    await api.apply(secretOf(workload))
    const deployment = await api.apply(deploymentOf(workload))
    await api.apply(secretOf(workload, deployment))
    await waitForRollout({ api, scope, workload: name, context, times })
    const autoscaler = autoscalerOf(workload, deployment)
    if (autoscaler) await api.apply(autoscaler)
    await stopOthers(api, scope, [name, handleOf(previous)?.workload])
  } catch (error) {
    await cleanUp(cluster, context, workload)
    throw error
  }
  const url =
    options.url?.(deployedService(scope, context)) ?? `http://${scope.service}.${scope.namespace}.svc`
  return { url, handle: { namespace: scope.namespace, workload: name, attempt } }
}

const workloadOf = ({ options, times }: Cluster, context: DeployContext, scope: Scope): Workload => ({
  scope,
  name: workloadToDeploy(context),
  context,
  attempt: randomUUID(),
  image: imageOf(context),
  port: options.port ?? 8000,
  spec: readResourceSpec(context.sourceConfig.resource_spec),
  progressDeadlineSeconds: times.progressDeadlineSeconds,
  pod: (pod) => options.pod?.(pod, deployedService(scope, context)) ?? pod,
})

/** Has its own signal, because the phase's may have aborted. */
async function cleanUp(
  { apiFor }: Cluster,
  { log }: DeployContext,
  { scope, name, attempt }: Workload,
): Promise<void> {
  try {
    await removeAttempt(apiFor(scope.namespace, AbortSignal.timeout(CLEAN_UP_MS)), name, attempt)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    log(`The started server could not be removed; the next deploy stops it. ${why}`, 'WARNING')
  }
}

/** Routes requests to a workload's servers. */
async function select(
  { apiFor }: Cluster,
  context: DeployContext,
  { namespace, workload }: Handle,
  signal: AbortSignal,
): Promise<void> {
  await apiFor(namespace, signal).apply(serviceOf(scopeOf(context, namespace), workload))
}

async function follow(
  cluster: Cluster,
  context: DeployContext,
  { namespace, workload }: Handle,
): Promise<void> {
  const { apiFor, times, followers } = cluster
  await endFollower(cluster, workload)
  const end = new AbortController()
  const ended = followLogs({
    api: apiFor(namespace, end.signal),
    workload,
    labels: podLabels(labelsOf(context), workload),
    log: context.log,
    signal: end.signal,
    lookMs: times.mostLookMs,
  })
  followers.set(workload, { end, ended })
  void ended.then(() => {
    if (followers.get(workload)?.end === end) followers.delete(workload)
  })
}

async function endFollower({ followers }: Cluster, workload: string): Promise<void> {
  const follower = followers.get(workload)
  follower?.end.abort()
  await follower?.ended
}

const deployedService = (scope: Scope, { deploymentId, name }: DeployContext) => ({
  name: scope.service,
  namespace: scope.namespace,
  deploymentId,
  deploymentName: name,
})

/** The kept workload of the revision that is redeployed, unless it is the active one. */
function workloadToDeploy(context: DeployContext): string {
  const kept = (context.artifact as { workload?: unknown } | null)?.workload
  const isFree = typeof kept === 'string' && kept !== handleOf(context.previous)?.workload
  return isFree ? kept : workloadName(context)
}

/** Undefined if another deployer has started it. */
function handleOf(running: Running | undefined): Handle | undefined {
  const { namespace, workload, attempt } = (running?.handle ?? {}) as Partial<Record<string, unknown>>
  return typeof namespace === 'string' && typeof workload === 'string' && typeof attempt === 'string'
    ? { namespace, workload, attempt }
    : undefined
}
