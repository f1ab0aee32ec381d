import * as z from 'zod/mini'
import * as t from '../../../src/control-plane/wire/common.ts'
import type { Scalar } from '../../../src/control-plane/wire/lax.ts'
import { createFindings, type Problem } from '../../../src/control-plane/wire/problems.ts'

/** A schema in the keywords of OpenAPI. */
export interface JsonSchema extends Partial<Omit<Scalar, 'type'>> {
  readonly type?: Scalar['type'] | 'object' | 'array' | 'null'
  readonly enum?: readonly string[]
  readonly const?: string
  readonly minItems?: number
  readonly maxItems?: number
  readonly items?: JsonSchema
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: JsonSchema | true
  readonly anyOf?: readonly JsonSchema[]
}

/** The schema of zod that the document would describe so. */
export function schemaOf(json: JsonSchema): z.ZodMiniType {
  if (json.anyOf) return z.nullable(schemaOf(json.anyOf[0]!))
  if (json.const !== undefined) return z.literal(json.const)
  if (json.enum) return z.enum(json.enum)
  if (json.type === 'array') {
    const { type: _, items = {}, ...bounds } = json
    return t.list(schemaOf(items), bounds as { minItems?: number; maxItems?: number })
  }
  if (json.type !== 'object') return json.type ? t.scalar(json as Scalar) : t.JSON_VALUE
  const { properties, required = [], additionalProperties: more } = json
  if (!properties) return typeof more === 'object' ? t.mapOf(schemaOf(more)) : t.JSON_OBJECT
  const members = Object.entries(properties).map(([name, one]) => {
    const member = schemaOf(one)
    return [name, required.includes(name) ? member : z.optional(member)]
  })
  const object = z.object(Object.fromEntries(members))
  return more ? z.catchall(object, t.JSON_VALUE) : object
}

/** A value as it is read, or all that is wrong with it. */
export type Checked =
  | { readonly value: unknown; readonly problems?: undefined }
  | { readonly problems: readonly Problem[] }

export const checkValue = (schema: JsonSchema, value: unknown, loc: Problem['loc'] = []): Checked =>
  read(schemaOf(schema), value, loc)

export function read(schema: z.ZodMiniType, value: unknown, loc: Problem['loc'] = []): Checked {
  const findings = createFindings()
  const checked = findings.read(schema, value, loc)
  return findings.problems.length > 0 ? { problems: findings.problems } : { value: checked }
}

/** The schema or null. */
export const nullable = (schema: JsonSchema): JsonSchema => ({ anyOf: [schema, { type: 'null' }] })
