import { expect, test } from 'vitest'
import type { ThreadEntry } from '../../src/clients/react/index.ts'
import { threadRequests } from '../../src/clients/react/requests.ts'
import { createThreadStore, searchThreads } from '../../src/clients/react/threads.ts'

const entry = (title: string): ThreadEntry => ({
  id: title,
  title,
  updatedAt: new Date(0),
  status: 'idle',
  assistantId: 'agent',
  metadata: {},
})
const titles = (entries: readonly ThreadEntry[]) => entries.map(({ title }) => title)

test('a thread is read from the record of the server', async () => {
  const record = { thread_id: 't', updated_at: '2026-11-22T10:00:00.000Z', status: 'busy' }
  const metadata = { title: 'Tea', assistant_id: 'echo' }
  const answers = [
    { ...record, metadata },
    { ...record, metadata: null },
  ]
  const { find } = threadRequests('/api', async () => Response.json(answers))
  const read = { id: 't', updatedAt: new Date('2026-11-22T10:00:00.000Z'), status: 'busy' }
  expect(await find({ limit: 2 })).toEqual([
    { ...read, title: 'Tea', assistantId: 'echo', metadata },
    { ...read, title: '', assistantId: undefined, metadata: {} },
  ])
})

test('a refused request has the words and the status of the server', async () => {
  const { rename } = threadRequests('/api', async () =>
    Response.json({ message: 'Not yours.' }, { status: 403 }),
  )
  await expect(rename('t', 'Tea')).rejects.toMatchObject({ message: 'Not yours.', status: 403 })
})

test('a thread that is gone already counts as removed and as stopped', async () => {
  const { remove, cancel } = threadRequests('/api', async () => new Response('{}', { status: 404 }))
  await remove('t')
  await cancel('t')
})

test('titles are found that have all words, in any order and case', () => {
  const entries = ['Lunch at noon', 'Dinner at eight', 'A walk'].map(entry)
  expect(titles(searchThreads(entries, 'NOON lun'))).toEqual(['Lunch at noon'])
  expect(searchThreads(entries, 'at')).toHaveLength(2)
  expect(searchThreads(entries, 'breakfast')).toEqual([])
})

function stage(names: readonly string[]) {
  const kept = names.map(entry)
  let refuses = false
  /** Answers that the server has given, but that have not arrived. */
  const underway: (() => void)[] = []
  let isSlow = false
  const arrived = async <T>(answer: T): Promise<T> => {
    if (isSlow) await new Promise<void>((resolve) => underway.push(resolve))
    return answer
  }
  const store = createThreadStore(
    {
      find: async ({ ids, limit }) =>
        arrived(ids ? kept.filter(({ id }) => ids.includes(id)) : kept.slice(0, limit)),
      rename: async (id, title) => {
        await arrived(undefined)
        if (refuses) throw new Error('No.')
        kept.splice(
          kept.findIndex((one) => one.id === id),
          1,
          { ...entry(id), title },
        )
      },
      cancel: async () => {},
      remove: async (id) => {
        if (refuses) throw new Error('No.')
        kept.splice(
          kept.findIndex((one) => one.id === id),
          1,
        )
      },
    },
    'test',
  )
  return {
    store,
    kept,
    refuse: () => {
      refuses = true
    },
    slowDown(slow: boolean) {
      isSlow = slow
    },
    underway,
  }
}

test('a watched thread is known also beyond the list, and null where there is none', async () => {
  const { store } = stage(Array.from({ length: 60 }, (_, at) => `t${at}`))
  await store.refresh()
  expect(store.get()).toMatchObject({ isLoaded: true, hasMore: true })
  expect(store.entryOf('t55')).toBeUndefined()
  const unwatch = store.watch('t55')
  store.watch('none')
  await store.refresh()
  expect(store.entryOf('t55')?.title).toBe('t55')
  expect(store.entryOf('none')).toBeNull()
  unwatch()
  await store.refresh()
  expect(store.entryOf('t55')).toBeUndefined()
  await store.loadMore()
  expect(store.get()).toMatchObject({ hasMore: false, entries: { length: 60 } })
})

test('a removed thread is out of the list at once, and comes back by undo and by a refusal', async () => {
  const { store, kept, refuse } = stage(['a', 'b'])
  await store.refresh()
  const removal = store.remove('a')
  await store.refresh()
  expect(titles(store.get().entries)).toEqual(['b'])
  await removal.undo()
  expect(titles(store.get().entries)).toEqual(['a', 'b'])
  await store.remove('b').finish()
  expect(titles(kept)).toEqual(['a'])
  refuse()
  await expect(store.remove('a').finish()).rejects.toThrow('No.')
  expect(titles(store.get().entries)).toEqual(['a'])
})

test('an answer that comes after that to a later read changes nothing', async () => {
  const { store, slowDown, underway } = stage(Array.from({ length: 120 }, (_, at) => `t${at}`))
  await store.refresh()
  slowDown(true)
  const early = store.refresh()
  slowDown(false)
  await store.loadMore()
  expect(store.get()).toMatchObject({ hasMore: true, entries: { length: 100 } })
  underway.pop()!()
  await early
  expect(store.get()).toMatchObject({ hasMore: true, entries: { length: 100 } })
})

test('a thread that was removed, and a title that was replaced, do not come back with an early answer', async () => {
  const { store, slowDown, underway } = stage(['a', 'b'])
  await store.refresh()
  slowDown(true)
  const early = store.refresh()
  slowDown(false)
  await store.remove('a').finish()
  await store.rename('b', 'Tea')
  underway.pop()!()
  await early
  expect(titles(store.get().entries)).toEqual(['Tea'])
})

test('a new title is shown at once, stays while the server does not have it, and goes when it is refused', async () => {
  const { store, refuse, slowDown, underway } = stage(['a', 'b'])
  store.watch('b')
  await store.refresh()
  slowDown(true)
  const early = store.refresh()
  const renaming = store.rename('a', 'Tea')
  slowDown(false)
  expect(titles(store.get().entries)).toEqual(['Tea', 'b'])
  underway.shift()!()
  await early
  expect(titles(store.get().entries)).toEqual(['Tea', 'b'])
  underway.shift()!()
  await renaming
  refuse()
  await expect(store.rename('b', 'Milk')).rejects.toThrow('No.')
  expect(titles(store.get().entries)).toEqual(['Tea', 'b'])
})
