import type { V1Deployment, V1Secret, V1Service, V2HorizontalPodAutoscaler } from '@kubernetes/client-node'
import type { DeployContext } from '../deployer.ts'
import type { KubernetesObject } from './api.ts'
import {
  ATTEMPT_ANNOTATION,
  MANAGED_BY_LABEL,
  REVISION_ANNOTATION,
  type Scope,
  WORKLOAD_LABEL,
} from './names.ts'
import { AGENT_CONTAINER, type Given, type ResourceSpec } from './resource-spec.ts'

export interface Workload {
  readonly scope: Scope
  /** The name of all its objects. */
  readonly name: string
  readonly context: DeployContext
  readonly attempt: string
  readonly image: string
  readonly port: number
  readonly spec: ResourceSpec
  readonly progressDeadlineSeconds: number
  /** The changes that the deployer's options make. */
  readonly pod: (pod: Given) => Given
}

export const podLabels = (labels: Scope['labels'], workload: string): Readonly<Record<string, string>> => ({
  ...labels,
  [WORKLOAD_LABEL]: workload,
})

/** With its Deployment as owner, the Secret is removed together with it. */
export function secretOf(workload: Workload, deployment?: KubernetesObject<'Deployment'>) {
  return {
    apiVersion: 'v1',
    kind: 'Secret' as const,
    metadata: metadataOf(workload, deployment),
    type: 'Opaque',
    data: Object.fromEntries(
      Object.entries(workload.context.secrets).map(([name, value]) => [
        name,
        Buffer.from(value).toString('base64'),
      ]),
    ),
  } satisfies V1Secret
}

export function deploymentOf(workload: Workload) {
  const { scope, name, spec, progressDeadlineSeconds } = workload
  const metadata = metadataOf(workload)
  const labels = podLabels(scope.labels, name)
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment' as const,
    metadata: {
      ...metadata,
      labels: { ...spec.labels, ...metadata.labels },
      annotations: { ...spec.annotations, ...metadata.annotations },
    },
    spec: {
      replicas: spec.replicas,
      revisionHistoryLimit: 1,
      progressDeadlineSeconds,
      selector: { matchLabels: labels },
      template: {
        metadata: {
          labels: { ...spec.labels, ...labels, [MANAGED_BY_LABEL]: 'agentwire' },
          annotations: { ...spec.annotations },
        },
        spec: workload.pod(podOf(workload)) as { containers: [] },
      },
    },
  } satisfies V1Deployment
}

export function serviceOf(scope: Scope, workload: string) {
  return {
    apiVersion: 'v1',
    kind: 'Service' as const,
    metadata: {
      name: scope.service,
      namespace: scope.namespace,
      labels: { ...scope.labels, [MANAGED_BY_LABEL]: 'agentwire' },
    },
    spec: {
      type: 'ClusterIP',
      selector: { ...podLabels(scope.labels, workload) },
      ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 'http' }],
    },
  } satisfies V1Service
}

/** The target CPU utilization, in percent of the request. Above it, more servers are started. */
const TARGET_PERCENT = 75

/** Undefined if the number of servers is fixed. */
export function autoscalerOf(workload: Workload, deployment: KubernetesObject<'Deployment'>) {
  const { name, spec } = workload
  if (spec.maxReplicas === spec.replicas) return undefined
  // Without a CPU request, there is no utilization.
  const target = spec.requestsCpu
    ? { type: 'Utilization', averageUtilization: TARGET_PERCENT }
    : { type: 'AverageValue', averageValue: `${TARGET_PERCENT * 10}m` }
  return {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler' as const,
    metadata: metadataOf(workload, deployment),
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name },
      minReplicas: spec.replicas,
      maxReplicas: spec.maxReplicas,
      metrics: [
        { type: 'ContainerResource', containerResource: { name: 'cpu', container: AGENT_CONTAINER, target } },
      ],
    },
  } satisfies V2HorizontalPodAutoscaler
}

function metadataOf({ scope, name, context, attempt }: Workload, owner?: KubernetesObject) {
  return {
    name,
    namespace: scope.namespace,
    labels: { ...podLabels(scope.labels, name), [MANAGED_BY_LABEL]: 'agentwire' },
    annotations: { [REVISION_ANNOTATION]: String(context.revisionNumber), [ATTEMPT_ANNOTATION]: attempt },
    ...(owner?.metadata.uid && {
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'Deployment', name: owner.metadata.name, uid: owner.metadata.uid },
      ],
    }),
  }
}

function podOf(workload: Workload): Given {
  const { spec } = workload
  return {
    // An agent gets no cluster credentials, unless it has its own account.
    automountServiceAccountToken: spec.serviceAccountName !== undefined,
    // Otherwise the environment has the addresses of all services in the namespace.
    enableServiceLinks: false,
    ...(spec.serviceAccountName !== undefined && { serviceAccountName: spec.serviceAccountName }),
    ...(spec.imagePullSecrets.length > 0 && { imagePullSecrets: spec.imagePullSecrets }),
    ...(spec.volumes.length > 0 && { volumes: spec.volumes }),
    ...(spec.initContainers.length > 0 && { initContainers: spec.initContainers }),
    containers: [agentContainer(workload), ...spec.sidecars],
  }
}

function agentContainer({ name, image, port, spec, context }: Workload): Given {
  const probe = { httpGet: { path: '/ok', port: 'http' }, timeoutSeconds: 5 }
  return {
    name: AGENT_CONTAINER,
    image,
    ports: [{ name: 'http', protocol: 'TCP', containerPort: port }],
    envFrom: [{ secretRef: { name } }],
    env: [
      ...context.secretReferences.map(({ name, secret_name, secret_key }) => ({
        name,
        valueFrom: { secretKeyRef: { name: secret_name, key: secret_key } },
      })),
      { name: 'PORT', value: String(port) },
    ],
    resources: spec.resources,
    ...(spec.volumeMounts.length > 0 && { volumeMounts: spec.volumeMounts }),
    // The other two probes start after this one, so that a slow start is not a failure.
    startupProbe: { ...probe, periodSeconds: 2, failureThreshold: 150 },
    readinessProbe: { ...probe, periodSeconds: 5, failureThreshold: 3 },
    livenessProbe: { ...probe, periodSeconds: 10, failureThreshold: 6 },
  }
}
