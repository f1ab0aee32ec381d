import { describe, expect, test } from 'vitest'
import { createGraphStore } from '../../src/storage/graph-store/index.ts'
import { memoryStore } from '../../src/storage/memory/store.ts'
import type { Store } from '../../src/storage/store/store.ts'
import { DATABASES } from '../kit/databases.ts'
import { eventually } from '../kit/wait.ts'

describe.each(Object.entries(DATABASES))('two instances over %s', (_name, create) => {
  test('see what the other has written, and lose no write of theirs', { timeout: 240_000 }, async () => {
    const open = await create()
    const [one, two] = [await open(), await open()].map(({ store }) => createGraphStore(store, 'ann')) as [
      ReturnType<typeof createGraphStore>,
      ReturnType<typeof createGraphStore>,
    ]
    const keys = Array.from({ length: 20 }, (_, index) => `k${index}`)
    await Promise.all(
      keys.flatMap((key) => [one.put(['a'], `one ${key}`, { key }), two.put(['a'], `two ${key}`, { key })]),
    )
    expect(await one.search(['a'], { limit: 100 })).toHaveLength(40)
    expect(await two.search(['a'], { limit: 100 })).toEqual(await one.search(['a'], { limit: 100 }))
    await one.put(['a'], 'same', { n: -1 })
    const { createdAt, updatedAt } = (await two.get(['a'], 'same'))!
    const writers = keys.map((_, n) => (n % 2 ? one : two).put(['a'], 'same', { n }))
    await Promise.all(writers)
    const last = (await one.get(['a'], 'same'))!
    expect(last.createdAt).toEqual(createdAt)
    // Each of the twenty puts was a millisecond later than the one before, whatever the clock said.
    expect(last.updatedAt.getTime()).toBeGreaterThanOrEqual(updatedAt.getTime() + 20)
    expect(await two.get(['a'], 'same')).toEqual(last)
  })

  test('drop no namespace into which the other puts an item while its last one is deleted', async () => {
    const open = await create()
    const [one, two] = [await open(), await open()]
    for (let round = 0; round < 12; round++) {
      const namespace = ['round', `${round}`]
      await createGraphStore(one.store, null).put(namespace, 'old', {})
      await Promise.all([
        createGraphStore(one.store, null).delete(namespace, 'old'),
        createGraphStore(two.store, null).put(namespace, 'new', {}),
      ])
      expect(await createGraphStore(two.store, null).listNamespaces({ prefix: namespace })).toEqual([
        namespace,
      ])
    }
  })

  test('forget an item when its time to live is over', async () => {
    const { store } = await (await create())()
    const graphStore = createGraphStore(store, 'ann')
    await graphStore.put(['a'], 'short', {}, undefined, { ttl: 0.005 })
    await graphStore.put(['a'], 'long', {})
    const left = async () =>
      (await graphStore.search(['a'], { refreshTtl: false })).map(({ key }) => key).sort()
    expect(await left()).toEqual(['long', 'short'])
    await eventually(async () => (await left()).length === 1)
    expect(await left()).toEqual(['long'])
    expect(await graphStore.get(['a'], 'short')).toBeNull()
  })
})

test('a default time to live, and reads that do not refresh it', async () => {
  let time = 1_700_000_000_000
  const store = memoryStore({ now: () => time })
  const graphStore = createGraphStore(store, null, { ttl: { defaultTtl: 10, refreshOnRead: false } })
  await graphStore.put(['a'], 'default', {})
  await graphStore.put(['a'], 'own', {}, undefined, { ttl: 30 })
  await graphStore.put(['a'], 'ever', {}, undefined, { ttl: null })
  time += 9 * 60_000
  expect(await graphStore.get(['a'], 'default')).not.toBeNull()
  time += 2 * 60_000
  expect((await graphStore.search(['a'])).map(({ key }) => key).sort()).toEqual(['ever', 'own'])
  time += 60 * 60_000
  expect((await graphStore.search(['a'])).map(({ key }) => key)).toEqual(['ever'])
  expect(await graphStore.listNamespaces()).toEqual([['a']])
})

test('pages with an offset miss nothing where items have expired that no sweep has purged', async () => {
  let time = 1_700_000_000_000
  const graphStore = createGraphStore(memoryStore({ now: () => time }), null)
  for (let index = 0; index < 12; index++)
    await graphStore.put(['a'], `k${index}`, { index }, undefined, { ttl: index % 2 ? 1 : null })
  time += 120_000
  const pages = await Promise.all([0, 2, 4].map((offset) => graphStore.search(['a'], { limit: 2, offset })))
  expect(
    pages
      .flat()
      .map(({ key }) => key)
      .sort(),
  ).toEqual(['k0', 'k10', 'k2', 'k4', 'k6', 'k8'])
})

test('what the store refuses or fails at is passed on, and nothing is written', async () => {
  const failing = { ...memoryStore(), commit: async () => Promise.reject(new Error('no disk')) } as Store
  await expect(createGraphStore(failing, null).put(['a'], 'k', {})).rejects.toThrow('no disk')
  const graphStore = createGraphStore(memoryStore(), null, { embed: async () => [[1]], dims: 2 })
  await expect(graphStore.put(['a'], 'k', { text: 'x' })).rejects.toMatchObject({ code: 'embed_failed' })
  const down = createGraphStore(memoryStore(), null, {
    embed: async () => Promise.reject(new Error('no model')),
  })
  await expect(down.put(['a'], 'k', { text: 'x' })).rejects.toThrow('no model')
  const circle: Record<string, unknown> = {}
  circle.self = circle
  await expect(down.put(['a'], 'k', circle)).rejects.toMatchObject({ code: 'invalid_value' })
  await expect(down.put(['a'], 'k', { big: 1n })).rejects.toMatchObject({ code: 'invalid_value' })
  await expect(down.put(['a'], 'k', { n: 1 }, false, { ttl: -1 })).rejects.toMatchObject({
    code: 'invalid_argument',
  })
  expect([await graphStore.search([]), await down.search([])]).toEqual([[], []])
})

test('all texts of a batch are embedded in one call, each once', async () => {
  const calls: string[][] = []
  const embed = async (texts: string[]) => {
    calls.push(texts)
    return texts.map(({ length }) => [length, 1])
  }
  const graphStore = createGraphStore(memoryStore(), null, { embed, fields: ['text', 'list[*]'] })
  await graphStore.batch([
    { namespace: ['a'], key: '1', value: { text: 'one', list: ['one', 'two', ''] } },
    { namespace: ['a'], key: '2', value: { text: 'two' } },
    { namespace: ['a'], key: '3', value: { text: 'never' }, index: false },
    { namespacePrefix: ['a'], query: 'what' },
  ])
  expect(calls).toEqual([['what', 'one', 'two']])
  expect(await graphStore.search(['a'], { query: '' })).toHaveLength(3)
  expect(calls).toHaveLength(1)
})
