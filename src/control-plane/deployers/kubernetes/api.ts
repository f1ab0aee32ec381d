import type {
  V1Deployment,
  V1ObjectMeta,
  V1Pod,
  V1Secret,
  V1Service,
  V2HorizontalPodAutoscaler,
} from '@kubernetes/client-node'
import { backoff, sleep } from '../../../time.ts'
import { DeployError } from '../deployer.ts'
import type { KubernetesClient, KubernetesRequest } from './client.ts'

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

/** An object as the API server has it. */
export type KubernetesObject<K extends Kind = Kind> = Objects[K] & {
  readonly metadata: V1ObjectMeta & { readonly name: string }
}

export interface ApiTimes {
  /** How long the API server may take for one request, in milliseconds. Default 30,000. */
  readonly requestMs: number
  /** The first wait before a request is retried, in milliseconds; later ones are longer. Default 250. */
  readonly retryMs: number
  /** How long a request is retried that the API server cannot serve, in milliseconds. Default 60,000. */
  readonly retryForMs: number
}

interface Request extends Partial<Omit<KubernetesRequest, 'signal'>> {
  /** What the request does, for the message of an error, such as `apply the Service "a"`. */
  readonly what: string
  readonly namespace: string
  readonly path: string
  /** Statuses that are an answer, too. */
  readonly alsoOk?: readonly number[]
}

interface Answer {
  readonly status: number
  /** The body, if that is JSON. */
  readonly body: unknown
}

const FIELD_MANAGER = 'agentwire'

export type KubernetesApi = ReturnType<typeof createApi>

/**
 * The calls of the API that a deployer needs. Each is repeated for a while when the server is unavailable,
 * overloaded or reports a conflict: all of them may be. Rejects with a `DeployError` that says what failed,
 * and with the signal's reason when that aborts.
 */
