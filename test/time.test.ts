import fc from 'fast-check'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { backoff, jitter, pause, sleep, startTimer } from '../src/core/time.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('a pause ends at its time or with the first signal, whatever the wall clock does, and leaves nothing behind', async () => {
  const delay = fc.oneof(fc.integer({ min: 1, max: 1_000 }), fc.constant(Number.POSITIVE_INFINITY))
  await fc.assert(
    fc.asyncProperty(
      delay,
      fc.array(fc.integer({ min: 0, max: 1_000 }), { maxLength: 3 }),
      fc.integer({ min: -1_000_000, max: 1_000_000 }),
      async (ms, aborts, jump) => {
        fc.pre(ms < Number.POSITIVE_INFINITY || aborts.length > 0)
        const start = performance.now()
        const stops = aborts.map((at) => {
          const stop = new AbortController()
          if (at === 0) stop.abort()
          else setTimeout(() => stop.abort(), at)
          return stop.signal
        })
        const listening = stops.map((signal) => {
          let count = 0
          const add = signal.addEventListener.bind(signal)
          const remove = signal.removeEventListener.bind(signal)
          signal.addEventListener = (...args: Parameters<typeof add>) => {
            count++
            add(...args)
          }
          signal.removeEventListener = (...args: Parameters<typeof remove>) => {
            count--
            remove(...args)
          }
          return () => count
        })
        let endedAt: number | undefined
        const paused = pause(ms, ...stops).then(() => (endedAt = performance.now() - start))
        vi.setSystemTime(Date.now() + jump)
        await vi.runAllTimersAsync()
        await paused
        expect(endedAt).toBe(Math.min(ms, ...aborts))
        expect(vi.getTimerCount()).toBe(0)
        expect(listening.map((count) => count())).toEqual(stops.map(() => 0))
      },
    ),
  )
})

test('sleep rejects with the reason of a signal that aborts before its time, and only then', async () => {
  const at = fc.integer({ min: 0, max: 1_000 })
  await fc.assert(
    fc.asyncProperty(at, at, async (ms, abortAt) => {
      fc.pre(ms !== abortAt)
      const stop = new AbortController()
      const reason = new Error('It was stopped.')
      if (abortAt === 0) stop.abort(reason)
      else setTimeout(() => stop.abort(reason), abortAt)
      const slept = sleep(ms, stop.signal).then(
        () => 'slept',
        (error) => error,
      )
      await vi.runAllTimersAsync()
      expect(await slept).toBe(abortAt < ms ? reason : 'slept')
    }),
  )
})

test('the delay doubles up to its most, and is shorter than that by less than a quarter', () => {
  const ms = fc.integer({ min: 1, max: 60_000 })
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2_000 }), ms, ms, (attempt, firstMs, maxMs) => {
      let full = Math.min(firstMs, maxMs)
      for (let doubled = 0; doubled < attempt && full < maxMs; doubled++) full = Math.min(full * 2, maxMs)
      const delay = backoff(attempt, firstMs, maxMs)
      expect(delay).toBeLessThanOrEqual(full)
      expect(delay).toBeGreaterThan(full * 0.75 - 1e-6)
    }),
  )
  const some = Array.from({ length: 20 }, () => backoff(3, 100, 10_000))
  expect(new Set(some).size).toBeGreaterThan(1)
})

test('the random part of a time is a quarter of it more or less', () => {
  const some = Array.from({ length: 200 }, () => jitter(1_000))
  expect(Math.min(...some)).toBeGreaterThanOrEqual(750)
  expect(Math.max(...some)).toBeLessThan(1_250)
  expect(Math.max(...some) - Math.min(...some)).toBeGreaterThan(250)
})

test('a timer that is started calls back once, at its time, and keeps no process alive', () => {
  vi.useRealTimers()
  const waiting = startTimer(60_000, () => {})
  expect(waiting.hasRef()).toBe(false)
  clearTimeout(waiting)
  vi.useFakeTimers()
  const callback = vi.fn()
  startTimer(100, callback)
  vi.advanceTimersByTime(99)
  expect(callback).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1_000)
  expect(callback).toHaveBeenCalledOnce()
})
