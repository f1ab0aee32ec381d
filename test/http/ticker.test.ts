import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createTicker } from '../../src/core/http/index.ts'

describe('createTicker', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  test('has one timer from the first listener to the last', () => {
    const ticker = createTicker(1_000)
    expect(vi.getTimerCount()).toBe(0)
    const first = vi.fn()
    const second = vi.fn()
    const stopFirst = ticker.add(first)
    const stopSecond = ticker.add(second)
    expect(vi.getTimerCount()).toBe(1)
    vi.advanceTimersByTime(2_000)
    stopFirst()
    stopFirst()
    vi.advanceTimersByTime(1_000)
    expect([first.mock.calls.length, second.mock.calls.length]).toEqual([2, 3])
    stopSecond()
    expect(vi.getTimerCount()).toBe(0)
    ticker.add(first)
    expect(vi.getTimerCount()).toBe(1)
  })

  test('drops a listener that throws, and continues with the others', () => {
    const ticker = createTicker(1_000)
    const broken = vi.fn(() => {
      throw new Error('closed')
    })
    const fine = vi.fn()
    ticker.add(broken)
    const stop = ticker.add(fine)
    vi.advanceTimersByTime(3_000)
    expect([broken.mock.calls.length, fine.mock.calls.length]).toEqual([1, 3])
    stop()
    expect(vi.getTimerCount()).toBe(0)
  })

  test('counts the same function added twice as two', () => {
    const ticker = createTicker(1_000)
    const beat = vi.fn()
    const stop = ticker.add(beat)
    ticker.add(beat)
    stop()
    vi.advanceTimersByTime(1_000)
    expect(beat).toHaveBeenCalledOnce()
  })

  test('lets a listener stop itself and others', () => {
    const ticker = createTicker(1_000)
    const last = vi.fn()
    const stops: (() => void)[] = []
    const stopAll = () => {
      for (const stop of stops) stop()
    }
    stops.push(ticker.add(stopAll))
    stops.push(ticker.add(last))
    vi.advanceTimersByTime(2_000)
    expect(last).not.toHaveBeenCalled()
    expect(vi.getTimerCount()).toBe(0)
  })
})

test('a ticker keeps no process alive', () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
  const before = timers()
  const stop = createTicker(60_000).add(() => {})
  expect(timers()).toBe(before)
  stop()
})
