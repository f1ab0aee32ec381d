import { afterEach, expect, test, vi } from 'vitest'
import { uuid7 } from '../src/core/ids.ts'

afterEach(() => void vi.useRealTimers())

const FORM = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const timeOf = (id: string): number => Number.parseInt(id.replace('-', '').slice(0, 12), 16)

test('ids sort in the order that they were made in, within a millisecond and when the clock is set back', () => {
  vi.useFakeTimers()
  const now = Date.now()
  const many = () => Array.from({ length: 10_000 }, () => uuid7())
  const ids = many()
  vi.setSystemTime(now - 60_000)
  ids.push(...many())
  vi.setSystemTime(now + 60_000)
  ids.push(...many())
  expect(ids).toEqual(ids.toSorted())
  expect(new Set(ids).size).toBe(ids.length)
  expect(ids.every((id) => FORM.test(id))).toBe(true)
  expect(timeOf(ids[0]!) - now).toBeLessThan(5)
  expect(timeOf(ids.at(-1)!) - now - 60_000).toBeLessThan(10)
})

test('an id of a given time has that time, whatever was made before', () => {
  uuid7()
  const id = uuid7(1_000)
  expect(timeOf(id)).toBe(1_000)
  expect(id).toMatch(FORM)
})
