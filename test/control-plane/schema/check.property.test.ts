import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Problem } from '../../../src/control-plane/wire/problems.ts'
import { anyCharacter } from '../../kit/arbitraries.ts'
import { runs } from '../../kit/runs.ts'
import { checkValue, type JsonSchema } from '../support/check-value.ts'

const NAMES = ['a', 'b', '__proto__', 'constructor', 'toString']
/** No object of the API declares a member with a name of Object.prototype: see document.test.ts. */
const DECLARED = ['a', 'b', 'c']
const name = fc.constantFrom(...NAMES)

const bounds = (lower: string, upper: string, max: number) =>
  fc
    .tuple(fc.option(fc.nat(max), { nil: undefined }), fc.option(fc.nat(max), { nil: undefined }))
    .map(([from, length]) => ({
      ...(from !== undefined && { [lower]: from }),
      ...(length !== undefined && { [upper]: (from ?? 0) + length }),
    }))

const { schema } = fc.letrec<{ schema: JsonSchema; one: JsonSchema }>((tie) => ({
  schema: fc.oneof(
    { weight: 4, arbitrary: tie('one') },
    tie('one').map((one): JsonSchema => (one.anyOf ? one : { anyOf: [one, { type: 'null' }] })),
  ),
  one: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom<JsonSchema>(
      {},
      { type: 'boolean' },
      { type: 'string', format: 'uuid' },
      { type: 'string', format: 'date-time' },
      { type: 'string', format: 'password' },
      { type: 'string', enum: ['a', 'b'] },
      { const: 'a' },
      { type: 'object' },
      { type: 'object', additionalProperties: true, properties: { a: { type: 'integer' } } },
    ),
    bounds('minLength', 'maxLength', 3).map((more): JsonSchema => ({ type: 'string', ...more })),
    bounds('minimum', 'maximum', 9).map((more): JsonSchema => ({ type: 'integer', ...more })),
    bounds('minimum', 'maximum', 9).map((more): JsonSchema => ({ type: 'number', ...more })),
    fc
      .tuple(tie('schema'), bounds('minItems', 'maxItems', 3))
      .map(([items, more]): JsonSchema => ({ type: 'array', items, ...more })),
    tie('schema').map((additionalProperties): JsonSchema => ({ type: 'object', additionalProperties })),
    fc.tuple(fc.dictionary(fc.constantFrom(...DECLARED), tie('schema')), fc.subarray(DECLARED)).map(
      ([properties, required]): JsonSchema => ({
        type: 'object',
        properties,
        required: required.filter((one) => Object.hasOwn(properties, one)),
      }),
    ),
  ),
}))

const scalar = fc.oneof(
  fc.constantFrom<unknown>(
    'a',
    'b',
    '',
    '1',
    ' 5.0 ',
    '1_0',
    'true',
    'off',
    '2026-01-02',
    '2026-01-02 03:04',
    '1e3',
    'nan',
  ),
  fc.constantFrom<unknown>(null, true, false, 0, -0, 1, 2.5, 1e300, Number.POSITIVE_INFINITY, 1_767_225_600),
  fc.uuid(),
  fc.uuid().map((id) => id.replaceAll('-', '').toUpperCase()),
  fc
    .date({ noInvalidDate: true, min: new Date('0001-01-02'), max: new Date('9999-12-30') })
    .map((date) => date.toISOString()),
  fc.string({ unit: anyCharacter, maxLength: 4 }),
  fc.integer(),
)
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(name, tie('value')),
  ),
}))

/** A value that is more or less what a schema asks for, so that not only refusals are tried. */
function near(one: JsonSchema): fc.Arbitrary<unknown> {
  if (one.anyOf) return fc.oneof(fc.constant(null), near(one.anyOf[0]!))
  if (one.type === 'array') return fc.array(near(one.items ?? {}), { maxLength: one.maxItems ?? 3 })
  if (one.type === 'object') {
    const members = Object.entries(one.properties ?? {}).map(([key, member]) =>
      near(member).map((given) => [key, given] as const),
    )
    return fc.tuple(...members).map((entries) => Object.fromEntries(entries))
  }
  return fc.oneof({ weight: 1, arbitrary: value }, { weight: 4, arbitrary: scalar })
}

