import { expect, test } from 'vitest'
import { filteredPage, MAX_LOOKED_AT } from '../src/core/filtered-page.ts'

/** The numbers from 0, and how many of them were read. */
function numbers(end = Number.POSITIVE_INFINITY) {
  const read = { count: 0 }
  async function* list() {
    for (let n = 0; n < end; n += 1) {
      read.count += 1
      yield n
    }
  }
  return { read, list: list() }
}

const isEven = (n: number) => n % 2 === 0

test('a page has the matches from its offset on', async () => {
  const { list } = numbers(20)
  expect(await filteredPage(list, isEven, { offset: 2, limit: 3 })).toEqual({
    items: [4, 6, 8],
    total: 6,
    looked: 11,
  })
})

test('nothing is read after the match that shows a next page', async () => {
  const { list, read } = numbers()
  const { total } = await filteredPage(list, isEven, { offset: 0, limit: 3 })
  expect({ total, read: read.count }).toEqual({ total: 4, read: 7 })
})

test('a page that ends with the list says how long it is', async () => {
  expect(await filteredPage([1, 2, 3, 4], isEven, { offset: 1, limit: 10 })).toEqual({
    items: [4],
    total: 2,
    looked: 4,
  })
})

test('counts to the number that is asked for', async () => {
  const { list, read } = numbers(100)
  const exact = { offset: 0, limit: 1, countTo: Number.POSITIVE_INFINITY }
  expect(await filteredPage(list, isEven, exact)).toEqual({ items: [0], total: 50, looked: 100 })
  expect(read.count).toBe(100)
  const first = numbers()
  const { items } = await filteredPage(first.list, isEven, { offset: 0, limit: 2, countTo: 2 })
  expect({ items, read: first.read.count }).toEqual({ items: [0, 2], read: 3 })
})

test('an infinite offset only counts', async () => {
  const range = { offset: Number.POSITIVE_INFINITY, limit: 0 }
  expect(await filteredPage([1, 2, 4], isEven, range)).toEqual({ items: [], total: 2, looked: 3 })
})

test('looks at no more items than the bound, and says so', async () => {
  const few = numbers()
  expect(await filteredPage(few.list, () => false, { offset: 0, limit: 1, lookAt: 5 })).toEqual({
    items: [],
    total: 0,
    looked: 5,
  })
  expect(few.read.count).toBe(5)
  const { list, read } = numbers()
  expect((await filteredPage(list, () => false, { offset: 0, limit: 1 })).looked).toBe(MAX_LOOKED_AT)
  expect(read.count).toBe(MAX_LOOKED_AT)
})

test('awaits checks that read', async () => {
  const isLate = async (n: number) => isEven(n)
  expect((await filteredPage([1, 2], isLate, { offset: 0, limit: 1 })).items).toEqual([2])
})

test('the list is closed when the page is full', async () => {
  let isClosed = false
  async function* list() {
    try {
      for (let n = 0; ; n += 1) yield n
    } finally {
      isClosed = true
    }
  }
  await filteredPage(list(), isEven, { offset: 0, limit: 1 })
  expect(isClosed).toBe(true)
})
