import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  atMost,
  createKeyedSemaphore,
  fairShare,
  type KeyedSemaphore,
} from '../../../src/storage/coordination/keyed-semaphore.ts'

/** Takes a place, and tells whether it has got it. */
function taker(size: number) {
  const slots = createKeyedSemaphore(fairShare<string>(size))
  const begun: string[] = []
  const never = new AbortController().signal
  const take = (name: string, owner = name[0]!, signal = never) => {
    let free: (() => void) | undefined
    const taken = slots.acquire(owner, signal).then((done) => {
      free = done
      begun.push(name)
    })
    return { taken, free: () => free!() }
  }
  /** Those that have begun, once nothing more can. */
  const now = async () => {
    for (let turn = 0; turn < 10; turn++) await Promise.resolve()
    return begun.join(' ')
  }
  return { take, now }
}

test('an owner alone has all places, in the order of its requests', async () => {
  const { take, now } = taker(2)
  const [first] = [take('a1'), take('a2'), take('a3'), take('a4')]
  expect(await now()).toBe('a1 a2')
  first!.free()
  first!.free()
  expect(await now()).toBe('a1 a2 a3')
})

test('one that has all places keeps no other waiting, and others have no more than their share', async () => {
  const { take, now } = taker(2)
  for (const name of ['a1', 'a2', 'a3', 'a4']) take(name)
  const b1 = take('b1')
  expect(await now()).toBe('a1 a2 b1')
  take('b2')
  take('c1')
  expect(await now()).toBe('a1 a2 b1')
  b1.free()
  expect(await now()).toBe('a1 a2 b1 b2')
})

test('hung builds of one owner are beside the point for all others, up to the number of places', async () => {
  const { take, now } = taker(4)
  for (let index = 0; index < 10; index++) take(`a${index}`)
  for (const owner of ['b', 'c', 'd', 'e']) take(`${owner}1`)
  expect(await now()).toBe('a0 a1 a2 a3 b1 c1 d1')
})

test('whoever has the fewest is next, and not who has waited longest', async () => {
  const { take, now } = taker(5)
  const [a1, a2] = ['a1', 'a2', 'a3', 'b1', 'b2', 'c1'].map((name) => take(name))
  for (const name of ['b3', 'a4']) take(name)
  expect(await now()).toBe('a1 a2 a3 b1 b2 c1')
  a1!.free()
  a2!.free()
  expect(await now()).toBe('a1 a2 a3 b1 b2 c1 a4')
})

test('who does not wait any more has no place', async () => {
  const { take, now } = taker(1)
  const first = take('a1')
  const leaving = new AbortController()
  const second = take('b1', 'b', leaving.signal)
  leaving.abort(new Error('It was stopped.'))
  await expect(second.taken).rejects.toThrow('It was stopped.')
  first.free()
  take('c1')
  expect(await now()).toBe('a1 c1')
  await expect(take('d1', 'd', leaving.signal).taken).rejects.toThrow('It was stopped.')
})

type Step =
  | { readonly do: 'acquire' | 'tryAcquire' | 'forceAcquire'; readonly key: string }
  | { readonly do: 'release' | 'leave'; readonly pick: number }

const key = fc.constantFrom('a', 'b', 'c', 'd')
const pick = fc.nat(100)
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ do: fc.constant('acquire' as const), key }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('release' as const), pick }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('leave' as const), pick }) },
    {
      weight: 1,
      arbitrary: fc.record({ do: fc.constantFrom('tryAcquire' as const, 'forceAcquire' as const), key }),
    },
  ),
  { maxLength: 60 },
)

