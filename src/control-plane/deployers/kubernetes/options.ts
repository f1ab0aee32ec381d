import type { OptionTable } from '../../../core/options.ts'
import type { KubeConfigLike, KubernetesClient } from './client.ts'

/** Where and how deployments run. */
export interface KubernetesDeployerOptions {
  /** The namespace of deployments that name none. */
  readonly namespace: string
  /** Other namespaces that `source_config.listener_config.k8s_namespace` may name. Default: none. */
  readonly namespaces?: readonly string[] | undefined
  /**
   * A `KubeConfig` from `@kubernetes/client-node`, which has the API server and its credentials. Default:
   * that of `KUBECONFIG`, of `~/.kube/config`, or of the cluster that this process runs in.
   */
  readonly kubeConfig?: KubeConfigLike | undefined
  /** Sends the requests to the API server. Use it instead of `kubeConfig`. */
  readonly client?: KubernetesClient | undefined
  /**
   * The port that images listen on. They receive it as `PORT`, and must respond to `GET /ok` with 200.
   * Default 8000.
   */
  readonly port?: number | undefined
  /** The URL of a deployment. Default: its Service in the cluster, `http://{name}.{namespace}.svc`. */
  readonly url?: ((service: DeployedService) => string) | undefined
  /**
   * Changes the pods (a `PodSpec`, as a plain object): node selectors, tolerations, security contexts,
   * environment variables for all deployments. The agent's container is named `agent`.
   */
  readonly pod?:
    | ((
        pod: Readonly<Record<string, unknown>>,
        service: DeployedService,
      ) => Readonly<Record<string, unknown>>)
    | undefined
  /**
   * What a `resource_spec` may request beyond its pod. Anything else is rejected with 422. Default: nothing.
   */
  readonly allow?: PodAllowances | undefined
  /**
   * The number of stopped revisions to keep for each deployment, as Deployments without servers. Default 5.
   */
  readonly revisionHistory?: number | undefined
  /** Whether the process that deploys copies the servers' log to the deployment's log. Default true. */
  readonly followLogs?: boolean | undefined
  readonly times?: Partial<KubernetesTimes> | undefined
}

/** What a deployment may use although it reaches beyond its pods. */
export interface PodAllowances {
  /** Types of volumes, such as `nfs` or `hostPath`. */
  readonly volumes?: readonly string[] | undefined
  /** Capabilities that init containers and sidecars may add, such as `SYS_PTRACE`. */
  readonly capabilities?: readonly string[] | undefined
  /** Any security context: privileged, with other profiles, or with privilege escalation. Default: false. */
  readonly privileged?: boolean | undefined
  /** Ports on the node. Default: false. */
  readonly hostPorts?: boolean | undefined
  /** Service accounts that a deployment may name. Their tokens are mounted. */
  readonly serviceAccounts?: readonly string[] | undefined
}

export const KUBERNETES_DEPLOYER_OPTIONS: OptionTable<KubernetesDeployerOptions> = {
  namespace: ['required', 'string'],
  namespaces: 'list',
  kubeConfig: 'object',
  client: 'function',
  port: 'number',
  url: 'function',
  pod: 'function',
  allow: {
    volumes: 'list',
    capabilities: 'list',
    privileged: 'boolean',
    hostPorts: 'boolean',
    serviceAccounts: 'list',
  } satisfies OptionTable<PodAllowances>,
  revisionHistory: 'number',
  followLogs: 'boolean',
  times: {
    progressDeadlineSeconds: 'number',
    drainMs: 'number',
    lookMs: 'number',
    mostLookMs: 'number',
    requestMs: 'number',
    retryMs: 'number',
    retryForMs: 'number',
  } satisfies OptionTable<KubernetesTimes>,
}

/** The Service of a deployment. */
export interface DeployedService {
  readonly name: string
  readonly namespace: string
  readonly deploymentId: string
  readonly deploymentName: string
}

export interface KubernetesTimes {
  /** How long Kubernetes may take to start the servers, in whole seconds. Default 600. */
  readonly progressDeadlineSeconds: number
  /**
   * How long replaced servers keep running until every node knows about it, in milliseconds. Default 5,000.
   */
  readonly drainMs: number
  /** The first interval between two checks of a rollout, in milliseconds. Default 500. */
  readonly lookMs: number
  /**
   * The longest such interval, and how often to look for new servers to follow, in milliseconds. Default
   * 5,000.
   */
  readonly mostLookMs: number
  /** The timeout of one request to the API server, in milliseconds. Default 30,000. */
  readonly requestMs: number
  /** The first delay before a request is retried, in milliseconds; later ones are longer. Default 250. */
  readonly retryMs: number
  /** How long to retry a request that the API server cannot serve, in milliseconds. Default 60,000. */
  readonly retryForMs: number
}

export const TIMES: KubernetesTimes = {
  progressDeadlineSeconds: 600,
  drainMs: 5_000,
  lookMs: 500,
  mostLookMs: 5_000,
  requestMs: 30_000,
  retryMs: 250,
  retryForMs: 60_000,
}
