import { expect, test } from 'vitest'
import { OPERATIONS } from '../../../src/control-plane/operations/all.ts'
import { checkValue, read } from '../support/check-value.ts'

/** Processor time in milliseconds. What is quadratic takes many seconds. */
const BUDGET = 1_500

function processorTime(work: () => unknown): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}

test.each(['0x', '.x', '0.0x', '0e0x', ' x', '-x'])(
  'a number of 80 kB that ends in %s is rejected at once',
  (end) => {
    const text = '0'.repeat(80_000) + end
    const took = processorTime(() => {
      for (const type of ['number', 'integer'] as const)
        expect(checkValue({ type }, text).problems).toHaveLength(1)
      expect(checkValue({ type: 'number' }, end.repeat(40_000)).problems).toHaveLength(1)
    })
    expect(took).toBeLessThan(BUDGET)
  },
)

const bodies = OPERATIONS.flatMap(({ method, path, body }) =>
  body ? [[`${method} ${path}`, body] as const] : [],
)
const FIELDS = Object.fromEntries(Array.from({ length: 300_000 }, (_, at) => [`k${at}`, '0']))

/** Counted, and not timed: no busy machine changes it. */
test.each(bodies)('%s: the fields of a body of 300,000 unknown ones are read at most once', (_, schema) => {
  let count = 0
  const body = new Proxy(FIELDS, {
    get(fields, name) {
      if (Object.hasOwn(fields, name)) count++
      return Reflect.get(fields, name)
    },
  })
  read(schema, body, ['body'])
  expect(count).toBeLessThanOrEqual(300_000)
})
