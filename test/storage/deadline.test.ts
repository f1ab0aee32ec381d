import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createDeadline, inTime, Late } from '../../src/storage/deadline.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

const never = new Promise<never>(() => {})
const outcome = (work: Promise<unknown>) =>
  work.then(
    (value) => ({ value }),
    (error: Error) => ({ error }),
  )

describe.each([
  ['a value', () => Promise.resolve(1), { value: 1 }],
  ['an error', () => Promise.reject(new Error('why')), { error: new Error('why') }],
] as const)('a call that gives %s in time', (_, work, result) => {
  test('settles with it, and leaves neither a timer nor a listener', async () => {
    const abort = new AbortController()
    const removed = vi.spyOn(abort.signal, 'removeEventListener')
    const added = vi.spyOn(abort.signal, 'addEventListener')
    expect(await outcome(inTime(100, abort.signal, work()))).toEqual(result)
    expect(vi.getTimerCount()).toBe(0)
    expect(removed.mock.calls).toEqual(added.mock.calls)
    expect(added).toHaveBeenCalledOnce()
  })

  test('needs no signal', async () => {
    expect(await outcome(inTime(100, undefined, work()))).toEqual(result)
    expect(vi.getTimerCount()).toBe(0)
  })
})

test('a call that takes longer is late, at its time and not before', async () => {
  let error: unknown
  inTime(100, undefined, never).catch((reason: unknown) => {
    error = reason
  })
  await vi.advanceTimersByTimeAsync(99)
  expect(error).toBeUndefined()
  await vi.advanceTimersByTimeAsync(1)
  expect(error).toBeInstanceOf(Late)
  expect(error).toMatchObject({ message: 'No answer within 100 ms.' })
})

test.each([
  ['before', (abort: AbortController) => abort.abort('enough'), () => {}],
  ['meanwhile', () => {}, (abort: AbortController) => abort.abort('enough')],
])(
  'a signal that fires %s ends a call with its reason, and leaves no timer',
  async (_, before, meanwhile) => {
    const abort = new AbortController()
    before(abort)
    const call = outcome(inTime(100, abort.signal, never))
    meanwhile(abort)
    expect(await call).toMatchObject({ error: { message: 'The call was aborted.', cause: 'enough' } })
    expect(vi.getTimerCount()).toBe(0)
  },
)

describe('the deadline of several steps', () => {
  test('is one for all of them, and is over when a step was late', async () => {
    const deadline = createDeadline(100)
    const slow = (ms: number) => new Promise<number>((resolve) => setTimeout(resolve, ms, ms))
    const first = deadline.race(slow(60))
    await vi.advanceTimersByTimeAsync(60)
    expect(await first).toBe(60)
    expect(deadline.isOver).toBe(false)
    const second = outcome(deadline.race(slow(60)))
    await vi.advanceTimersByTimeAsync(40)
    expect(await second).toMatchObject({ error: expect.any(Late) })
    expect(deadline.isOver).toBe(true)
  })

  test('is over when a signal has fired, and not when a step has failed', async () => {
    const abort = new AbortController()
    const deadline = createDeadline(100, abort.signal)
    expect(await outcome(deadline.race(Promise.reject(new Error('why'))))).toEqual({
      error: new Error('why'),
    })
    expect(deadline.isOver).toBe(false)
    abort.abort()
    await outcome(deadline.race(never))
    expect(deadline.isOver).toBe(true)
    await outcome(deadline.race(Promise.reject(new Error('why'))))
    expect(deadline.isOver).toBe(true)
  })
})