/** Does the steps, and calls `look` with the keys that hold a slot, and with those that wait, the oldest first, after each. */
async function walk(
  semaphore: KeyedSemaphore<string>,
  todo: readonly Step[],
  look: (held: readonly string[], waiting: readonly string[], step: Step, took: boolean) => void,
): Promise<void> {
  const held: { readonly key: string; readonly release: () => void }[] = []
  const waiting = new Map<AbortController, string>()
  for (const step of todo) {
    let took = false
    const target = 'pick' in step ? step.pick : 0
    if (step.do === 'acquire') {
      const leave = new AbortController()
      waiting.set(leave, step.key)
      void semaphore.acquire(step.key, leave.signal).then(
        (release) => {
          waiting.delete(leave)
          held.push({ key: step.key, release })
        },
        () => waiting.delete(leave),
      )
    } else if (step.do === 'tryAcquire') took = semaphore.tryAcquire(step.key)
    else if (step.do === 'forceAcquire') {
      semaphore.forceAcquire(step.key)
      took = true
    } else if (step.do === 'release' && held.length > 0) {
      const [freed] = held.splice(target % held.length, 1)
      freed!.release()
      // The second call is for nothing, or, of a slot without its own function, is not made.
      if (freed!.release.name !== 'plain') freed!.release()
    } else if (step.do === 'leave' && waiting.size > 0)
      [...waiting.keys()][target % waiting.size]!.abort(new Error('It left.'))
    if (took && 'key' in step) {
      const of = step.key
      held.push({
        key: of,
        release: function plain() {
          semaphore.release(of)
        },
      })
    }
    for (let turn = 0; turn < 5; turn++) await Promise.resolve()
    const keys = held.map((one) => one.key)
    look(keys, [...waiting.values()], step, took)
    expect(semaphore.waiting).toBe(waiting.size)
  }
}

const count = (keys: readonly string[], of: string): number => keys.filter((one) => one === of).length

test('at most so many slots are held, each wait ends as soon as it may, and the oldest first', async () => {
  await fc.assert(
    fc.asyncProperty(
      steps,
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 1, max: 3 }),
      async (todo, total, ofKey) => {
        /** The model: keys that hold, and keys that wait. */
        let held: string[] = []
        let waiting: string[] = []
        const isFree = (of: string) => held.length < total && count(held, of) < ofKey
        const semaphore = createKeyedSemaphore(atMost<string>(total, () => ofKey))
        await walk(semaphore, todo, (nowHeld, nowWaiting, step, took) => {
          const before = [...held]
          if (step.do === 'acquire') waiting.push(step.key)
          if (step.do === 'tryAcquire') expect(took).toBe(isFree(step.key))
          if (took && 'key' in step) held.push(step.key)
          if (step.do === 'release' && before.length > 0) held.splice(step.pick % before.length, 1)
          if (step.do === 'leave' && waiting.length > 0) waiting.splice(step.pick % waiting.length, 1)
          for (let next: number; (next = waiting.findIndex(isFree)) >= 0; )
            held = [...held, ...waiting.splice(next, 1)]
          expect(nowHeld).toEqual(held)
          expect(nowWaiting).toEqual(waiting)
          for (const of of ['a', 'b', 'c', 'd']) expect(semaphore.isFree(of)).toBe(isFree(of))
          held = [...nowHeld]
          waiting = [...nowWaiting]
        })
      },
    ),
  )
})

test('no key that waits has less than its share, one alone has all slots, and never are there twice as many', async () => {
  const acquires = steps.map((all) =>
    all.filter((step) => step.do !== 'forceAcquire' && step.do !== 'tryAcquire'),
  )
  await fc.assert(
    fc.asyncProperty(acquires, fc.integer({ min: 1, max: 6 }), async (todo, size) => {
      const semaphore = createKeyedSemaphore(fairShare<string>(size))
      await walk(semaphore, todo, (held, waiting) => {
        const keys = new Set([...held, ...waiting])
        expect(held.length).toBeLessThanOrEqual(2 * size - 1)
        // Nobody waits while slots are free.
        if (waiting.length > 0) expect(held.length).toBeGreaterThanOrEqual(size)
        if (keys.size === 1) expect(held.length).toBeLessThanOrEqual(size)
        if (keys.size <= size)
          for (const of of waiting)
            expect(count(held, of)).toBeGreaterThanOrEqual(Math.floor(size / keys.size))
      })
    }),
  )
})
