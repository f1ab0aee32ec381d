import { expect, test } from 'vitest'
import { createSlots } from '../../../src/control-plane/worker/slots.ts'

/** Takes a place, and tells whether it has got it. */
function taker(size: number) {
  const slots = createSlots(size)
  const begun: string[] = []
  const never = new AbortController().signal
  const take = (name: string, owner = name[0]!, signal = never) => {
    let free: (() => void) | undefined
    const taken = slots.take(owner, signal).then((done) => {
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
