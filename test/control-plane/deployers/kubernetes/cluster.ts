import { setTimeout as sleep } from 'node:timers/promises'
import { problemsOf } from './schemas.ts'

/** An object as the fake keeps it. */
export interface Kept {
  apiVersion: string
  kind: string
  metadata: {
    name: string
    namespace: string
    uid: string
    resourceVersion: string
    generation: number
    deletionTimestamp?: string
    labels?: Record<string, string>
    annotations?: Record<string, string>
    ownerReferences?: { uid: string }[]
  }
  // biome-ignore lint/suspicious/noExplicitAny: whatever kind of object it is
  spec?: any
  // biome-ignore lint/suspicious/noExplicitAny: as above
  status?: any
  data?: Record<string, string>
}

/** What servers log when they start. */
const FIRST_LINES: Readonly<Record<string, readonly string[]>> = {
  ok: ['listening'],
  crash: ['connecting', 'Error: the password hunter22 is wrong'],
  late: ['waiting for the database'],
}

/** A refusal of the API server. */
export class Refused extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/**
 * What a cluster does with objects, as far as the deployer sees it: versions, generations, garbage collection, and servers that start as the tag
 * of their image says: `:ok`, `:slow`, `:no-image`, `:no-config`, `:crash`, `:not-ready`, `:late`, `:quota`, `:no-room`.
 */