const schemaAndValue = schema.chain((one) =>
  fc.tuple(fc.constant(one), fc.oneof({ weight: 3, arbitrary: near(one) }, value)),
)

const ajv = new Ajv2020({ strict: false, ownProperties: true })
addFormats.default(ajv)

test('what is accepted satisfies the schema, and is accepted again as it is; what is refused names a place of the value', () => {
  const seen = { accepted: 0, refused: 0 }
  fc.assert(
    fc.property(schemaAndValue, ([one, given]) => {
      const before = structuredClone(given)
      const checked = checkValue(one, given, ['body'])
      expect(given).toEqual(before)
      if (checked.problems) {
        seen.refused++
        expect(checked.problems.length).toBeGreaterThan(0)
        for (const problem of checked.problems) expectPlace(given, problem)
        JSON.stringify(checked.problems)
      } else {
        seen.accepted++
        const validate = ajv.compile(one)
        if (!validate(checked.value))
          throw new Error(`${ajv.errorsText(validate.errors)} of ${JSON.stringify(checked.value)}`)
        expect(checkValue(one, checked.value)).toEqual({ value: checked.value })
      }
      ajv.removeSchema()
    }),
    { numRuns: runs(2_000) },
  )
  expect(Math.min(seen.accepted, seen.refused)).toBeGreaterThan(50)
})

/** The place is there; that of a missing member is there but for the last step. */
function expectPlace(given: unknown, { type, loc }: Problem): void {
  const steps = type === 'missing' ? loc.slice(1, -1) : loc.slice(1)
  let at = given
  for (const step of steps) {
    expect(Object.hasOwn(at as object, step)).toBe(true)
    at = (at as Record<string | number, unknown>)[step]
  }
  if (type === 'missing') expect(Object.hasOwn(at as object, loc.at(-1)!)).toBe(false)
}

const COUNT = 300_000
const numbers = Object.fromEntries(Array.from({ length: COUNT }, (_, index) => [`field${index}`, index]))
const needs = { type: 'object', properties: { need: { type: 'string' } }, required: ['need'] } as const

test.each<[string, JsonSchema, unknown]>([
  ['unknown members', needs, numbers],
  ['wrong members', { type: 'object', additionalProperties: { type: 'string' } }, numbers],
  ['wrong items', { type: 'array', items: { type: 'string' } }, Object.values(numbers)],
  ['wrong objects', { type: 'array', items: needs }, Object.values(numbers).map((index) => ({ index }))],
  ['a long text', { type: 'integer' }, 'x'.repeat(4_000_000)],
  ['long digits', { type: 'integer' }, '1'.repeat(4_000_000)],
  [
    'long names',
    { type: 'object', additionalProperties: { type: 'string' } },
    { ['x'.repeat(4_000_000)]: 1 },
  ],
  ['a long date', { type: 'string', format: 'date-time' }, '1'.repeat(4_000_000)],
  ['a long UUID', { type: 'string', format: 'uuid' }, '-'.repeat(4_000_000)],
  ['a long text for nothing', { type: 'string', minLength: 4_000_001 }, 'x'.repeat(4_000_000)],
])('a huge value with %s is refused soon, and with little text', (_, one, given) => {
  const before = process.cpuUsage()
  const { problems } = checkValue(one, given)
  const text = JSON.stringify(problems)
  const { user, system } = process.cpuUsage(before)
  expect(problems!.length).toBeGreaterThan(0)
  expect(text.length).toBeLessThan(20_000)
  expect((user + system) / 1_000).toBeLessThan(1_000)
})
