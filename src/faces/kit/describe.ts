import * as z from 'zod/mini'
import type { JsonSchema, RouteDescription, RouteDescriptions } from '../../core/http/index.ts'
import type { Schema } from './parse.ts'
import type { FaceContext, FaceRow } from './routes.ts'

/** What rows accept and return, for the OpenAPI document. A socket is described by its path alone. */
export const describeRows = async <Context extends FaceContext>(
  rows: readonly FaceRow<Context>[],
): Promise<RouteDescriptions> => Object.fromEntries((await Promise.all(rows.map(descriptionOf))).flat())

async function descriptionOf<Context extends FaceContext>({
  method,
  path,
  summary,
  query,
  body,
  answers = {},
  streams,
}: FaceRow<Context>): Promise<readonly (readonly [string, RouteDescription])[]> {
  if (method === 'SOCKET' || summary === undefined) return []
  const description = {
    summary,
    query: asJson(query, inputOf) as RouteDescription['query'],
    body: typeof body === 'function' ? body(asInput) : body && asInput(body),
    answers: asJson(
      typeof answers === 'function' ? await answers() : answers,
      outputOf,
    ) as RouteDescription['answers'],
    streams,
  }
  return [[`${method} ${path}`, description]]
}

const asInput = (schema: object): JsonSchema => inputOf(schema as Schema)

/** With the JSON Schema of each schema of zod that it contains. */
function asJson(value: unknown, convert: (schema: Schema) => JsonSchema): unknown {
  if (typeof value !== 'object' || value === null) return value
  if ('_zod' in value) return convert(value as unknown as Schema)
  if (Array.isArray(value)) return value.map((one) => asJson(one, convert))
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, asJson(one, convert)]))
}

/** A request as JSON Schema: the client may send null for every optional field. */
const inputOf = (schema: Schema): JsonSchema => withNulls(jsonSchemaOf(schema, 'input')) as JsonSchema

/** A response as JSON Schema. */
const outputOf = (schema: Schema): JsonSchema => jsonSchemaOf(schema, 'output')

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
