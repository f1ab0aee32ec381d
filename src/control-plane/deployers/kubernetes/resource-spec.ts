import type { SourceConfig } from '../../records/records.ts'
import { DeployError } from '../errors.ts'
import { DEPLOYMENT_LABEL, MANAGED_BY_LABEL } from './names.ts'

/** An object in the form of Kubernetes, as the client gave it. The API server checks its members. */
export type Given = Readonly<Record<string, unknown>>

/** The API's `resource_spec`, checked. */
export interface ResourceSpec {
  readonly replicas: number
  readonly maxReplicas: number
  /** Whether the servers ask for a share of a processor. */
  readonly requestsCpu: boolean
  readonly resources: {
    readonly requests: Readonly<Record<string, string>>
    readonly limits: Readonly<Record<string, string>>
  }
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
  readonly serviceAccountName: string | undefined
  readonly imagePullSecrets: readonly Given[]
  readonly volumes: readonly Given[]
  readonly volumeMounts: readonly Given[]
  readonly initContainers: readonly Given[]
  readonly sidecars: readonly Given[]
  /** Members that were given and have no meaning here. */
  readonly ignored: readonly string[]
}

/** The container of the agent server. */
export const AGENT_CONTAINER = 'agent'

const MEMBERS = new Set([
  'min_scale',
  'max_scale',
  'cpu',
  'cpu_limit',
  'memory_mb',
  'memory_limit_mb',
  'labels',
  'annotations',
  'service_account_name',
  'image_pull_secrets',
  'volumes',
  'volume_mounts',
  'init_containers',
  'sidecars',
])

/** Throws a `DeployError` that names the member which is wrong. */
export function readResourceSpec(given: SourceConfig['resource_spec']): ResourceSpec {
  const spec: Given = given ?? {}
  const cpu = amounts(spec, 'cpu', 'cpu_limit', (value) => `${Math.max(1, Math.round(value * 1_000))}m`)
  const memory = amounts(
    spec,
    'memory_mb',
    'memory_limit_mb',
    (value) => `${Math.max(1, Math.round(value))}Mi`,
  )
  const volumes = objects(spec, 'volumes')
  const volumeMounts = objects(spec, 'volume_mounts')
  const initContainers = objects(spec, 'init_containers')
  const sidecars = objects(spec, 'sidecars')
  const serviceAccountName = spec.service_account_name ?? undefined

  if (serviceAccountName !== undefined && !isName(serviceAccountName))
    wrong('service_account_name', 'is no name of a service account')
  const volumeNames = uniqueNames('volumes', volumes)
  uniqueNames('init_containers and sidecars', [{ name: AGENT_CONTAINER }, ...initContainers, ...sidecars])
  for (const { name } of volumeMounts)
    if (!volumeNames.has(name))
      wrong('volume_mounts', `names a volume that resource_spec.volumes does not have: ${show(name)}`)

  return {
    ...scale(spec),
    requestsCpu: cpu.request !== undefined,
    resources: {
      requests: {
        ...(cpu.request && { cpu: cpu.request }),
        ...(memory.request && { memory: memory.request }),
      },
      limits: { ...(cpu.limit && { cpu: cpu.limit }), ...(memory.limit && { memory: memory.limit }) },
    },
    labels: labels(spec),
    annotations: strings(spec, 'annotations'),
    serviceAccountName,
    imagePullSecrets: objects(spec, 'image_pull_secrets').map(({ name }) => ({ name })),
    volumes,
    volumeMounts,
    initContainers,
    sidecars,
    ignored: Object.keys(spec).filter((key) => !MEMBERS.has(key) && spec[key] != null),
  }
}

function scale(spec: Given): Pick<ResourceSpec, 'replicas' | 'maxReplicas'> {
  const replicas = number(spec, 'min_scale') ?? 1
  const maxReplicas = number(spec, 'max_scale') ?? replicas
  if (!Number.isInteger(replicas) || replicas < 1)
    wrong('min_scale', 'must be 1 or more: a server that has been stopped is not started by a request')
  if (!Number.isInteger(maxReplicas) || maxReplicas < replicas)
    wrong('max_scale', 'must be an integer that is not less than resource_spec.min_scale')
  return { replicas, maxReplicas }
}

/** Of processors or MiB. It keeps numbers from being written with an exponent. */
const MOST = 1_000_000_000

/** What is asked for, and at most used: twice as much where no limit is given. */
function amounts(spec: Given, key: string, limitKey: string, write: (value: number) => string) {
  const request = number(spec, key)
  const limit = number(spec, limitKey) ?? (request === undefined ? undefined : request * 2)
  if (request !== undefined && request <= 0) wrong(key, 'must be more than 0')
  if (limit !== undefined && limit > MOST) wrong(limitKey, `must not be more than ${MOST}`)
  if (limit !== undefined && limit < (request ?? Number.MIN_VALUE))
    wrong(limitKey, `must not be less than resource_spec.${key}`)
  return {
    request: request === undefined ? undefined : write(request),
    limit: limit === undefined ? undefined : write(limit),
  }
}

const LABEL_KEY = /^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/
const LABEL_VALUE = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/

function labels(spec: Given): Readonly<Record<string, string>> {
  const given = strings(spec, 'labels')
  for (const [key, value] of Object.entries(given)) {
    if (key === MANAGED_BY_LABEL || key.split('/')[0] === DEPLOYMENT_LABEL.split('/')[0])
      wrong('labels', `must not set ${show(key)}, which the control plane sets`)
    if (!LABEL_VALUE.test(value)) wrong('labels', `has a value that is not one of a label: ${show(value)}`)
  }
  return given
}

/** Labels and annotations have keys of one form. */
function strings(spec: Given, member: string): Readonly<Record<string, string>> {
  const given = spec[member] ?? {}
  if (!isObject(given)) return wrong(member, 'must be an object')
  for (const [key, value] of Object.entries(given)) {
    if (!LABEL_KEY.test(key))
      wrong(member, `has a key that is not one of a label or an annotation: ${show(key)}`)
    if (typeof value !== 'string') wrong(member, `must have strings as values: ${show(key)}`)
  }
  return given as Readonly<Record<string, string>>
}

/** A list of objects that each have a name. */
function objects(spec: Given, member: string): readonly Given[] {
  const given = spec[member] ?? []
  if (!Array.isArray(given) || !given.every((item) => isObject(item) && isName(item.name)))
    return wrong(
      member,
      'must be a list of objects, each with a name of lower-case letters, digits and dashes',
    )
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

function number(spec: Given, member: string): number | undefined {
  const value = spec[member] ?? undefined
  if (value !== undefined && !(typeof value === 'number' && Number.isFinite(value)))
    return wrong(member, 'must be a number')
  return value
}

const isObject = (value: unknown): value is Given =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isName = (value: unknown): value is string =>
  typeof value === 'string' && /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/.test(value)

const show = (value: unknown): string => JSON.stringify(value)?.slice(0, 100) ?? 'nothing'

function wrong(member: string, problem: string): never {
  throw new DeployError(`resource_spec.${member} ${problem}.`)
}
