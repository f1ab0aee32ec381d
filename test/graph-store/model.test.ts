import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  createGraphStore,
  type GraphStore,
  type GraphStoreOperation,
} from '../../src/storage/graph-store/index.ts'
import { DATABASES } from '../kit/databases.ts'

/** What a store for graphs is, in a few lines: items in a list, the last changed at its end. */
interface ModelItem {
  readonly namespace: readonly string[]
  readonly key: string
  readonly value: Readonly<Record<string, unknown>>
}

const isSame = (a: Pick<ModelItem, 'namespace' | 'key'>, b: Pick<ModelItem, 'namespace' | 'key'>) =>
  JSON.stringify([a.namespace, a.key]) === JSON.stringify([b.namespace, b.key])

const begins = (namespace: readonly string[], prefix: readonly string[]) =>
  prefix.every((label, index) => label === '*' || namespace[index] === label) &&
  prefix.length <= namespace.length

function apply(model: readonly ModelItem[], operations: readonly GraphStoreOperation[]) {
  const results = operations.map((operation) => {
    if ('namespacePrefix' in operation) {
      const { namespacePrefix, filter = {} } = operation
      return model
        .filter(({ namespace }) => begins(namespace, namespacePrefix))
        .filter(({ value }) => Object.entries(filter).every(([field, wanted]) => value[field] === wanted))
        .map(({ namespace, key, value }) => ({ namespace, key, value }))
    }
    if ('value' in operation) return null
    if ('key' in operation) {
      const found = model.find((item) => isSame(item, operation))
      return found ? { namespace: found.namespace, key: found.key, value: found.value } : null
    }
    const { matchConditions = [], maxDepth } = operation
    const matching = model.filter(({ namespace }) =>
      matchConditions.every(({ matchType, path }) =>
        matchType === 'prefix'
          ? begins(namespace, path)
          : begins([...namespace].reverse(), [...path].reverse()),
      ),
    )
    return [...new Set(matching.map(({ namespace }) => JSON.stringify(namespace.slice(0, maxDepth))))].sort()
  })
  let next = model
  for (const operation of operations) {
    if (!('value' in operation)) continue
    next = next.filter((item) => !isSame(item, operation))
    const { namespace, key, value } = operation
    if (value !== null) next = [...next, { namespace, key, value }]
  }
  return { model: next, results }
}

/** Results without their times, in an order that does not depend on the clock. */
function comparable(operation: GraphStoreOperation, result: unknown): unknown {
  const bare = (item: ModelItem) => ({ namespace: item.namespace, key: item.key, value: item.value })
  if ('namespacePrefix' in operation)
    return (result as ModelItem[]).map(bare).sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
  if ('value' in operation) return result
  if ('key' in operation) return result && bare(result as ModelItem)
  return (result as unknown[])
    .map((namespace) => (typeof namespace === 'string' ? namespace : JSON.stringify(namespace)))
    .sort()
}

const label = fc.constantFrom('a', 'b', 'ä:€', '__proto__')
const namespace = fc.array(label, { minLength: 1, maxLength: 3 })
const key = fc.constantFrom('k', 'constructor', '', '✓ 1')
const value = fc.record({ kind: fc.constantFrom('x', 'y'), n: fc.integer({ min: 0, max: 3 }) })
const pattern = fc.array(fc.oneof(label, fc.constant('*')), { maxLength: 2 })

const operation: fc.Arbitrary<GraphStoreOperation> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ namespace, key, value }) },
  { weight: 2, arbitrary: fc.record({ namespace, key, value: fc.constant(null) }) },
  { weight: 2, arbitrary: fc.record({ namespace, key }) },
  {
    weight: 2,
    arbitrary: fc.record(
      {
        namespacePrefix: fc.array(label, { maxLength: 2 }),
        filter: fc.record({ kind: fc.constantFrom('x', 'y') }),
        limit: fc.constant(1_000),
      },
      { requiredKeys: ['namespacePrefix', 'limit'] },
    ),
  },
  {
    weight: 2,
    arbitrary: fc.record(
      {
        matchConditions: fc.array(
          fc.record({ matchType: fc.constantFrom('prefix' as const, 'suffix' as const), path: pattern }),
          { maxLength: 2 },
        ),
        maxDepth: fc.integer({ min: 1, max: 2 }),
        limit: fc.constant(1_000),
        offset: fc.constant(0),
      },
      { requiredKeys: ['matchConditions', 'limit', 'offset'] },
    ),
  },
)

const step = fc.record({
  owner: fc.constantFrom(null, 'ann', 'bob'),
  operations: fc.array(operation, { minLength: 1, maxLength: 4 }),
})

const runs = (name: string) => Number(process.env.SEQUENCES ?? (name === 'memory' ? 60 : 8))

describe.each(Object.entries(DATABASES))('a store for graphs over %s', (name, create) => {
  test('does what the model does, for each owner apart', { timeout: 240_000 }, async () => {
    const open = await create()
    let round = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
        const { store } = await open()
        const owners = `${++round}`
        const stores = new Map<string | null, GraphStore>()
        const models = new Map<string | null, readonly ModelItem[]>()
        for (const { owner, operations } of steps) {
          if (!stores.has(owner)) stores.set(owner, createGraphStore(store, `${owners} ${owner}`))
          const expected = apply(models.get(owner) ?? [], operations)
          const results = await stores.get(owner)!.batch(operations)
          models.set(owner, expected.model)
          for (const [index, one] of operations.entries())
            expect(comparable(one, results[index])).toEqual(comparable(one, expected.results[index]))
        }
      }),
      { numRuns: runs(name) },
    )
  })
})