export function createApi(client: KubernetesClient, signal: AbortSignal, times: ApiTimes) {
  async function send(request: Request): Promise<Answer> {
    const end = performance.now() + times.retryForMs
    for (let attempt = 0; ; attempt++) {
      const answer = await sendOnce(request)
      if ('status' in answer) return answer
      const wait = answer.retryAfterMs ?? backoff(attempt, times.retryMs, 5_000)
      if (performance.now() + wait > end)
        throw new DeployError(`Could not ${request.what}: ${answer.why}.`, { cause: answer.cause })
      await sleep(wait, signal)
    }
  }

  async function sendOnce(request: Request): Promise<Answer | Failure> {
    const { what, namespace, path, alsoOk = [], method = 'GET', headers, body: sent } = request
    let response: Response
    let text: string
    try {
      const limited = AbortSignal.any([signal, AbortSignal.timeout(times.requestMs)])
      response = await client(path, {
        method,
        ...(headers && { headers }),
        ...(sent !== undefined && { body: sent }),
        signal: limited,
      })
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

  return {
    /** Server-side apply: creates the object, or changes the fields that this field manager has set. */
    async apply<K extends Kind>(object: {
      readonly kind: K
      readonly metadata: { readonly name: string; readonly namespace: string }
    }): Promise<KubernetesObject<K>> {
      const { namespace, name } = object.metadata
      const query = { fieldManager: FIELD_MANAGER, force: 'true', fieldValidation: 'Strict' }
      const { body } = await send({
        what: `apply the ${object.kind} "${name}"`,
        namespace,
        path: `${pathOf(object.kind, namespace, name)}?${new URLSearchParams(query)}`,
        method: 'PATCH',
        // JSON is YAML, too.
        headers: { 'content-type': 'application/apply-patch+yaml' },
        body: JSON.stringify(object),
      })
      return body as KubernetesObject<K>
    },
    async find<K extends Kind>(
      kind: K,
      namespace: string,
      name: string,
    ): Promise<KubernetesObject<K> | undefined> {
      const path = pathOf(kind, namespace, name)
      const what = `read the ${kind} "${name}"`
      const { status, body } = await send({ what, namespace, path, alsoOk: [404] })
      return status === 404 ? undefined : (body as KubernetesObject<K>)
    },
    async list<K extends Kind>(
      kind: K,
      namespace: string,
      labels: Readonly<Record<string, string>>,
    ): Promise<readonly KubernetesObject<K>[]> {
      const pairs = Object.entries(labels).map(([key, value]) => `${key}=${value}`)
      const { body } = await send({
        what: `list what the deployment has of the kind ${kind}`,
        namespace,
        path: `${pathOf(kind, namespace)}?${new URLSearchParams({ labelSelector: pairs.join(',') })}`,
      })
      return (body as { items?: KubernetesObject<K>[] }).items ?? []
    },
    /**
     * Removes an object. Given a version, only that one: false if there is another. `Foreground`: the object
     * stays until all that belongs to it is gone.
     */
    async remove(
      kind: Kind,
      namespace: string,
      name: string,
      propagation: 'Foreground' | 'Background',
      resourceVersion?: string,
    ): Promise<boolean> {
      const { status } = await send({
        what: `remove the ${kind} "${name}"`,
        namespace,
        path: pathOf(kind, namespace, name),
        method: 'DELETE',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          apiVersion: 'v1',
          kind: 'DeleteOptions',
          propagationPolicy: propagation,
          ...(resourceVersion !== undefined && { preconditions: { resourceVersion } }),
        }),
        alsoOk: resourceVersion === undefined ? [404] : [404, 409],
      })
      return status !== 409
    },
    /** Scales a Deployment to no servers. False if it is not the given version any more, or is gone. */
    async stop(namespace: string, name: string, resourceVersion: string | undefined): Promise<boolean> {
      const query = new URLSearchParams({ fieldManager: FIELD_MANAGER })
      const { status } = await send({
        what: `stop the Deployment "${name}"`,
        namespace,
        path: `${pathOf('Deployment', namespace, name)}/scale?${query}`,
        method: 'PATCH',
        headers: { 'content-type': 'application/merge-patch+json' },
        body: JSON.stringify({ metadata: { resourceVersion }, spec: { replicas: 0 } }),
        alsoOk: [404, 409],
      })
      return status !== 404 && status !== 409
    },
    /** The log of a container. Undefined if it has none now. Not repeated. */
    async log(
      namespace: string,
      pod: string,
      query: Readonly<Record<string, string>>,
    ): Promise<Response | undefined> {
      const path = `${pathOf('Pod', namespace, pod)}/log?${new URLSearchParams(query)}`
      const response = await client(path, { method: 'GET', signal })
      if (response.ok) return response
      const { status } = response
      const text = await response.text()
      if (status === 400 || status === 404) return undefined
      const reason = reasonOf(status, namespace, parse(text))
      throw new DeployError(`Could not read the server's log: ${reason}`, { cause: unexpected(status, text) })
    },
  }
}

/** Why a request has to be sent again. */
interface Failure {
  readonly why: string
  readonly cause: unknown
  readonly retryAfterMs?: number | undefined
}

const pathOf = (kind: Kind, namespace: string, name?: string): string =>
  RESOURCES[kind].replace('{namespace}', namespace) + (name === undefined ? '' : `/${name}`)

const unexpected = (status: number, text: string): Error =>
  new Error(`The Kubernetes API answered ${status}: ${text.slice(0, 2_000)}`)

/** Undefined for a text that was cut off. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Kubernetes gives seconds. */
function retryAfterOf(response: Response): number | undefined {
  const header = response.headers.get('retry-after')
  return header !== null && /^\d{1,6}$/.test(header) ? Number(header) * 1_000 : undefined
}

/** The server's own message only if it is about what was applied: others name accounts of the cluster. */
function reasonOf(status: number, namespace: string, body: unknown): string {
  if (status === 401) return 'the Kubernetes API does not accept the credentials of the control plane.'
  if (status === 403) return `the control plane is not permitted to do so in the namespace "${namespace}".`
  if (status === 404) return `the namespace "${namespace}" or this kind of object is not there.`
  const message = (body as { message?: unknown } | null | undefined)?.message
  return typeof message === 'string' ? message.slice(0, 2_000) : `the Kubernetes API answered ${status}.`
}
