import type { OptionTable } from '../../../options.ts'
import type { KubeConfigLike, KubernetesClient } from './client.ts'

/** Where and how deployments are run. */
export interface KubernetesDeployerOptions {
  /** The namespace of all deployments that name none. */
  readonly namespace: string
  /** Further namespaces that a deployment may name, as `source_config.listener_config.k8s_namespace`. Default: none. */
  readonly namespaces?: readonly string[] | undefined
  /**
   * A `KubeConfig` of `@kubernetes/client-node`, which says where the API server is and what authenticates to it. Default: that of
   * `KUBECONFIG`, of `~/.kube/config`, or of the cluster that this process runs in.
   */
  readonly kubeConfig?: KubeConfigLike | undefined
  /** Sends the requests to the API server instead. */
  readonly client?: KubernetesClient | undefined
  /** The port that the images listen on. They are told it as `PORT`, and answer `GET /ok` there with 200. Default 8000. */
  readonly port?: number | undefined
  /** Where a deployment is reached. Default: its Service within the cluster, `http://{name}.{namespace}.svc`. */
  readonly url?: ((service: DeployedService) => string) | undefined
  /**
   * Changes the pods (a `PodSpec`, as a plain object): node selectors, tolerations, security contexts, environment variables of all
   * deployments. The container of the agent is named `agent`.
   */
  readonly pod?:
    | ((
        pod: Readonly<Record<string, unknown>>,
        service: DeployedService,
      ) => Readonly<Record<string, unknown>>)
    | undefined
  /** What a `resource_spec` may ask for beyond its pod. Anything else of that kind is refused with 422. Default: nothing. */
  readonly allow?: PodAllowances | undefined
  /** How many stopped revisions of a deployment are kept, each as a Deployment without servers. Default 5. */
  readonly revisionHistory?: number | undefined
  /** Whether the log of the servers is written into the deployment's log, by the process that deployed them, while it lives. Default true. */
  readonly followLogs?: boolean | undefined
  readonly times?: Partial<KubernetesTimes> | undefined
}

/** What reaches out of the pods of a deployment, and is allowed all the same. */
export interface PodAllowances {
  /** Further types of volumes, such as `nfs` or `hostPath`. */
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
  /** How long Kubernetes may take to start the servers, in whole seconds, before the deploy fails. Default 600. */
  readonly progressDeadlineSeconds: number
  /** How long servers still run that serve no more, in milliseconds, until every node knows it. Default 5,000. */
  readonly drainMs: number
  /** The first wait between two looks at a rollout, in milliseconds. Default 500. */
  readonly lookMs: number
  /** The longest such wait, and how often new servers are looked for to read their logs. Default 5,000. */
  readonly mostLookMs: number
  /** How long the API server may take for one request, in milliseconds. Default 30,000. */
  readonly requestMs: number
  /** The first wait before a request is sent again, in milliseconds; later ones are longer. Default 250. */
  readonly retryMs: number
  /** How long a request is sent again that the API server cannot serve, in milliseconds. Default 60,000. */
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
