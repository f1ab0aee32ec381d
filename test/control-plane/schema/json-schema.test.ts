import { expect, test } from 'vitest'
import * as z from 'zod/mini'
import { authOperations, OPERATIONS } from '../../../src/control-plane/operations/all.ts'
import { jsonSchemaOf, schemaNotes } from '../../../src/control-plane/schema/json-schema.ts'

const SCHEMAS = [...OPERATIONS, ...authOperations].flatMap(({ summary, params, query, body, responses }) =>
  [params, query, body, ...Object.values(responses)].flatMap((schema) =>
    schema && !('mediaType' in schema) ? [[summary, schema] as const] : [],
  ),
)

/** What `z.toJSONSchema` gives, in the spelling of the API. */
function spelled(json: unknown): unknown {
  if (Array.isArray(json)) return json.map(spelled)
  if (typeof json !== 'object' || json === null) return json
  const members = Object.entries(json).flatMap(([name, value]): [string, unknown][] => {
    if (name === '$schema' || (name === 'properties' && Object.keys(value).length === 0)) return []
    if (name === 'minimum' && value === Number.MIN_SAFE_INTEGER) return []
    if (name === 'maximum' && value === Number.MAX_SAFE_INTEGER) return []
    if (name === 'pattern') return [[name, value.replaceAll('\\/', '/')]]
    if (name === 'type' && Array.isArray(value)) return [['anyOf', value.map((type) => ({ type }))]]
    if (name === 'additionalProperties' && JSON.stringify(value) === '{}') return [[name, true]]
    return [[name, spelled(value)]]
  })
  return Object.fromEntries(members)
}

test.each(SCHEMAS)('a schema of %s reads as z.toJSONSchema reads it', (_, schema) => {
  expect(jsonSchemaOf(schema)).toEqual(
    spelled(z.toJSONSchema(schema, { io: 'input', metadata: schemaNotes })),
  )
  expect(jsonSchemaOf(schema)).toBe(jsonSchemaOf(schema))
})

test('what the API has no words for is refused', () => {
  expect(() => jsonSchemaOf(z.date())).toThrow('The schemas of the API have no date.')
  expect(() => jsonSchemaOf(z.number().check(z.multipleOf(2)))).toThrow('no check multiple_of')
})
