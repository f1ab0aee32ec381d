import { readFileSync } from 'node:fs'
import * as z from 'zod/mini'
import { check } from '../../control-plane/schema/check.ts'
import { createFindings } from '../../control-plane/schema/findings.ts'
import { jsonSchemaOf } from '../../control-plane/schema/json-schema.ts'
import { mapOf } from '../../control-plane/wire/common.ts'
import { SOURCE } from '../../control-plane/wire/source.ts'
import { ConfigError } from '../serve/config-reader.ts'

const STRING = z.string().check(z.minLength(1))
const STRINGS = z.optional(z.array(STRING))
const FLAG = z.optional(z.boolean())
const COUNT = z.optional(z.int().check(z.gte(0)))
const PROGRAM = z.array(z.string()).check(z.minLength(1))
const OTHER_PROGRAM = z.optional(PROGRAM)

/** The options of `commandDeployer` that JSON can express. */
export const COMMAND_CONFIG = z.object({
  prepare: OTHER_PROGRAM,
  build: OTHER_PROGRAM,
  deploy: PROGRAM,
  promote: OTHER_PROGRAM,
  stop: PROGRAM,
  destroy: PROGRAM,
  sources: z.optional(z.array(SOURCE)),
  secretsFor: z.optional(z.array(z.enum(['prepare', 'build', 'deploy', 'promote']))),
  cwd: z.optional(STRING),
  env: z.optional(mapOf(z.string())),
  graceMs: COUNT,
})

/** The options of `kubernetesDeployer` that JSON can express. */
export const KUBERNETES_CONFIG = z.object({
  namespace: STRING,
  namespaces: STRINGS,
  port: z.optional(z.int().check(z.gte(1), z.lte(65_535))),
  revisionHistory: COUNT,
  followLogs: FLAG,
  allow: z.optional(
    z.object({
      volumes: STRINGS,
      capabilities: STRINGS,
      privileged: FLAG,
      hostPorts: FLAG,
      serviceAccounts: STRINGS,
    }),
  ),
  times: z.optional(
    z.object({
      progressDeadlineSeconds: z.optional(z.int().check(z.gte(1))),
      drainMs: COUNT,
      lookMs: COUNT,
      mostLookMs: COUNT,
      requestMs: COUNT,
      retryMs: COUNT,
      retryForMs: COUNT,
    }),
  ),
})

/** The options in a JSON file. Throws `ConfigError`, which names the file and what is wrong. */
export function readDeployerConfig<S extends z.ZodMiniType>(file: string, schema: S): z.output<S> {
  const value = readJson(file)
  const jsonSchema = jsonSchemaOf(schema)
  const names = Object.keys(jsonSchema.properties ?? {})
  const unknown = Object.keys(Object(value)).filter((name) => !names.includes(name))
  if (unknown.length > 0)
    throw new ConfigError(
      `${file}: unknown option ${unknown.join(', ')}. Known options: ${names.join(', ')}.`,
    )
  const findings = createFindings()
  const checked = check(jsonSchema, value, [], findings)
  if (findings.problems.length === 0) return checked as z.output<S>
  const told = findings.problems.map(({ loc, msg }) => `${loc.join('.') || 'the whole value'}: ${msg}`)
  throw new ConfigError(`${file}: ${told.join('; ')}.`)
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (cause) {
    throw new ConfigError(`${file} cannot be read: ${(cause as Error).message}.`, { cause })
  }
}
