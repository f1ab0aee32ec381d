import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { afterEach } from 'vitest'
import { openServer } from '../../../kit/listen.ts'
import { type Cluster, createCluster, type Kept, Refused } from './cluster.ts'

/** A request as it came. */
export interface Recorded {
  readonly method: string
  readonly path: string
  readonly kind: string
  readonly name: string | undefined
  readonly query: URLSearchParams
  readonly contentType: string | undefined
  readonly authorization: string | undefined
  readonly body: string
}

/** What is done to a request instead of serving it. */
export type Fault =
  | { readonly status: number; readonly headers?: Record<string, string>; readonly message?: string }
  | 'cut'
  | 'hang'
  | 'half'

export interface FakeApi {
  readonly origin: string
  readonly cluster: Cluster
  readonly requests: Recorded[]
  /** Asked for each request; undefined serves it. */
  fault: (request: Recorded) => Fault | undefined
  /** Called after a request was carried out, before its answer is sent. */
  afterServed: (request: Recorded) => void
  /** How many logs are being read. */
  followed(): number
  /** Breaks them all. */
  cutLogs(): void
}

const KINDS: Readonly<Record<string, string>> = {
  deployments: 'Deployment',
  horizontalpodautoscalers: 'HorizontalPodAutoscaler',
  pods: 'Pod',
  secrets: 'Secret',
  services: 'Service',
}
const PATH =
  /^\/(?:api|apis)\/(v1|apps\/v1|autoscaling\/v2)\/namespaces\/([^/]+)\/([a-z]+)(?:\/([^/]+))?(?:\/(log|scale))?$/

export interface FakeOptions {
  readonly startMs?: number
  /** Speaks TLS. */
  readonly tls?: { readonly key: string; readonly cert: string }
}

/** API servers on 127.0.0.1 that end with the test. Each records, validates, and plays a cluster. */
export function fakeApis(): (options?: FakeOptions) => Promise<FakeApi> {
  const closing: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const close of closing.splice(0)) await close()
  })
  return async ({ startMs, tls } = {}) => {
    const cluster = createCluster(startMs)
    const followed = new Set<ServerResponse>()
    const requests: Recorded[] = []
    const onRequest: RequestListener = async (incoming, outgoing) => {
      const recorded = await record(incoming)
      requests.push(recorded)
      const fault = api.fault(recorded)
      if (fault) return play(fault, outgoing)
      try {
        if (recorded.path.endsWith('/log')) return sendLog(cluster, recorded, outgoing, followed)
        const answer = serve(cluster, recorded)
        api.afterServed(recorded)
        send(outgoing, 200, answer)
      } catch (error) {
        const status = error instanceof Refused ? error.status : 500
        send(outgoing, status, { kind: 'Status', message: String((error as Error).message) })
      }
    }
    const server = tls ? createTlsServer(tls, onRequest) : createServer(onRequest)
    const { origin, close } = await openServer(server)
    const api: FakeApi = {
      origin: tls ? origin.replace('http:', 'https:') : origin,
      cluster,
      requests,
      fault: () => undefined,
      afterServed: () => {},
      followed: () => followed.size,
      cutLogs() {
        for (const outgoing of followed) outgoing.destroy()
      },
    }
    closing.push(() => {
      server.closeAllConnections()
      return close()
    })
    return api
  }
}

async function record(incoming: IncomingMessage): Promise<Recorded> {
  let body = ''
  for await (const piece of incoming.setEncoding('utf8')) body += piece
  const url = new URL(incoming.url!, 'http://kubernetes')
  const [, , , plural, name] = PATH.exec(url.pathname) ?? []
  return {
    method: incoming.method!,
    path: url.pathname,
    kind: KINDS[plural ?? ''] ?? '',
    name,
    query: url.searchParams,
    contentType: incoming.headers['content-type'],
    authorization: incoming.headers.authorization,
    body,
  }
}

function play(fault: Fault, outgoing: ServerResponse): void {
  if (fault === 'cut') outgoing.destroy()
  else if (fault === 'half') {
    outgoing.writeHead(200, { 'content-type': 'application/json', 'content-length': 1_000 })
    outgoing.write('{"kind":')
    setTimeout(() => outgoing.destroy(), 5)
  } else if (fault !== 'hang') {
    outgoing.writeHead(fault.status, { 'content-type': 'application/json', ...fault.headers })
    outgoing.end(JSON.stringify({ kind: 'Status', message: fault.message ?? 'played' }))
  }
}

