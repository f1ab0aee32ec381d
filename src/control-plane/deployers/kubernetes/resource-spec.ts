import { isRecord } from '../../../core/record.ts'
import type { SourceConfig } from '../../records/records.ts'
import { DeployError } from '../deployer.ts'
import { DEPLOYMENT_LABEL, MANAGED_BY_LABEL } from './names.ts'

/** An object in Kubernetes's form, as the client sent it. The API server validates its members. */
export type Given = Readonly<Record<string, unknown>>

/** The name of the agent's container. */
export const AGENT_CONTAINER = 'agent'

/** The API's `resource_spec`, validated. */
export type ResourceSpec = ReturnType<typeof readResourceSpec>

/** Throws a `DeployError` that names the invalid member. */
export function readResourceSpec(given: SourceConfig['resource_spec']) {
  const known = new Set<string>()
  const member = (name: string): unknown => {
    known.add(name)
    return given?.[name] ?? undefined
  }
  const number = (name: string): number | undefined => {
    const value = member(name)
    if (value !== undefined && !Number.isFinite(value)) wrong(name, 'must be a number')
    return value as number | undefined
  }
  const cpu = amounts(number, 'cpu', (value) => `${Math.max(1, Math.round(value * 1_000))}m`)
  const memory = amounts(number, 'memory_mb', (value) => `${Math.max(1, Math.round(value))}Mi`)
  const objects = (name: string) => readObjects(name, member(name))
  const volumes = objects('volumes')
  const volumeMounts = objects('volume_mounts')
  const initContainers = objects('init_containers')
  const sidecars = objects('sidecars')
  const serviceAccountName = member('service_account_name')
  if (serviceAccountName !== undefined && !isName(serviceAccountName))
    throw wrong('service_account_name', 'is not the name of a service account')
  const volumeNames = uniqueNames('volumes', volumes)
  uniqueNames('init_containers and sidecars', [{ name: AGENT_CONTAINER }, ...initContainers, ...sidecars])
  for (const { name } of volumeMounts)
    if (!volumeNames.has(name))
      wrong('volume_mounts', `names a volume that resource_spec.volumes does not have: ${show(name)}`)

  return {
    ...scale(number('min_scale'), number('max_scale')),
    /** Whether the servers request CPU. */
    requestsCpu: cpu.request !== undefined,
    resources: {
      requests: withoutUndefined({ cpu: cpu.request, memory: memory.request }),
      limits: withoutUndefined({ cpu: cpu.limit, memory: memory.limit }),
    },
    labels: labels(member('labels')),
    annotations: strings('annotations', member('annotations')),
    serviceAccountName,
    imagePullSecrets: objects('image_pull_secrets').map(({ name }) => ({
      name,
    })),
    volumes,
    volumeMounts,
    initContainers,
    sidecars,
    /** Members that have no meaning here. */
    ignored: Object.keys(given ?? {}).filter((key) => !known.has(key) && given?.[key] != null),
  }
}

function scale(replicas = 1, maxReplicas = replicas) {
  if (!Number.isInteger(replicas) || replicas < 1)
    wrong('min_scale', 'must be 1 or more: a request does not start a stopped server')
  if (!Number.isInteger(maxReplicas) || maxReplicas < replicas)
    wrong('max_scale', 'must be an integer that is not less than resource_spec.min_scale')
  return { replicas, maxReplicas }
}

/** In CPUs or MiB. It keeps numbers from being written with an exponent. */
const MAX_AMOUNT = 1_000_000_000

/** A request and its limit, which defaults to twice the request. */
function amounts(
  number: (name: string) => number | undefined,
  key: 'cpu' | 'memory_mb',
  write: (value: number) => string,
) {
  const limitKey = key.replace(/(_mb)?$/, '_limit$1')
  const request = number(key)
  const limit = number(limitKey) ?? (request === undefined ? undefined : request * 2)
  if (request !== undefined && request <= 0) wrong(key, 'must be more than 0')
  if (limit !== undefined && limit > MAX_AMOUNT) wrong(limitKey, `must not be more than ${MAX_AMOUNT}`)
  if (limit !== undefined && limit < (request ?? Number.MIN_VALUE))
    wrong(limitKey, `must not be less than resource_spec.${key}`)
  const written = (value: number | undefined) => (value === undefined ? undefined : write(value))
  return { request: written(request), limit: written(limit) }
}

const withoutUndefined = (members: Readonly<Record<string, string | undefined>>) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Record<
    string,
    string
  >

const LABEL_KEY = /^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/
const LABEL_VALUE = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/

function labels(value: unknown): Readonly<Record<string, string>> {
  const given = strings('labels', value)
  for (const [key, value] of Object.entries(given)) {
    if (key === MANAGED_BY_LABEL || key.split('/')[0] === DEPLOYMENT_LABEL.split('/')[0])
      wrong('labels', `must not set ${show(key)}, which the control plane sets`)
    if (!LABEL_VALUE.test(value))
      wrong('labels', `has a value that is not a valid label value: ${show(value)}`)
  }
  return given
}

/** The keys of labels and annotations have the same form. */
function strings(name: string, given: unknown = {}): Readonly<Record<string, string>> {
  if (!isRecord(given)) throw wrong(name, 'must be an object')
  for (const [key, value] of Object.entries(given)) {
    if (!LABEL_KEY.test(key))
      wrong(name, `has a key that is not a valid label or annotation key: ${show(key)}`)
    if (typeof value !== 'string') wrong(name, `must have strings as values: ${show(key)}`)
  }
  return given as Readonly<Record<string, string>>
}

type Named = Given & { readonly name: string }

function readObjects(name: string, given: unknown = []): readonly Named[] {
  if (!Array.isArray(given) || !given.every((item) => isRecord(item) && isName(item.name)))
    throw wrong(name, 'must be a list of objects, each with a name of lower-case letters, digits and dashes')
  return given
}

function uniqueNames(members: string, items: readonly Given[]): ReadonlySet<unknown> {
  const names = new Set<unknown>()
  for (const { name } of items) {
    if (names.has(name)) wrong(members, `must not use a name twice, nor "${AGENT_CONTAINER}": ${show(name)}`)
    names.add(name)
  }
  return names
}

const isName = (value: unknown): value is string =>
  typeof value === 'string' && /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/.test(value)

const show = (value: unknown): string => JSON.stringify(value)?.slice(0, 100) ?? 'nothing'

function wrong(member: string, problem: string): never {
  throw new DeployError(`resource_spec.${member} ${problem}.`)
}