export function createCluster(startMs = 5) {
  const objects = new Map<string, Kept>()
  const lines = new Map<string, string[]>()
  const listeners = new Set<() => void>()
  let version = 0
  let made = 0

  const keyOf = (kind: string, namespace: string, name: string) => `${kind}/${namespace}/${name}`
  const get = (kind: string, namespace: string, name: string) => objects.get(keyOf(kind, namespace, name))
  const all = (kind: string, namespace?: string) =>
    [...objects.values()].filter(
      (each) => each.kind === kind && (namespace === undefined || each.metadata.namespace === namespace),
    )
  const touch = (object: Kept) => {
    object.metadata.resourceVersion = String(++version)
  }
  const changed = () => {
    for (const listener of listeners) listener()
  }

  function apply(applied: Kept): Kept {
    const problems = problemsOf(applied)
    if (problems.length > 0) throw new Refused(422, `${applied.kind} is invalid: ${problems.join('; ')}`)
    const { name, namespace } = applied.metadata
    const before = get(applied.kind, namespace, name)
    const isSame = before && JSON.stringify(before.spec) === JSON.stringify(applied.spec)
    if (before && applied.kind === 'Deployment') {
      if (JSON.stringify(before.spec.selector) !== JSON.stringify(applied.spec.selector))
        throw new Refused(422, 'spec.selector: Invalid value: field is immutable')
    }
    const object: Kept = {
      ...structuredClone(applied),
      metadata: {
        ...structuredClone(applied.metadata),
        uid: before?.metadata.uid ?? `uid-${++made}`,
        resourceVersion: '',
        generation: (before?.metadata.generation ?? 0) + (isSame ? 0 : 1),
        ...(before?.metadata.deletionTimestamp && { deletionTimestamp: before.metadata.deletionTimestamp }),
      },
      ...(before?.status && { status: before.status }),
    }
    touch(object)
    objects.set(keyOf(object.kind, namespace, name), object)
    if (object.kind === 'Deployment' && !isSame) void rollOut(object)
    changed()
    return object
  }

  function scale(namespace: string, name: string, replicas: number, resourceVersion?: string): void {
    const deployment = get('Deployment', namespace, name)
    if (!deployment) throw new Refused(404, 'not found')
    if (resourceVersion !== undefined && resourceVersion !== deployment.metadata.resourceVersion)
      throw new Refused(409, 'the object has been modified')
    deployment.spec.replicas = replicas
    deployment.metadata.generation++
    touch(deployment)
    void rollOut(deployment)
  }

  /** Brings the pods to what a Deployment asks for, as its image has it. */
  async function rollOut(deployment: Kept): Promise<void> {
    const { generation, namespace, name } = deployment.metadata
    const current = () => {
      const found = get('Deployment', namespace, name)
      return found?.metadata.generation === generation && found.metadata.uid === deployment.metadata.uid
        ? found
        : undefined
    }
    const wanted: number = deployment.spec.replicas
    const tag: string = deployment.spec.template.spec.containers[0].image.split(':').at(-1)
    await sleep(startMs)
    if (!current()) return
    const pods = podsOf(deployment)
    for (const pod of pods.slice(wanted)) removeNow(pod)
    const status = (rest: object) => {
      const found = current()
      if (!found) return
      found.status = {
        observedGeneration: generation,
        replicas: wanted,
        updatedReplicas: wanted,
        ...rest,
      }
      touch(found)
      changed()
    }
    if (tag === 'quota')
      return status({
        replicas: 0,
        updatedReplicas: 0,
        conditions: [
          {
            type: 'ReplicaFailure',
            status: 'True',
            reason: 'FailedCreate',
            message: 'exceeded quota: agents',
          },
          { type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' },
        ],
      })
    for (let at = pods.length; at < wanted; at++) makePod(deployment, tag)
    status({ availableReplicas: 0 })
    if (tag === 'late')
      status({ conditions: [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }] })
    for (let ready = 1; ready <= wanted && (tag === 'ok' || tag === 'slow'); ready++) {
      await sleep(tag === 'slow' ? 300 : startMs)
      if (!current()) return
      status({ availableReplicas: ready })
    }
  }

  const podsOf = ({ metadata }: Kept) =>
    all('Pod').filter((pod) => pod.metadata.ownerReferences?.[0]?.uid === metadata.uid)

  function makePod(deployment: Kept, tag: string): void {
    const { namespace, name, uid } = deployment.metadata
    const { metadata, spec } = deployment.spec.template
    const container = (state: object, rest: object = {}) => ({
      containerStatuses: [{ name: spec.containers[0].name, ready: false, restartCount: 0, state, ...rest }],
    })
    const waiting = (reason: string, message: string) => container({ waiting: { reason, message } })
    const statuses: Record<string, object> = {
      'no-image': waiting('ImagePullBackOff', 'Back-off pulling image'),
      'no-config': waiting('CreateContainerConfigError', 'secret "absent" not found'),
      crash: container(
        { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 10s' } },
        { restartCount: 3, lastState: { terminated: { exitCode: 7, reason: 'Error' } } },
      ),
      'no-room': {
        conditions: [
          {
            type: 'PodScheduled',
            status: 'False',
            reason: 'Unschedulable',
            message: '0/3 nodes are available',
          },
        ],
      },
    }
    const pod: Kept = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: `${name}-${++made}`,
        namespace,
        uid: `uid-${made}`,
        resourceVersion: String(++version),
        generation: 1,
        labels: metadata.labels,
        ownerReferences: [{ uid }],
      },
      spec,
      status: statuses[tag] ?? container({ running: { startedAt: new Date().toISOString() } }),
    }
    objects.set(keyOf('Pod', namespace, pod.metadata.name), pod)
    for (const line of FIRST_LINES[tag] ?? []) say(pod, line)
  }

  function removeNow(object: Kept): void {
    const { kind, metadata } = object
    objects.delete(keyOf(kind, metadata.namespace, metadata.name))
    for (const owned of [...objects.values()])
      if (owned.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid)) removeNow(owned)
    changed()
  }

  function remove(
    kind: string,
    namespace: string,
    name: string,
    propagation: string,
    resourceVersion?: string,
  ) {
    const object = get(kind, namespace, name)
    if (!object) throw new Refused(404, `${kind} "${name}" not found`)
    if (resourceVersion !== undefined && resourceVersion !== object.metadata.resourceVersion)
      throw new Refused(409, 'the object has been modified')
    if (propagation !== 'Foreground') return removeNow(object)
    object.metadata.deletionTimestamp = new Date().toISOString()
    touch(object)
    void sleep(startMs * 4).then(() => removeNow(object))
  }

  /** Has a pod log a line. */
  function say(pod: Kept, line: string): void {
    const { uid } = pod.metadata
    const said = lines.get(uid) ?? []
    // Kubernetes writes nine digits.
    const at = new Date(Date.now()).toISOString().replace('Z', `${String(said.length).padStart(6, '0')}Z`)
    lines.set(uid, [...said, `${at} ${line}`])
    changed()
  }

  return {
    apply,
    scale,
    remove,
    removeNow,
    get,
    all,
    say,
    saidOf: (pod: Kept) => lines.get(pod.metadata.uid) ?? [],
    /** Calls back after each change. */
    onChange(listener: () => void) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    touch,
  }
}

export type Cluster = ReturnType<typeof createCluster>
