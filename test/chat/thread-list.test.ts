import { describe, expect, it } from 'vitest'
import { byDay, timeName } from '../../examples/chat/lib/thread-list.ts'
import type { ThreadEntry } from '../../src/clients/react/index.ts'

const now = new Date(2026, 10, 22, 14, 0)
const entry = (title: string, updatedAt: Date): ThreadEntry => ({
  id: title,
  title,
  updatedAt,
  status: 'idle',
  assistantId: 'agent',
  metadata: {},
})
const at = (day: number, hour = 12) => new Date(2026, 10, day, hour)

describe('the list of threads', () => {
  it('is grouped by the days of the user, in its own order', () => {
    const entries = [at(22, 9), at(22, 0), at(21, 23), at(18), at(15)].map((date, n) => entry(`t${n}`, date))
    expect(byDay(entries, now).map((day) => [day.name, day.entries.length])).toEqual([
      ['Today', 2],
      ['Yesterday', 1],
      ['Wednesday', 1],
      ['November 15, 2026', 1],
    ])
  })

  it('takes a clock of the server that is ahead for today', () => {
    expect(byDay([entry('t', at(23, 1))], now)[0]?.name).toBe('Today')
  })

  it('says how long ago it was today, and the time of an earlier day', () => {
    const minutesAgo = (minutes: number) => timeName(new Date(now.getTime() - minutes * 60_000), now)
    expect([0, 1, 59, 60, 839].map(minutesAgo)).toEqual(['now', '1m ago', '59m ago', '1h ago', '13h ago'])
    expect(timeName(at(21, 9), now)).toBe('09:00')
  })
})
