import { Ajv } from 'ajv'
import openapi from '../../fixtures/kubernetes-openapi.json' with { type: 'json' }

/** The objects that the deployer writes, with their schemas. */
const SCHEMAS = {
  'apps/v1 Deployment': 'io.k8s.api.apps.v1.Deployment',
  'v1 Service': 'io.k8s.api.core.v1.Service',
  'v1 Secret': 'io.k8s.api.core.v1.Secret',
  'autoscaling/v2 HorizontalPodAutoscaler': 'io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler',
} as const

type Schema = { properties?: object; additionalProperties?: unknown }

/** As the API server reads with `fieldValidation=Strict`: a field that no schema has is an error. */
const strict = Object.fromEntries(
  Object.entries(openapi.definitions as Record<string, Schema>).map(([name, schema]) => [
    name,
    schema.properties && schema.additionalProperties === undefined
      ? { ...schema, additionalProperties: false }
      : schema,
  ]),
)

const ajv = new Ajv({ allErrors: true, strict: true, strictTypes: false, strictRequired: false })
const INT32 = 2 ** 31
ajv.addFormat('int32', { type: 'number', validate: (value: number) => value >= -INT32 && value < INT32 })
ajv.addFormat('int64', { type: 'number', validate: Number.isSafeInteger })
ajv.addFormat('byte', /^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/)
ajv.addFormat('date-time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/)
ajv.addFormat('quantity', /^[+-]?(\d+|\d+\.\d*|\.\d+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?\d+)?$/)
ajv.addSchema({ $id: 'kubernetes', definitions: strict })

/** What is wrong with an object, by the published schemas and by the rules that they cannot say. Empty for a valid one. */
export function problemsOf(object: unknown): string[] {
  const { apiVersion, kind } = object as { apiVersion?: string; kind?: string }
  const name = SCHEMAS[`${apiVersion} ${kind}` as keyof typeof SCHEMAS]
  if (!name) return [`No schema of ${apiVersion} ${kind}.`]
  const validate = ajv.getSchema(`kubernetes#/definitions/${name}`)!
  if (!validate(object))
    return validate.errors!.map(
      ({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`,
    )
  return rulesBroken(object as Fields)
}

// biome-ignore lint/suspicious/noExplicitAny: whatever kind of object it is
type Fields = Readonly<Record<string, any>>

/** The rules of the API server for what the deployer makes. */
function rulesBroken(object: Fields): string[] {
  const problems: string[] = []
  const rule = (holds: boolean, problem: string) => {
    if (!holds) problems.push(problem)
  }
  const { name, labels = {}, annotations = {} } = object.metadata!
  rule(/^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name), `The name "${name}" is no label of RFC 1035.`)
  for (const [key, value] of Object.entries(labels))
    rule(isLabel(key, String(value)), `${key}=${value} is no label.`)
  for (const key of Object.keys(annotations)) rule(isLabel(key, ''), `${key} is no key of an annotation.`)

  if (object.kind === 'Secret') {
    for (const key of Object.keys(object.data ?? {}))
      rule(/^[-._A-Za-z0-9]+$/.test(key), `${key} is no key of a Secret.`)
  }
  if (object.kind === 'Service') {
    const keys = object.spec.ports.map(({ port, protocol }: Fields) => `${port}/${protocol}`)
    rule(new Set(keys).size === keys.length, 'A port is given twice.')
  }
  if (object.kind === 'HorizontalPodAutoscaler') {
    const { minReplicas, maxReplicas } = object.spec!
    rule(minReplicas >= 1 && maxReplicas >= minReplicas, 'The autoscaler has no range.')
  }
  if (object.kind === 'Deployment') deploymentRules(object.spec!, rule)
  return problems
}

function deploymentRules(spec: Fields, rule: (holds: boolean, problem: string) => void): void {
  const { metadata, spec: pod } = spec.template
  for (const [key, value] of Object.entries(spec.selector.matchLabels!))
    rule(metadata.labels![key] === value, `The pods have not the label ${key} of the selector.`)
  for (const [key, value] of Object.entries(metadata.labels!))
    rule(isLabel(key, String(value)), `${key}=${value} is no label.`)
  const volumes = new Set((pod.volumes ?? []).map((volume: Fields) => volume.name))
  rule(volumes.size === (pod.volumes ?? []).length, 'A volume is given twice.')
  const containers: Fields[] = [...(pod.initContainers ?? []), ...pod.containers!]
  rule(new Set(containers.map((each) => each.name)).size === containers.length, 'A container is given twice.')
  for (const container of containers) {
    rule(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(container.name), `The container "${container.name}".`)
    const variables = (container.env ?? []).map((variable: Fields) => variable.name)
    rule(new Set(variables).size === variables.length, 'A variable is given twice.')
    for (const mount of (container.volumeMounts ?? []) as Fields[])
      rule(volumes.has(mount.name), `There is no volume "${mount.name}".`)
    const ports = new Set((container.ports ?? []).map((port: Fields) => port.name))
    for (const probe of [container.startupProbe, container.readinessProbe, container.livenessProbe])
      rule(!probe || ports.has(probe.httpGet.port), 'A probe names no port.')
    for (const [key, limit] of Object.entries(container.resources?.limits ?? {}))
      rule(
        amount(container.resources?.requests?.[key] ?? '0') <= amount(String(limit)),
        `The limit of ${key} is less than its request.`,
      )
  }
}

const amount = (quantity: string): number =>
  Number.parseFloat(quantity) * (quantity.endsWith('m') ? 0.001 : quantity.endsWith('Mi') ? 2 ** 20 : 1)

function isLabel(key: string, value: string): boolean {
  const [name, prefix] = key.split('/').reverse()
  return (
    key.split('/').length <= 2 &&
    (prefix === undefined ||
      /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(prefix)) &&
    /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/.test(name!) &&
    /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/.test(value)
  )
}
