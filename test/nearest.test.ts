import { expect, test } from 'vitest'
import { nearest } from '../src/core/nearest.ts'

test('a misspelled name is found, and another word is not', () => {
  expect(nearest('message', ['messages', 'values'])).toBe('messages')
  expect(nearest('weather', ['messages', 'values'])).toBeUndefined()
})

test('a long text is compared with no name', () => {
  const before = process.cpuUsage()
  expect(nearest('A'.repeat(4_000_000), Array(50).fill('run.start'))).toBeUndefined()
  expect(process.cpuUsage(before).user / 1_000).toBeLessThan(500)
})
