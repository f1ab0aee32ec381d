import fc from 'fast-check'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { retry, retryOnConflict } from '../../../src/storage/coordination/retry.ts'
import { ConflictError } from '../../../src/storage/errors.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const outcome = (work: Promise<unknown>) =>
  work.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  )

test('conflicts are retried up to a hundred times within ten seconds, and nothing else is', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 0, max: 103 }),
      fc.boolean(),
      fc.boolean(),
      async (conflicts, succeeds, hasError) => {
        const last = new Error('The attempt failed.')
        const tooMany = new Error('It is busy.')
        const thrown: ConflictError[] = []
        let attempts = 0
        const attempt = async () => {
          attempts++
          if (attempts <= conflicts) {
            thrown.push(new ConflictError('Another was first.'))
            throw thrown.at(-1)
          }
          if (!succeeds) throw last
          return attempts
        }
        const start = performance.now()
        const work = outcome(hasError ? retryOnConflict(attempt, () => tooMany) : retryOnConflict(attempt))
        await vi.runAllTimersAsync()
        const isGivenUp = conflicts > 100
        expect(await work).toEqual(
          isGivenUp
            ? { error: hasError ? tooMany : thrown.at(-1) }
            : succeeds
              ? { value: conflicts + 1 }
              : { error: last },
        )
        expect(attempts).toBe(Math.min(conflicts, 100) + 1)
        // Up to four conflicts cost no time.
        expect(performance.now() - start).toBeLessThanOrEqual(conflicts <= 4 ? 0 : 20_000)
      },
    ),
  )
})

test('failures that may pass are retried until their time is over, whatever the wall clock does', async () => {
  const failure = fc.record({
    takesMs: fc.integer({ min: 0, max: 300 }),
    mayPass: fc.boolean(),
    jumpMs: fc.integer({ min: -1_000_000, max: 1_000_000 }),
  })
  await fc.assert(
    fc.asyncProperty(
      fc.array(failure, { maxLength: 12 }),
      fc.integer({ min: 0, max: 1_000 }),
      fc.option(fc.integer({ min: 0, max: 1_000 })),
      async (failures, forMs, abortAtMs) => {
        const stop = new AbortController()
        if (abortAtMs !== null) setTimeout(() => stop.abort(), abortAtMs)
        const thrown: { readonly error: Error; readonly at: number; readonly mayPass: boolean }[] = []
        const begun: number[] = []
        const isRetryable = (error: unknown) => thrown.find((one) => one.error === error)!.mayPass
        const options = { isRetryable, forMs, firstMs: 10, maxMs: 100, signals: [stop.signal] }
        const work = outcome(
          retry(async () => {
            const next = failures[begun.length]
            begun.push(performance.now())
            if (!next) return 'done'
            await new Promise((resolve) => setTimeout(resolve, next.takesMs))
            vi.setSystemTime(Math.max(0, Date.now() + next.jumpMs))
            const error = new Error(`failure ${begun.length}`)
            thrown.push({ error, at: performance.now(), mayPass: next.mayPass })
            throw error
          }, options),
        )
        const start = performance.now()
        await vi.runAllTimersAsync()
        // The model: the first failure that ends it is the one that is thrown.
        const abortedAt = start + (abortAtMs ?? Number.POSITIVE_INFINITY)
        const ends = thrown.findIndex(
          ({ at, mayPass }) => !mayPass || at >= thrown[0]!.at + forMs || at > abortedAt,
        )
        const isDecided = thrown.every(({ at }) => at !== abortedAt)
        fc.pre(isDecided)
        expect(await work).toEqual(ends < 0 ? { value: 'done' } : { error: thrown[ends]!.error })
        expect(begun.length).toBe(ends < 0 ? failures.length + 1 : ends + 1)
        for (const [index, { at }] of thrown.slice(0, -1).entries()) {
          const full = Math.min(100, 10 * 2 ** index)
          const waited = begun[index + 1]! - at
          expect(waited).toBeLessThanOrEqual(full)
          if (at + full < abortedAt) expect(waited).toBeGreaterThanOrEqual(Math.floor(full * 0.75))
          expect(begun[index + 1]! > at || at >= abortedAt || full === 0).toBe(true)
        }
      },
    ),
  )
})
