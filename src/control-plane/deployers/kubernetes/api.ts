import type {
  V1Deployment,
  V1ObjectMeta,
  V1Pod,
  V1Secret,
  V1Service,
  V2HorizontalPodAutoscaler,
} from '@kubernetes/client-node'
import { backoff, sleep } from '../../../core/time.ts'
import { DeployError } from '../deployer.ts'
import type { KubernetesClient, KubernetesRequest } from './client.ts'
import type { KubernetesTimes } from './options.ts'

const RESOURCES = {
  Deployment: '/apis/apps/v1/namespaces/{namespace}/deployments',
  HorizontalPodAutoscaler: '/apis/autoscaling/v2/namespaces/{namespace}/horizontalpodautoscalers',
  Pod: '/api/v1/namespaces/{namespace}/pods',
  Secret: '/api/v1/namespaces/{namespace}/secrets',
  Service: '/api/v1/namespaces/{namespace}/services',
} as const

export type Kind = keyof typeof RESOURCES

interface Objects {
  readonly Deployment: V1Deployment
  readonly HorizontalPodAutoscaler: V2HorizontalPodAutoscaler
  readonly Pod: V1Pod
  readonly Secret: V1Secret
  readonly Service: V1Service
}

/** An object as the API server returns it. */
export type KubernetesObject<K extends Kind = Kind> = Objects[K] & {
  readonly metadata: V1ObjectMeta & { readonly name: string }
}

interface Answer {
  readonly status: number
  /** The body, if it is JSON. */
  readonly body: unknown
}

/** Why a request must be repeated. */
interface Failure {
  readonly why: string
  readonly cause: unknown
  readonly retryAfterMs?: number | undefined
}

const FIELD_MANAGER = 'agentwire'

export type KubernetesApi = ReturnType<typeof createApi>

/**
 * The API calls in one namespace that a deployer needs. Each is retried for a while if the server is
 * unavailable, overloaded or reports a conflict; all of them are safe to retry. Rejects with a `DeployError`
 * that says what failed, and with the signal's reason if it aborts.
 */
export function createApi(
  client: KubernetesClient,
  namespace: string,
  signal: AbortSignal,
  times: KubernetesTimes,
) {
  const connection = { client, namespace, signal, times }
  return {
    /** Server-side apply: creates the object, or changes the fields that this field manager has set. */
    async apply<K extends Kind>(object: {
      readonly kind: K
      readonly metadata: { readonly name: string }
    }): Promise<KubernetesObject<K>> {
      const { kind, metadata } = object
      const query = { fieldManager: FIELD_MANAGER, force: 'true', fieldValidation: 'Strict' }
      const path = `${pathOf(connection, kind, metadata.name)}?${new URLSearchParams(query)}`
      // JSON is also YAML.
      const request = patch('application/apply-patch+yaml', object)
      const { body } = await send(connection, `apply the ${kind} "${metadata.name}"`, path, request)
      return body as KubernetesObject<K>
    },
    async find<K extends Kind>(kind: K, name: string): Promise<KubernetesObject<K> | undefined> {
      const what = `read the ${kind} "${name}"`
      const { status, body } = await send(connection, what, pathOf(connection, kind, name), undefined, [404])
      return status === 404 ? undefined : (body as KubernetesObject<K>)
    },
    async list<K extends Kind>(
      kind: K,
      labels: Readonly<Record<string, string>>,
    ): Promise<readonly KubernetesObject<K>[]> {
      const pairs = Object.entries(labels).map(([key, value]) => `${key}=${value}`)
      const path = `${pathOf(connection, kind)}?${new URLSearchParams({ labelSelector: pairs.join(',') })}`
      const { body } = await send(connection, `list the deployment's objects of kind ${kind}`, path)
      return (body as { items?: KubernetesObject<K>[] }).items ?? []
    },
    /**
     * Removes an object. With a version, removes only that version, and returns false if there is another.
     * `Foreground`: the object stays until all its dependents are removed.
     */
    remove: (
      kind: Kind,
      name: string,
      propagationPolicy: 'Foreground' | 'Background',
      resourceVersion?: string,
    ): Promise<boolean> => remove(connection, kind, name, { propagationPolicy, resourceVersion }),
    /** Scales a Deployment to zero servers. False if it has another version or does not exist. */
    async stop(name: string, resourceVersion: string | undefined): Promise<boolean> {
      const query = new URLSearchParams({ fieldManager: FIELD_MANAGER })
      const path = `${pathOf(connection, 'Deployment', name)}/scale?${query}`
      const scale = { metadata: { resourceVersion }, spec: { replicas: 0 } }
      const request = patch('application/merge-patch+json', scale)
      const { status } = await send(connection, `stop the Deployment "${name}"`, path, request, [404, 409])
      return status !== 404 && status !== 409
    },
    /** A container's log. Undefined if it has none now. Not retried. */
    log: (pod: string, query: Readonly<Record<string, string>>): Promise<Response | undefined> =>
      readLog(connection, `${pathOf(connection, 'Pod', pod)}/log?${new URLSearchParams(query)}`),
  }
}

