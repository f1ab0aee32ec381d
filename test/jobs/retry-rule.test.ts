import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DeliveryError, type DeliveryErrorCode } from '../../src/core/egress/errors.ts'
import { nextDelay, RETRY_FOR_A_DAY } from '../../src/storage/jobs/kind.ts'

const CODES: readonly DeliveryErrorCode[] = ['rejected', 'redirected', 'failed', 'unreachable', 'timeout']

const rule = fc.record({
  firstMs: fc.integer({ min: 1, max: 10_000 }),
  maxMs: fc.integer({ min: 1, max: 1_000_000 }),
  giveUpAfterMs: fc.integer({ min: 1, max: 1_000_000 }),
})
const attempt = fc.record({
  failures: fc.nat(2_000),
  failingMs: fc.nat(2_000_000),
  error: fc.oneof(
    fc.constant(new Error('fault')),
    fc
      .record({
        code: fc.constantFrom(...CODES),
        retryAfterMs: fc.option(fc.nat(10_000_000), { nil: undefined }),
      })
      .map(({ code, retryAfterMs }) => new DeliveryError(code, 'no', { retryAfterMs })),
  ),
})

test('a job is given up exactly when it failed for too long or is refused for good; else it waits twice as long each time or what is asked for, up to the limit', () => {
  fc.assert(
    fc.property(rule, attempt, (rule, { error, failures, failingMs }) => {
      const delay = nextDelay(rule, { error, failures, failingMs })
      const isRefused = error instanceof DeliveryError && ['rejected', 'redirected'].includes(error.code)
      if (isRefused || failingMs >= rule.giveUpAfterMs) {
        expect(delay).toBeUndefined()
        return
      }
      const doubled = Math.min(rule.firstMs * 2 ** failures, rule.maxMs)
      const asked = error instanceof DeliveryError ? (error.retryAfterMs ?? 0) : 0
      expect(delay).toBeGreaterThanOrEqual(Math.min(Math.max(doubled * 0.75, asked), rule.maxMs))
      expect(delay).toBeLessThanOrEqual(Math.min(Math.max(doubled, asked), rule.maxMs))
    }),
  )
})

test('deliveries wait 1 second first and 5 minutes at most, and are given up after a day', () => {
  expect(RETRY_FOR_A_DAY).toEqual({ firstMs: 1_000, maxMs: 300_000, giveUpAfterMs: 24 * 3_600_000 })
})
