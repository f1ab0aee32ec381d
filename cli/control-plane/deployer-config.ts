import { readFileSync } from 'node:fs'
import { checkValue } from '../../src/control-plane/schema/check.ts'
import type { Infer, JsonSchema } from '../../src/control-plane/schema/json-schema.ts'
import { SOURCE } from '../../src/control-plane/wire/source.ts'
import { ConfigError } from '../serve/config-reader.ts'

const STRING = { type: 'string', minLength: 1 } as const
const PROGRAM = { type: 'array', items: { type: 'string' }, minItems: 1 } as const
const COUNT = { type: 'integer', minimum: 0 } as const

/** The options of `commandDeployer` that JSON can hold. */
export const COMMAND_CONFIG = {
  type: 'object',
  properties: {
    prepare: PROGRAM,
    build: PROGRAM,
    deploy: PROGRAM,
    promote: PROGRAM,
    stop: PROGRAM,
    destroy: PROGRAM,
    sources: { type: 'array', items: SOURCE },
    secretsFor: {
      type: 'array',
      items: { type: 'string', enum: ['prepare', 'build', 'deploy', 'promote'] },
    },
    cwd: STRING,
    env: { type: 'object', additionalProperties: { type: 'string' } },
    graceMs: COUNT,
  },
  required: ['deploy', 'stop', 'destroy'],
} as const

/** The options of `kubernetesDeployer` that JSON can hold. */
export const KUBERNETES_CONFIG = {
  type: 'object',
  properties: {
    namespace: STRING,
    namespaces: { type: 'array', items: STRING },
    port: { type: 'integer', minimum: 1, maximum: 65_535 },
    revisionHistory: COUNT,
    followLogs: { type: 'boolean' },
    allow: {
      type: 'object',
      properties: {
        volumes: { type: 'array', items: STRING },
        capabilities: { type: 'array', items: STRING },
        privileged: { type: 'boolean' },
        hostPorts: { type: 'boolean' },
        serviceAccounts: { type: 'array', items: STRING },
      },
    },
    times: {
      type: 'object',
      properties: {
        progressDeadlineSeconds: { type: 'integer', minimum: 1 },
        drainMs: COUNT,
        lookMs: COUNT,
        mostLookMs: COUNT,
        requestMs: COUNT,
        retryMs: COUNT,
        retryForMs: COUNT,
      },
    },
  },
  required: ['namespace'],
} as const

/** The options in a file of JSON. Throws `ConfigError`, which names the file and what is wrong. */
export function readDeployerConfig<const S extends JsonSchema>(file: string, schema: S): Infer<S> {
  const value = readJson(file)
  const unknown = Object.keys(Object(value)).filter((name) => !Object.hasOwn(schema.properties ?? {}, name))
  if (unknown.length > 0) {
    const known = Object.keys(schema.properties ?? {}).join(', ')
    throw new ConfigError(`${file}: there is no option ${unknown.join(', ')}. There are ${known}.`)
  }
  const checked = checkValue(schema, value)
  if (checked.problems === undefined) return checked.value
  const told = checked.problems.map(({ loc, msg }) => `${loc.join('.') || 'all of it'}: ${msg}`)
  throw new ConfigError(`${file}: ${told.join('; ')}.`)
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (cause) {
    throw new ConfigError(`${file} cannot be read: ${(cause as Error).message}.`, { cause })
  }
}
