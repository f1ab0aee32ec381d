import fc from 'fast-check'
import { expect, test } from 'vitest'
import { documentOf } from '../../../src/control-plane/api/document.ts'
import { OPERATIONS } from '../../../src/control-plane/operations/all.ts'
import type { JsonSchema } from '../support/check-value.ts'
import { created, GITHUB, serve } from '../support/served.ts'

const document = documentOf(OPERATIONS)

/** Values that are often right for the schema, and often nearly. */
function valuesOf({ $ref, ...own }: JsonSchema & { readonly $ref?: string }): fc.Arbitrary<unknown> {
  const schema = $ref ? (document.components.schemas[$ref.split('/').at(-1)!] as JsonSchema) : own
  const odd = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom(null, '', '0', -1, 1e308, '../..', '__proto__', '\0', '\ud800'),
  )
  return fc.oneof({ weight: 5, arbitrary: fitting(schema) }, { weight: 1, arbitrary: odd })
}

function fitting(schema: JsonSchema): fc.Arbitrary<unknown> {
  if (schema.anyOf) return fc.option(valuesOf(schema.anyOf[0]!))
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (schema.enum) return fc.constantFrom(...schema.enum)
  if (schema.format === 'uuid') return fc.uuid()
  if (schema.format === 'date-time') return fc.constantFrom('2026-01-01T00:00:00Z', '0', 1767268800000)
  if (schema.type === 'integer') return fc.integer({ min: -2, max: 200 })
  if (schema.type === 'number') return fc.double()
  if (schema.type === 'boolean') return fc.boolean()
  if (schema.type === 'array') return fc.array(valuesOf(schema.items ?? {}), { maxLength: 3 })
  if (schema.properties) {
    const members = Object.entries(schema.properties).map(
      ([name, member]) => [name, valuesOf(member)] as const,
    )
    return fc.record(Object.fromEntries(members), { requiredKeys: [...(schema.required ?? [])] })
  }
  if (schema.type === 'object') return fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 3 })
  return fc.oneof(fc.string(), fc.constantFrom('one', 'main', 'A', 'refs/tags/v1', 'k8s'))
}

/** A segment of a path. Where it is "." or "..", a URL has another path. */
const segment = fc.webSegment().filter((text) => !/^\.{1,2}$/.test(text))

/** All but streams, which do not end. */
const targets = OPERATIONS.filter(({ answers }) =>
  Object.values(answers).every((answer) => answer === null || !('mediaType' in answer)),
).map(({ method, path: pattern }) => {
  const path = pattern.replaceAll(/:(\w+)/g, '{$1}')
  return { method, path, ...document.paths[path]![method.toLowerCase()]! }
})

test('no request makes the server fail, whatever it has, and every answer is in the document', async () => {
  const served = serve()
  const { id, latest_revision_id } = await created(served)
  const requests = fc.constantFrom(...targets).chain((spec) =>
    fc.record({
      method: fc.constant(spec.method),
      path: fc
        .tuple(fc.oneof({ weight: 4, arbitrary: fc.constant(id) }, fc.uuid(), segment), segment)
        .map(([deployment, other]) =>
          spec.path
            .replace('{deployment_id}', deployment || id)
            .replace('{revision_id}', latest_revision_id)
            .replace(/\{\w+\}/, other || id),
        ),
      query: fc.record(
        Object.fromEntries(
          (spec.parameters ?? []).flatMap(({ in: place, name, schema }) =>
            place === 'query' ? [[name, valuesOf(schema as JsonSchema)]] : [],
          ),
        ),
        { requiredKeys: [] },
      ),
      body: spec.requestBody
        ? valuesOf(spec.requestBody.content['application/json']!.schema as JsonSchema)
        : fc.constant(undefined),
    }),
  )
  await fc.assert(
    fc.asyncProperty(requests, async ({ method, path, query, body }) => {
      const search = new URLSearchParams(
        Object.entries(query).map(([name, value]) => [
          name,
          // An object has a text even if it has a field `toString`.
          typeof value === 'string' ? value : JSON.stringify(value),
        ]),
      )
      // A request with a failure of the server throws in `ask`.
      const { status } = await served.ask(method, `${path}?${search}`, body)
      expect(status).toBeLessThan(500)
    }),
    { numRuns: 300 },
  )
})

test('names of prototypes are no fields', async () => {
  const served = serve()
  const body = `{"__proto__":{"name":"x"},"constructor":1,${JSON.stringify(GITHUB).slice(1)}`
  const { status, body: answer } = await served.ask('POST', '/v2/deployments', body)
  expect([status, answer.name]).toEqual([201, 'one'])
  expect(({} as { name?: string }).name).toBeUndefined()
})

test('of many creations at once with one name, one wins', async () => {
  const served = serve()
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => served.ask('POST', '/v2/deployments', GITHUB)),
  )
  expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(9).fill(409)])
})

test('of many changes at once none is lost', async () => {
  const served = serve()
  const { id } = await created(served)
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, n) =>
      served.ask('PATCH', `/v2/deployments/${id}`, { source_revision_config: { repo_ref: `r${n}` } }),
    ),
  )
  expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200))
  const { resources } = (await served.ask('GET', `/v2/deployments/${id}/revisions?limit=100`)).body
  expect(resources.map((one: { revision_number: number }) => one.revision_number)).toEqual([
    11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1,
  ])
  const refs = resources
    .slice(0, 10)
    .map((one: { source_revision_config: { repo_ref: string } }) => one.source_revision_config.repo_ref)
  expect(new Set(refs).size).toBe(10)
})
