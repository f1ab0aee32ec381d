import { expect, test } from 'vitest'
import { iterateLater } from '../src/core/lazy.ts'

/** Counts what is called of an iterator whose `next` waits until it is left. */
function watched() {
  const calls: string[] = []
  let leave = () => {}
  const left = new Promise<void>((resolve) => (leave = resolve))
  const iterator: AsyncIterator<number, undefined> & AsyncIterable<number, undefined> = {
    [Symbol.asyncIterator]: () => iterator,
    async next() {
      calls.push('next')
      await left
      return { done: true, value: undefined }
    },
    async return() {
      calls.push('return')
      leave()
      return { done: true, value: undefined }
    },
  }
  return { calls, iterator }
}

test('nothing is opened before the first next, and nothing after a reader that leaves before it', async () => {
  let opened = 0
  const iterable = iterateLater<number>(async () => {
    opened++
    return watched().iterator
  })
  expect(await iterable.return?.()).toEqual({ done: true, value: undefined })
  expect(await iterable.next()).toEqual({ done: true, value: undefined })
  expect(opened).toBe(0)
})

test('a reader that leaves during a next reaches the iterator, which may never give another value', async () => {
  const { calls, iterator } = watched()
  const iterable = iterateLater(async () => iterator)
  const waiting = iterable.next()
  await iterable.return?.()
  expect(await waiting).toEqual({ done: true, value: undefined })
  expect(calls).toEqual(['next', 'return'])
})

test('values come in order, also those that are asked for before the module is there', async () => {
  async function* numbers(): AsyncGenerator<number, undefined> {
    yield* [1, 2, 3]
    return undefined
  }
  const iterable = iterateLater(async () => numbers())
  const asked = await Promise.all([iterable.next(), iterable.next(), iterable.next(), iterable.next()])
  expect(asked.map(({ value }) => value)).toEqual([1, 2, 3, undefined])
})

test('an error of the module is that of the first next', async () => {
  const iterable = iterateLater<number>(async () => {
    throw new Error('not found')
  })
  await expect(iterable.next()).rejects.toThrow('not found')
})
