import type { OptionTable } from '../../../options.ts'
import type { KubeConfigLike, KubernetesClient } from './client.ts'

/** Where and how deployments are run. */
export interface KubernetesDeployerOptions {
  /** The namespace of all deployments that name none. */
  readonly namespace: string
  /** Other namespaces that `source_config.listener_config.k8s_namespace` may name. Default: none. */
  readonly namespaces?: readonly string[] | undefined
  /**
   * A `KubeConfig` of `@kubernetes/client-node`, which knows the API server and the credentials for it.
   * Default: that of `KUBECONFIG`, of `~/.kube/config`, or of the cluster that this process runs in.
   */
  readonly kubeConfig?: KubeConfigLike | undefined
  /** Sends the requests to the API server instead. */
  readonly client?: KubernetesClient | undefined
  /** The port of the images, which they get as `PORT`. `GET /ok` answers 200 there. Default 8000. */
  readonly port?: number | undefined
  /** The URL of a deployment. Default: its Service in the cluster, `http://{name}.{namespace}.svc`. */
  readonly url?: ((service: DeployedService) => string) | undefined
  /**
   * Changes the pods (a `PodSpec`, as a plain object): node selectors, tolerations, security contexts,
   * environment variables of all deployments. The container of the agent is named `agent`.
   */
  readonly pod?:
    | ((
        pod: Readonly<Record<string, unknown>>,
        service: DeployedService,
      ) => Readonly<Record<string, unknown>>)
    | undefined
  /** What a `resource_spec` may ask for beyond its pod. The rest is refused with 422. Default: nothing. */
  readonly allow?: PodAllowances | undefined
  /** How many stopped revisions of a deployment are kept, as Deployments without servers. Default 5. */
  readonly revisionHistory?: number | undefined
  /** Whether the process that deploys copies the servers' log into the deployment's log. Default true. */
  readonly followLogs?: boolean | undefined
  readonly times?: Partial<KubernetesTimes> | undefined
}

/** What a deployment may use although it reaches beyond its pods. */
export interface PodAllowances {
  /** Types of volumes, such as `nfs` or `hostPath`. */
  readonly volumes?: readonly string[] | undefined
  /** Capabilities that init containers and sidecars may add, such as `SYS_PTRACE`. */
  readonly capabilities?: readonly string[] | undefined
  /** Any security context: privileged, with other profiles, or with escalation. Default: false. */
  readonly privileged?: boolean | undefined
  /** Ports of the node. Default: false. */
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
  /** How long replaced servers still run, in milliseconds, until every node knows it. Default 5,000. */
  readonly drainMs: number
  /** The first wait between two looks at a rollout, in milliseconds. Default 500. */
  readonly lookMs: number
  /** The longest such wait, and how often new servers are found to read their logs. Default 5,000. */
  readonly mostLookMs: number
  /** How long the API server may take for one request, in milliseconds. Default 30,000. */
  readonly requestMs: number
  /** The first wait before a request is retried, in milliseconds; later ones are longer. Default 250. */
  readonly retryMs: number
  /** How long a request is retried that the API server cannot serve, in milliseconds. Default 60,000. */
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
