import { expect, test } from 'vitest'
import { createGraphStore } from '../../src/storage/graph-store/index.ts'
import { memoryStore } from '../../src/storage/memory/store.ts'
import type { Store } from '../../src/storage/store/store.ts'

/** A store that counts what it is asked for, and how many documents it gives. */
function counted(store: Store) {
  const counts = { calls: 0, docs: 0 }
  const count = <Result>(docs: number, result: Result): Result => {
    counts.calls += 1
    counts.docs += docs
    return result
  }
  const counting: Store = {
    ...store,
    get: async (...asked) => count(1, await store.get(...asked)),
    list: async (...asked) => {
      const page = await store.list(...asked)
      return count(page.docs.length, page)
    },
    commit: async (...asked) => count(0, await store.commit(...asked)),
  }
  return { store: counting, counts }
}

/** What each call costs an owner with a few items, among so many others. */
async function costsAmong(others: number) {
  const { store, counts } = counted(memoryStore())
  const graphStore = createGraphStore(store, 'ann')
  const add = (owner: string | null, namespace: (index: number) => string[], many: number) =>
    createGraphStore(store, owner).batch(
      Array.from({ length: many }, (_, index) => ({
        namespace: namespace(index),
        key: `k${index}`,
        value: { index },
      })),
    )
  await add('ann', (index) => ['elsewhere', `${index % 97}`], others)
  await add('bob', (index) => ['mine', `${index % 97}`], others)
  await add('ann', (index) => ['mine', `${index % 3}`], 30)
  const costs: Record<string, { calls: number; docs: number }> = {}
  const measure = async (name: string, work: () => Promise<unknown>) => {
    const before = { ...counts }
    await work()
    costs[name] = { calls: counts.calls - before.calls, docs: counts.docs - before.docs }
  }
  await measure('get', () => graphStore.get(['mine', '0'], 'k0'))
  await measure('put', () => graphStore.put(['mine', '0'], 'k0', {}))
  await measure('put a new one', () => graphStore.put(['mine', 'new'], 'k', {}))
  await measure('delete', () => graphStore.delete(['mine', 'new'], 'k'))
  await measure('search', () => graphStore.search(['mine'], { limit: 5 }))
  await measure('search the newest of all', () => graphStore.search([], { limit: 5 }))
  await measure('search with a filter', () => graphStore.search(['mine'], { filter: { index: 7 } }))
  await measure('list namespaces', () => graphStore.listNamespaces({ prefix: ['mine'] }))
  await measure('list namespaces with a wildcard', () => graphStore.listNamespaces({ prefix: ['mine', '*'] }))
  return costs
}

test('each call costs the same among 100 and among 20,000 items elsewhere', {
  timeout: 240_000,
}, async () => {
  const few = await costsAmong(100)
  expect(await costsAmong(20_000)).toEqual(few)
  expect(few).toEqual({
    get: { calls: 1, docs: 1 },
    put: { calls: 2, docs: 1 },
    'put a new one': { calls: 2, docs: 1 },
    delete: { calls: 5, docs: 2 },
    search: { calls: 1, docs: 5 },
    'search the newest of all': { calls: 1, docs: 5 },
    'search with a filter': { calls: 1, docs: 30 },
    'list namespaces': { calls: 4, docs: 6 },
    'list namespaces with a wildcard': { calls: 4, docs: 6 },
  })
})
