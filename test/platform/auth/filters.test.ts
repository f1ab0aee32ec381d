import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { equalitiesOf, filterOf, type MetadataFilter, passes } from '../../../src/core/metadata-filter.ts'

const scalar = fc.oneof(fc.constantFrom('a', 'b', '', 0, 1, true, false, null), fc.string())
const key = fc.constantFrom('owner', 'team', 'tags', 'constructor', '__proto__', 'toString')
const metadata = fc.dictionary(key, fc.oneof(scalar, fc.array(scalar), fc.dictionary(key, scalar)))

const { filter } = fc.letrec<{ filter: MetadataFilter; keys: MetadataFilter }>((tie) => ({
  keys: fc.dictionary(
    key,
    fc.oneof(
      scalar,
      fc.record({ $eq: scalar }),
      fc.record({ $contains: fc.oneof(scalar, fc.array(scalar)) }),
      fc.record({ $eq: scalar, $contains: scalar }),
    ),
  ) as fc.Arbitrary<MetadataFilter>,
  filter: fc.oneof(
    { maxDepth: 2 },
    tie('keys'),
    fc
      .tuple(
        tie('keys'),
        fc.record(
          { $or: fc.array(tie('filter'), { maxLength: 3 }), $and: fc.array(tie('filter'), { maxLength: 3 }) },
          { requiredKeys: [] },
        ),
      )
      .map(([keys, logic]) => ({ ...keys, ...logic }) as MetadataFilter),
  ),
}))

/** The rules one by one, as a list of conditions. */
function model(wanted: MetadataFilter, data: Readonly<Record<string, unknown>>): boolean {
  const fields = new Map(Object.entries(data))
  const failed = Object.entries(wanted).find(([name, rule]: [string, unknown]) => {
    if (name === '$and') return !(rule as MetadataFilter[]).every((one) => model(one, data))
    if (name === '$or') return (rule as MetadataFilter[]).every((one) => !model(one, data))
    const { $eq = undefined, $contains = undefined } =
      Object(rule) === rule ? (rule as object as Record<string, unknown>) : { $eq: rule }
    const value = fields.get(name)
    if ($eq !== undefined && !(fields.has(name) && value === $eq)) return true
    if ($contains === undefined) return false
    if (!Array.isArray(value)) return true
    for (const one of Array.isArray($contains) ? $contains : [$contains])
      if (!value.includes(one)) return true
    return false
  })
  return failed === undefined
}

describe('a filter on metadata', () => {
  test('lets through what its rules say, for any filter and any metadata', () => {
    let passed = 0
    fc.assert(
      fc.property(filter, metadata, (wanted, data) => {
        const passesFilter = passes(filterOf(wanted), data)
        expect(passesFilter).toBe(model(wanted, data))
        if (passesFilter) passed += 1
      }),
      { numRuns: 1_000 },
    )
    expect(passed).toBeGreaterThan(30)
  })

  test('a search for its equalities finds all that passes', () => {
    fc.assert(
      fc.property(filter, metadata, (wanted, data) => {
        fc.pre(passes(wanted, data))
        for (const [name, value] of Object.entries(equalitiesOf(wanted))) expect(data[name]).toBe(value)
      }),
    )
  })

  test.each([
    [{ owner: 'ann' }, { owner: 'ann', more: 1 }, true],
    [{ owner: 'ann' }, { owner: 'Ann' }, false],
    [{ owner: 'ann' }, {}, false],
    [{ owner: null }, {}, false],
    [{ owner: null }, { owner: null }, true],
    [{ n: 1 }, { n: '1' }, false],
    [{ owner: { $eq: '' } }, { owner: 'bob' }, false],
    [{ tags: { $contains: 'a' } }, { tags: ['b', 'a'] }, true],
    [{ tags: { $contains: 'a' } }, { tags: 'a' }, false],
    [{ tags: { $contains: ['a', 'b'] } }, { tags: ['b', 'c', 'a'] }, true],
    [{ tags: { $contains: ['a', 'd'] } }, { tags: ['b', 'c', 'a'] }, false],
    [{ tags: { $contains: [] } }, {}, false],
    [{ tags: { $eq: 'x', $contains: 'x' } }, { tags: 'x' }, false],
    [{ $or: [{ owner: 'ann' }, { public: true }] }, { owner: 'bob', public: true }, true],
    [{ $or: [{ owner: 'ann' }, { public: true }] }, { owner: 'bob' }, false],
    [{ $or: [] }, {}, false],
    [{ team: 'red', $or: [{ owner: 'ann' }] }, { owner: 'ann', team: 'blue' }, false],
    [{ $and: [{ owner: 'ann' }, { team: 'red' }] }, { owner: 'ann', team: 'red' }, true],
    [{ $and: [{ owner: 'ann' }, { team: 'red' }] }, { owner: 'ann' }, false],
    [{ constructor: 'x' }, {}, false],
    [{}, {}, true],
  ] as [MetadataFilter, Record<string, unknown>, boolean][])('%j on %j is %s', (wanted, data, expected) => {
    expect(passes(filterOf(wanted), data)).toBe(expected)
  })

  test.each([
    [undefined, 'filter:'],
    [[], 'filter:'],
    ['ann', 'filter:'],
    [{ owner: undefined }, 'filter.owner:'],
    [{ owner: ['ann'] }, 'filter.owner:'],
    [{ owner: {} }, 'filter.owner:'],
    [{ owner: { $ne: 'bob' } }, 'filter.owner.$ne:'],
    [{ owner: { $eq: undefined } }, 'filter.owner.$eq:'],
    [{ owner: { $eq: ['ann'] } }, 'filter.owner.$eq:'],
    [{ owner: { $contains: [['ann']] } }, 'filter.owner.$contains:'],
    [{ owner: { $eq: 'ann', $in: ['bob'] } }, 'filter.owner.$in:'],
    [{ owner: () => true }, 'filter.owner:'],
    [{ $or: { owner: 'ann' } }, 'filter.$or:'],
    [{ $or: [{ owner: undefined }] }, 'filter.$or.0.owner:'],
    [{ $and: ['ann'] }, 'filter.$and.0:'],
  ])('%j is none, and the error names the place', (value, place) => {
    expect(() => filterOf(value)).toThrow(TypeError)
    expect(() => filterOf(value)).toThrow(place)
  })
})
