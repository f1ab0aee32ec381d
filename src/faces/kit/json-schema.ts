import * as z from 'zod/mini'
import type { JsonSchema } from '../../core/http/index.ts'
import type { Schema } from './parse.ts'

/** A request as JSON Schema: the client may send null for every optional field. */
export const inputOf = (schema: Schema): JsonSchema => withNulls(jsonSchemaOf(schema, 'input')) as JsonSchema

/** A response as JSON Schema. */
export const outputOf = (schema: Schema): JsonSchema => jsonSchemaOf(schema, 'output')

function jsonSchemaOf(schema: Schema, io: 'input' | 'output'): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' })
  return rest
}

function withNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withNulls)
  if (typeof value !== 'object' || value === null) return value
  const changed = Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withNulls(one)]))
  const { properties, required = [] } = changed as {
    properties?: Record<string, object>
    required?: string[]
  }
  if (!properties) return changed
  return {
    ...changed,
    properties: Object.fromEntries(
      Object.entries(properties).map(([name, one]) => [
        name,
        required.includes(name) || Object.keys(one).length === 0 ? one : { anyOf: [one, { type: 'null' }] },
      ]),
    ),
  }
}
