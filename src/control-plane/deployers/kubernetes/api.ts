import { backoff, sleep } from '../../../time.ts'
import { DeployError } from '../errors.ts'
import type { KubernetesClient, KubernetesRequest } from './client.ts'

/** The resources that are written or read, with where the API has them. */
const RESOURCES = {
  Deployment: '/apis/apps/v1/namespaces/{namespace}/deployments',
  HorizontalPodAutoscaler: '/apis/autoscaling/v2/namespaces/{namespace}/horizontalpodautoscalers',
  Pod: '/api/v1/namespaces/{namespace}/pods',
  Secret: '/api/v1/namespaces/{namespace}/secrets',
  Service: '/api/v1/namespaces/{namespace}/services',
} as const

export type Kind = keyof typeof RESOURCES

/** An object as the API has it. What is read of `spec` and `status` is checked where it is read. */
export interface KubernetesObject {
  readonly apiVersion?: string
  readonly kind?: string
  readonly metadata: {
    readonly name: string
    readonly namespace: string
    readonly uid?: string
    readonly resourceVersion?: string
    readonly generation?: number
    readonly deletionTimestamp?: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
  readonly spec?: Readonly<Record<string, unknown>>
  readonly status?: Readonly<Record<string, unknown>>
}

export interface ObjectToApply {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace: string }
}

export interface RemoveOptions {
  /** `Foreground`: it is there until all that belongs to it is gone. */
  readonly propagation: 'Foreground' | 'Background'
  /** Removes it only while it is this very version. */
  readonly resourceVersion?: string | undefined
}

export interface ApiTimes {
  /** The longest that one request may take, in milliseconds. */
  readonly requestMs: number
  /** The first wait before a request is tried again; later ones are longer. In milliseconds. */
  readonly retryMs: number
  /** How long a request is tried again that the API server cannot serve now, in milliseconds. */
  readonly retryForMs: number
}

/**
 * The calls of the API that a deployer needs. Each tries again for a while where the server is away, overloaded or reports a conflict:
 * all of them may be repeated. Rejects with a `DeployError` that says what failed, and with the signal's reason when that aborts.
 */
export interface KubernetesApi {
  /** Server-side apply: makes the object, or changes of it what this field manager has set. */
  apply(object: ObjectToApply): Promise<KubernetesObject>
  find(kind: Kind, namespace: string, name: string): Promise<KubernetesObject | undefined>
  list(kind: Kind, namespace: string, labels: Readonly<Record<string, string>>): Promise<KubernetesObject[]>
  /** False where it is not the given version any more. One that is not there counts as removed. */
  remove(kind: Kind, namespace: string, name: string, options: RemoveOptions): Promise<boolean>
  /** Has a Deployment have no servers. False where it is not the given version any more, or is not there. */
  stop(namespace: string, name: string, resourceVersion: string | undefined): Promise<boolean>
  /** The log of a container. Undefined where it has none now. Is not tried again. */
  log(namespace: string, pod: string, query: Readonly<Record<string, string>>): Promise<Response | undefined>
}

interface Sent {
  /** What the request does, for the message of an error, such as `apply the Service "a"`. */
  readonly what: string
  readonly namespace: string
  readonly path: string
  readonly request: Omit<KubernetesRequest, 'signal'>
  /** Statuses that are an answer, too. */
  readonly alsoOk?: readonly number[]
}

const FIELD_MANAGER = 'agentwire'

