import type { JsonSchema, RouteDescriptions } from '../../core/http/index.ts'
import { inputOf, outputOf } from './json-schema.ts'
import type { Schema } from './parse.ts'
import type { FaceContext, FaceRow } from './routes.ts'

/** What rows accept and return, for the OpenAPI document. A socket is described by its path alone. */
export const describeRows = <Context extends FaceContext>(
  rows: readonly FaceRow<Context>[],
): RouteDescriptions =>
  Object.fromEntries(
    rows.flatMap(({ method, path, summary, query, body, answers = {}, streams }) => {
      if (method === 'SOCKET' || summary === undefined) return []
      const sent = typeof body === 'function' ? body(asInput) : body && asInput(body)
      const returned = Object.entries(answers).map(([status, schema]) => [status, schema && asOutput(schema)])
      return [
        [`${method} ${path}`, { summary, query, body: sent, answers: Object.fromEntries(returned), streams }],
      ]
    }),
  )

const asInput = (schema: object): JsonSchema => inputOf(schema as Schema)

/** With the JSON Schema of each schema of zod that it contains. */
function asOutput(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if ('_zod' in value) return outputOf(value as unknown as Schema)
  if (Array.isArray(value)) return value.map(asOutput)
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, asOutput(one)]))
}
