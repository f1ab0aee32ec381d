import { expect, test } from 'vitest'
import { costText } from '../../../../src/ops/devtools/page/model/text.ts'
import { callOf, totalsOf } from '../../../../src/ops/devtools/page/model/usage.ts'
import { CACHED, LARGE, THINKING } from '../../trips.ts'

const prices = {
  'atlas-small': { input: 1, output: 4, cache_read: 0.1, cache_write: 1.25 },
  '*': { input: 10, output: 10, cache_read: 10, cache_write: 10 },
}
const totals = (usage: object, metadata: object = {}) => totalsOf(callOf(usage, metadata)!, prices)

test('a price is for the tokens that its cache has not read or written, for those, and for the output', () => {
  const told = totals(CACHED, { model_name: 'atlas-small' })
  expect(told).toMatchObject({ calls: 1, input: 1_200, output: 300, cacheRead: 1_000, cacheWrite: 100 })
  // 100 × 1 + 1,000 × 0.1 + 100 × 1.25 + 300 × 4, in millionths.
  expect(told.cost).toBeCloseTo(0.001525, 10)
  expect(totals(THINKING)).toMatchObject({ reasoning: 120, cost: 0.015 })
})

test.each([
  ['atlas-small-2026-01-31', true],
  ['atlas-small-20260131', true],
  ['atlas-small@001', true],
  ['atlas-small-fast', false],
  ['other', false],
])('the price of a model is that of %s without its date: %s', (model, isPriced) => {
  expect(totals(LARGE, { model_name: model }).priced).toBe(isPriced ? 1 : 0)
})

test('what the provider says it has cost comes first, and a service tier has no price of the base', () => {
  const small = { model_name: 'atlas-small' }
  expect(totals({ ...LARGE, total_cost: 0.5 }, small)).toMatchObject({ cost: 0.5, priced: 1 })
  expect(totals({ ...LARGE, input_cost: 0.5, output_cost: 0.25 }, small).cost).toBe(0.75)
  expect(totals(LARGE, { model_name: 'other', usage: { cost: 0.125 } }).cost).toBe(0.125)
  const tier = { ...LARGE, input_token_details: { priority_cache_read: 200, priority: 1_000 } }
  expect(totals(tier, small)).toMatchObject({ cacheRead: 200, cost: 0, priced: 0 })
})

test('a message without usage is no call', () => {
  expect(callOf(undefined, { model_name: 'atlas-small' })).toBe(undefined)
})

test('small amounts keep the digits that tell them apart', () => {
  expect([0, 0.0000042, 0.001525, 0.25, 12.345].map(costText)).toEqual([
    '$0.00',
    '$0.0000042',
    '$0.00153',
    '$0.25',
    '$12.35',
  ])
})