/** What the API server answers, or throws `Refused`. A request that the deployer must not send is an error. */
function serve(cluster: Cluster, { method, path, query, contentType, body, kind, name }: Recorded): unknown {
  const [, , namespace, , , sub] = PATH.exec(path) ?? []
  if (!namespace || !kind) throw new Refused(400, `Nothing is at ${path}.`)
  if (namespace === 'absent') throw new Refused(404, 'namespaces "absent" not found')
  if (method === 'GET' && name === undefined)
    return { kind: 'List', items: cluster.all(kind, namespace).filter((each) => isSelected(each, query)) }
  if (method === 'GET') {
    const found = cluster.get(kind, namespace, name!)
    if (!found) throw new Refused(404, `${kind} "${name}" not found`)
    return found
  }
  if (method === 'PATCH' && sub === 'scale') {
    if (contentType !== 'application/merge-patch+json') throw new Refused(415, `${contentType}`)
    const { metadata, spec, ...rest } = JSON.parse(body)
    if (Object.keys(rest).length > 0 || !Number.isInteger(spec.replicas)) throw new Refused(422, body)
    cluster.scale(namespace, name!, spec.replicas, metadata?.resourceVersion)
    return { kind: 'Scale' }
  }
  if (method === 'PATCH') {
    if (contentType !== 'application/apply-patch+yaml') throw new Refused(415, `${contentType}`)
    const asked = ['fieldManager', 'force', 'fieldValidation'].map((key) => query.get(key))
    if (asked.join() !== 'agentwire,true,Strict') throw new Refused(400, `${query}`)
    const object: Kept = JSON.parse(body)
    const { metadata } = object
    if (object.kind !== kind || metadata.name !== name || metadata.namespace !== namespace)
      throw new Refused(400, 'The object is another one than the path names.')
    return cluster.apply(object)
  }
  if (method === 'DELETE') {
    const { propagationPolicy, preconditions } = JSON.parse(body)
    if (!['Foreground', 'Background'].includes(propagationPolicy)) throw new Refused(422, body)
    cluster.remove(kind, namespace, name!, propagationPolicy, preconditions?.resourceVersion)
    return { kind: 'Status', status: 'Success' }
  }
  throw new Refused(405, `${method} ${path}`)
}

const isSelected = ({ metadata }: Kept, query: URLSearchParams): boolean =>
  (query.get('labelSelector') ?? '')
    .split(',')
    .filter(Boolean)
    .every((pair) => metadata.labels?.[pair.split('=')[0]!] === pair.split('=')[1])

/** Also follows, until the pod is gone. */
function sendLog(
  cluster: Cluster,
  { path, query }: Recorded,
  outgoing: ServerResponse,
  followed: Set<ServerResponse>,
): void {
  const [, , namespace, , name] = PATH.exec(path)!
  const pod = cluster.get('Pod', namespace!, name!)
  if (!pod) throw new Refused(404, 'not found')
  if (pod.spec.containers.every((container: { name: string }) => container.name !== query.get('container')))
    throw new Refused(400, 'no such container')
  // Only whole seconds of it are read.
  const since = query.get('sinceTime')?.slice(0, 19) ?? ''
  const shown = () => {
    const said = cluster.saidOf(pod).filter((line) => line.slice(0, 19) >= since)
    const tail = said.slice(query.has('tailLines') ? -Number(query.get('tailLines')) : 0)
    return query.get('timestamps') === 'true' ? tail : tail.map((line) => line.slice(line.indexOf(' ') + 1))
  }
  outgoing.writeHead(200, { 'content-type': 'text/plain' })
  outgoing.flushHeaders()
  let sent = 0
  const write = () => {
    for (const line of shown().slice(sent)) outgoing.write(`${line}\n`)
    sent = shown().length
    const isOver = query.get('follow') !== 'true' || !cluster.get('Pod', namespace!, name!)
    if (isOver) outgoing.end()
  }
  followed.add(outgoing)
  const unsubscribe = cluster.onChange(write)
  outgoing.on('close', () => {
    unsubscribe()
    followed.delete(outgoing)
  })
  write()
}

function send(outgoing: ServerResponse, status: number, body: unknown): void {
  outgoing.writeHead(status, { 'content-type': 'application/json' })
  outgoing.end(JSON.stringify(body))
}