export function createApi(client: KubernetesClient, signal: AbortSignal, times: ApiTimes): KubernetesApi {
  /** Answers with the status, and with the body where that is an object. */
  async function send(sent: Sent): Promise<{ readonly status: number; readonly body: unknown }> {
    const end = performance.now() + times.retryForMs
    for (let attempt = 0; ; attempt++) {
      const answer = await attemptOnce(sent)
      if (answer.isFinal) return answer
      const wait = answer.retryAfterMs ?? backoff(attempt, times.retryMs, 5_000)
      if (performance.now() + wait > end)
        throw new DeployError(`Could not ${sent.what}: ${answer.why}.`, { cause: answer.cause })
      await sleep(wait, signal)
    }
  }

  async function attemptOnce({ what, namespace, path, request, alsoOk = [] }: Sent): Promise<Attempt> {
    let response: Response
    let text: string
    try {
      const limited = AbortSignal.any([signal, AbortSignal.timeout(times.requestMs)])
      response = await client(path, { ...request, signal: limited })
      text = await response.text()
    } catch (cause) {
      signal.throwIfAborted()
      return { isFinal: false, why: 'the Kubernetes API did not answer', cause }
    }
    const { status } = response
    const body = parse(text)
    if ((response.ok && body !== undefined) || alsoOk.includes(status)) return { isFinal: true, status, body }
    const cause = unexpected(status, text)
    if (response.ok || status === 409 || status === 429 || status >= 500)
      return {
        isFinal: false,
        why: `the Kubernetes API answered ${status}`,
        cause,
        retryAfterMs: retryAfterOf(response),
      }
    throw new DeployError(`Could not ${what}: ${reasonOf(status, namespace, body)}`, { cause })
  }

  const found = (body: unknown) => body as KubernetesObject

  return {
    async apply(object) {
      const { kind, metadata } = object
      const { namespace, name } = metadata
      const query = new URLSearchParams({
        fieldManager: FIELD_MANAGER,
        force: 'true',
        fieldValidation: 'Strict',
      })
      const { body } = await send({
        what: `apply the ${kind} "${name}"`,
        namespace,
        path: `${pathOf(kind as Kind, namespace, name)}?${query}`,
        // JSON is YAML, too.
        request: {
          method: 'PATCH',
          headers: { 'content-type': 'application/apply-patch+yaml' },
          body: JSON.stringify(object),
        },
      })
      return found(body)
    },
    async find(kind, namespace, name) {
      const { status, body } = await send({
        what: `read the ${kind} "${name}"`,
        namespace,
        path: pathOf(kind, namespace, name),
        request: { method: 'GET' },
        alsoOk: [404],
      })
      return status === 404 ? undefined : found(body)
    },
    async list(kind, namespace, labels) {
      const labelSelector = Object.entries(labels)
        .map(([key, value]) => `${key}=${value}`)
        .join(',')
      const { body } = await send({
        what: `list what the deployment has of the kind ${kind}`,
        namespace,
        path: `${pathOf(kind, namespace)}?${new URLSearchParams({ labelSelector })}`,
        request: { method: 'GET' },
      })
      return (body as { items?: KubernetesObject[] }).items ?? []
    },
    async remove(kind, namespace, name, { propagation, resourceVersion }) {
      const { status } = await send({
        what: `remove the ${kind} "${name}"`,
        namespace,
        path: pathOf(kind, namespace, name),
        request: {
          method: 'DELETE',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({
            apiVersion: 'v1',
            kind: 'DeleteOptions',
            propagationPolicy: propagation,
            ...(resourceVersion !== undefined && { preconditions: { resourceVersion } }),
          }),
        },
        alsoOk: resourceVersion === undefined ? [404] : [404, 409],
      })
      return status !== 409
    },
    async stop(namespace, name, resourceVersion) {
      const { status } = await send({
        what: `stop the Deployment "${name}"`,
        namespace,
        path: `${pathOf('Deployment', namespace, name)}/scale?${new URLSearchParams({ fieldManager: FIELD_MANAGER })}`,
        request: {
          method: 'PATCH',
          headers: { 'content-type': 'application/merge-patch+json' },
          body: JSON.stringify({ metadata: { resourceVersion }, spec: { replicas: 0 } }),
        },
        alsoOk: [404, 409],
      })
      return status !== 404 && status !== 409
    },
    async log(namespace, pod, query) {
      const response = await client(`${pathOf('Pod', namespace, pod)}/log?${new URLSearchParams(query)}`, {
        method: 'GET',
        signal,
      })
      if (response.ok) return response
      const text = await response.text()
      if (response.status === 400 || response.status === 404) return undefined
      const cause = unexpected(response.status, text)
      throw new DeployError(
        `Could not read the server's log: ${reasonOf(response.status, namespace, parse(text))}`,
        { cause },
      )
    },
  }
}

type Attempt =
  | { readonly isFinal: true; readonly status: number; readonly body: unknown }
  | {
      readonly isFinal: false
      readonly why: string
      readonly cause: unknown
      readonly retryAfterMs?: number | undefined
    }

const pathOf = (kind: Kind, namespace: string, name?: string): string =>
  RESOURCES[kind].replace('{namespace}', namespace) + (name === undefined ? '' : `/${name}`)

const unexpected = (status: number, text: string): Error =>
  new Error(`The Kubernetes API answered ${status}: ${text.slice(0, 2_000)}`)

/** Undefined for what was cut off on its way. */
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

/** The server's own words only where they are about what was applied: they name accounts of the cluster elsewhere. */
function reasonOf(status: number, namespace: string, body: unknown): string {
  if (status === 401) return 'the Kubernetes API does not accept the credentials of the control plane.'
  if (status === 403) return `the control plane is not permitted to do so in the namespace "${namespace}".`
  if (status === 404) return `the namespace "${namespace}" or this kind of object is not there.`
  const message = (body as { message?: unknown } | null | undefined)?.message
  return typeof message === 'string' ? message.slice(0, 2_000) : `the Kubernetes API answered ${status}.`
}
