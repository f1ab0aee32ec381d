import { expect, test } from 'vitest'
import { memoryStorage } from '../src/storage/memory/storage.ts'
import { callsOf, OPERATIONS } from './kit/operations.ts'

/** Counted, and not timed: no busy machine changes them. */
test.each(OPERATIONS)('$name makes at most $budget calls of the storage', async (operation) => {
  const { made, from } = await callsOf(operation, memoryStorage())
  const sources = from()
  const told = made.map((call, i) => `${call}: ${sources[i]}`).join('\n')
  expect(made.length, told).toBeLessThanOrEqual(operation.budget)
})
