import fc from 'fast-check'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { holdLease, type LeaseOptions } from '../../../src/storage/coordination/hold-lease.ts'
import { FencedError } from '../../../src/storage/errors.ts'

const TTL_MS = 900
/** What `jitter` makes a third of it, where its random part is nothing. */
const EVERY_MS = TTL_MS / 3

beforeEach(() => {
  vi.useFakeTimers()
  vi.spyOn(Math, 'random').mockReturnValue(0.5)
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

interface Answer {
  readonly afterMs: number
  readonly how: 'renewed' | 'failed' | 'fenced'
  /** How far the wall clock jumps meanwhile. */
  readonly jumpMs: number
}

const answer: fc.Arbitrary<Answer> = fc.record({
  // Never at the moment when something else happens.
  afterMs: fc.oneof(fc.integer({ min: 1, max: 298 }), fc.constantFrom(451, 751, Number.POSITIVE_INFINITY)),
  how: fc.constantFrom('renewed', 'renewed', 'renewed', 'failed', 'failed', 'fenced'),
  jumpMs: fc.integer({ min: -10_000_000, max: 10_000_000 }),
})

interface Course {
  readonly askedAt: readonly number[]
  readonly lostAt: number | undefined
}

/** What becomes of a lease that only its renewals change, until as many were sent as there are answers. */
function modelOf(answers: readonly Answer[], retakesExpired: boolean): Course {
  const askedAt: number[] = []
  let at = 0
  let heldUntil = TTL_MS
  for (const { afterMs, how } of answers) {
    at += EVERY_MS
    askedAt.push(at)
    const isAnswered = afterMs < TTL_MS
    const endsAt = at + Math.min(afterMs, TTL_MS)
    if (isAnswered && how === 'fenced') return { askedAt, lostAt: endsAt }
    if (isAnswered && how === 'renewed') heldUntil = at + TTL_MS
    else if (!retakesExpired && (!isAnswered || endsAt >= heldUntil)) return { askedAt, lostAt: endsAt }
    at = endsAt
  }
  return { askedAt, lostAt: undefined }
}

async function observe(
  answers: readonly Answer[],
  options: Omit<LeaseOptions, 'ttlMs' | 'renew'> = {},
): Promise<Course> {
  const begin = performance.now()
  const elapsed = () => Math.round(performance.now() - begin)
  const askedAt: number[] = []
  const renew = () =>
    new Promise<void>((resolve, reject) => {
      const { afterMs, how, jumpMs } = answers[askedAt.length] ?? NONE
      askedAt.push(elapsed())
      vi.setSystemTime(Math.max(0, Date.now() + jumpMs))
      if (afterMs === Number.POSITIVE_INFINITY) return
      const outcome = { renewed: undefined, failed: new Error('away'), fenced: new FencedError('taken') }[how]
      setTimeout(() => (outcome ? reject(outcome) : resolve()), afterMs)
    })
  const lease = holdLease({ ttlMs: TTL_MS, renew, ...options })
  let lostAt: number | undefined
  lease.signal.addEventListener('abort', () => {
    lostAt = elapsed()
  })
  while (lostAt === undefined && askedAt.length <= answers.length) await vi.advanceTimersByTimeAsync(1)
  expect(lease.isLost).toBe(lostAt !== undefined)
  const seen = { askedAt: askedAt.slice(0, answers.length), lostAt }
  lease.end()
  await vi.advanceTimersByTimeAsync(3 * TTL_MS)
  expect(lease.signal.reason).toBeInstanceOf(FencedError)
  expect(lease.isLost).toBe(seen.lostAt !== undefined)
  expect(vi.getTimerCount()).toBe(0)
  return seen
}

const NONE: Answer = { afterMs: Number.POSITIVE_INFINITY, how: 'renewed', jumpMs: 0 }

for (const retakesExpired of [false, true])
  test(`a lease ${retakesExpired ? 'that may be taken again after it expired' : 'that is over when it expires'} is renewed and lost as its model, whatever the wall clock does, and leaves no timer`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(answer, { minLength: 1, maxLength: 8 }), async (answers) => {
        const { askedAt, lostAt } = await observe(answers, { retakesExpired })
        expect({ askedAt, lostAt }).toEqual(modelOf(answers, retakesExpired))
      }),
      { numRuns: 60 },
    )
  })

test('a commit that extends the lease counts as a renewal, one that it only guards does not', async () => {
  const renew = vi.fn(async () => {})
  const lease = holdLease({ ttlMs: TTL_MS, renew })
  for (let i = 0; i < 5; i++) {
    await vi.advanceTimersByTimeAsync(EVERY_MS - 1)
    expect(await lease.extend(async () => i)).toBe(i)
  }
  expect(renew).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(EVERY_MS - 1)
  expect(await lease.guard(async () => 'done')).toBe('done')
  await vi.advanceTimersByTimeAsync(1)
  expect(renew).toHaveBeenCalledOnce()
  lease.end()
})

test('commits that extend the lease run one after another, and nothing runs once it is lost', async () => {
  const lease = holdLease({ ttlMs: TTL_MS, renew: async () => {} })
  const steps: string[] = []
  const step = (name: string, ms: number) =>
    lease.extend(async () => {
      steps.push(`${name} begins`)
      await new Promise((resolve) => setTimeout(resolve, ms))
      steps.push(`${name} ends`)
    })
  const done = Promise.all([step('first', 20), step('second', 10)])
  await vi.advanceTimersByTimeAsync(30)
  await done
  expect(steps).toEqual(['first begins', 'first ends', 'second begins', 'second ends'])

  const refused = lease.guard(async () => {
    throw new FencedError('taken')
  })
  await expect(refused).rejects.toThrow('taken')
  expect(lease.isLost).toBe(true)
  const run = vi.fn(async () => {})
  await expect(lease.guard(run)).rejects.toBeInstanceOf(FencedError)
  await expect(lease.extend(run)).rejects.toBeInstanceOf(FencedError)
  expect(run).not.toHaveBeenCalled()
})

test('an error that is not about the lease leaves it held', async () => {
  const lease = holdLease({ ttlMs: TTL_MS, renew: async () => {} })
  const failing = lease.guard(async () => {
    throw new Error('away')
  })
  await expect(failing).rejects.toThrow('away')
  expect(lease.signal.aborted).toBe(false)
  lease.end()
  expect(lease.isLost).toBe(false)
})

test('a lease whose claim took long expires sooner', async () => {
  const claimedAt = performance.now() - TTL_MS + 100
  const failed = { afterMs: 1, how: 'failed', jumpMs: 0 } as const
  expect(await observe([failed], { claimedAt })).toMatchObject({ lostAt: EVERY_MS + 1 })
})
