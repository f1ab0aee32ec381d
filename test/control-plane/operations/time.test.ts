import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isoTime } from '../../../src/control-plane/present/time.ts'

test('times are written as JavaScript writes them', () => {
  const days = [0, 86_399_999, 86_400_000, Date.UTC(2024, 1, 29, 23, 59, 59, 999), -1, Date.UTC(12_345, 0)]
  for (const at of days) expect(isoTime(at)).toBe(new Date(at).toISOString())
  fc.assert(
    fc.property(fc.date({ noInvalidDate: true }), (date) => {
      expect(isoTime(date.getTime())).toBe(date.toISOString())
    }),
  )
  expect(() => isoTime(Number.NaN)).toThrow(RangeError)
})