interface Connection {
  readonly client: KubernetesClient
  readonly namespace: string
  readonly signal: AbortSignal
  readonly times: KubernetesTimes
}

const pathOf = ({ namespace }: Connection, kind: Kind, name?: string): string =>
  RESOURCES[kind].replace('{namespace}', namespace) + (name === undefined ? '' : `/${name}`)

/** `what` describes the request in errors. Statuses in `alsoOk` are not errors. */
async function send(
  connection: Connection,
  what: string,
  path: string,
  request: Omit<KubernetesRequest, 'signal'> = { method: 'GET' },
  alsoOk: readonly number[] = [],
): Promise<Answer> {
  const { signal, times } = connection
  const end = performance.now() + times.retryForMs
  for (let attempt = 0; ; attempt++) {
    const answer = await sendOnce(connection, what, path, request, alsoOk)
    if ('status' in answer) return answer
    const wait = answer.retryAfterMs ?? backoff(attempt, times.retryMs, 5_000)
    if (performance.now() + wait > end)
      throw new DeployError(`Could not ${what}: ${answer.why}.`, { cause: answer.cause })
    await sleep(wait, signal)
  }
}

async function sendOnce(
  { client, namespace, signal, times }: Connection,
  what: string,
  path: string,
  request: Omit<KubernetesRequest, 'signal'>,
  alsoOk: readonly number[],
): Promise<Answer | Failure> {
  let response: Response
  let text: string
  try {
    const limited = AbortSignal.any([signal, AbortSignal.timeout(times.requestMs)])
    response = await client(path, { ...request, signal: limited })
    text = await response.text()
  } catch (cause) {
    signal.throwIfAborted()
    return { why: 'the Kubernetes API did not answer', cause }
  }
  const { status } = response
  const body = parse(text)
  if ((response.ok && body !== undefined) || alsoOk.includes(status)) return { status, body }
  const cause = unexpected(status, text)
  if (response.ok || status === 409 || status === 429 || status >= 500)
    return { why: `the Kubernetes API answered ${status}`, cause, retryAfterMs: retryAfterOf(response) }
  throw new DeployError(`Could not ${what}: ${reasonOf(status, namespace, body)}`, { cause })
}

async function remove(
  connection: Connection,
  kind: Kind,
  name: string,
  { propagationPolicy, resourceVersion }: { propagationPolicy: string; resourceVersion: string | undefined },
): Promise<boolean> {
  const isAny = resourceVersion === undefined
  const preconditions = isAny ? undefined : { resourceVersion }
  const options = { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy, preconditions }
  const headers = { 'content-type': 'application/json' }
  const request = { method: 'DELETE', headers, body: JSON.stringify(options) } as const
  const path = pathOf(connection, kind, name)
  const alsoOk = isAny ? [404] : [404, 409]
  const { status } = await send(connection, `remove the ${kind} "${name}"`, path, request, alsoOk)
  return status !== 409
}

async function readLog(
  { client, namespace, signal }: Connection,
  path: string,
): Promise<Response | undefined> {
  const response = await client(path, { method: 'GET', signal })
  if (response.ok) return response
  const { status } = response
  const text = await response.text()
  if (status === 400 || status === 404) return undefined
  const reason = reasonOf(status, namespace, parse(text))
  throw new DeployError(`Could not read the server's log: ${reason}`, { cause: unexpected(status, text) })
}

const patch = (type: string, body: object) =>
  ({ method: 'PATCH', headers: { 'content-type': type }, body: JSON.stringify(body) }) as const

const unexpected = (status: number, text: string): Error =>
  new Error(`The Kubernetes API answered ${status}: ${text.slice(0, 2_000)}`)

/** Undefined for truncated text. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** In milliseconds. Kubernetes sends seconds. */
function retryAfterOf(response: Response): number | undefined {
  const header = response.headers.get('retry-after')
  return header !== null && /^\d{1,6}$/.test(header) ? Number(header) * 1_000 : undefined
}

/** The server's own message only if it concerns what was applied. Other messages name cluster accounts. */
function reasonOf(status: number, namespace: string, body: unknown): string {
  if (status === 401) return 'the Kubernetes API does not accept the credentials of the control plane.'
  if (status === 403)
    return `the control plane does not have permission for this in the namespace "${namespace}".`
  if (status === 404) return `the namespace "${namespace}" or this kind of object does not exist.`
  const message = (body as { message?: unknown } | null | undefined)?.message
  return typeof message === 'string' ? message.slice(0, 2_000) : `the Kubernetes API answered ${status}.`
}
