import type { GraphStore } from '../../storage/graph-store/index.ts'
import { equal } from '../check.ts'
import { type Checks, rulesOf } from '../rules.ts'
import type { GraphStoreContext } from './rule.ts'
import { sortedKeys } from './rule.ts'

const PEOPLE = {
  ann: { age: 30, city: 'Rome', active: true },
  bob: { age: 4, city: 'Oslo', active: false },
  cleo: { age: 50, city: 'Rome', active: true },
  dan: { city: 'Bonn', active: null },
}

async function putPeople(store: GraphStore): Promise<void> {
  for (const [key, value] of Object.entries(PEOPLE)) await store.put(['people'], key, value)
}

const FILTERS: readonly (readonly [filter: Record<string, unknown>, keys: readonly string[]])[] = [
  [{ city: 'Rome' }, ['ann', 'cleo']],
  [{ city: 'Rome', age: 50 }, ['cleo']],
  [{ active: false }, ['bob']],
  [{ active: null }, ['dan']],
  [{ city: 'rome' }, []],
  [{ unknown: 1 }, []],
  [{ age: { $eq: 30 } }, ['ann']],
  [{ city: { $ne: 'Rome' } }, ['bob', 'dan']],
  [{ age: { $gt: 30 } }, ['cleo']],
  [{ age: { $gte: 30 } }, ['ann', 'cleo']],
  [{ age: { $lt: 30 } }, ['bob']],
  [{ age: { $lte: 30 } }, ['ann', 'bob']],
  [{ age: { $gt: 3, $lt: 40 } }, ['ann', 'bob']],
  [{ city: { $ne: 'Oslo' }, age: { $gte: 0 } }, ['ann', 'cleo']],
  [{}, ['ann', 'bob', 'cleo', 'dan']],
]

const NAMES = {
  'search.prefix': 'finds the items under a prefix, by whole labels',
  'search.filter': 'finds the items that match a filter',
  'search.filter-prefix': 'finds only items under the prefix if there is a filter too',
  'search.pages': 'returns every item on exactly one page, ten by default',
  'search.current': 'finds an item by its current value, and not after its deletion',
}

const checks: Checks<keyof typeof NAMES, GraphStoreContext> = {
  async 'search.prefix'({ store }) {
    for (const [key, ...namespace] of [
      ['1', 'a'],
      ['2', 'a', 'b'],
      ['3', 'a', 'b', 'c'],
      ['4', 'ab'],
      ['5', 'b', 'a'],
    ] as [string, ...string[]][])
      await store.put(namespace, key, {})
    equal('a', sortedKeys(await store.search(['a'])), ['1', '2', '3'])
    equal('a b', sortedKeys(await store.search(['a', 'b'])), ['2', '3'])
    equal('all', sortedKeys(await store.search([])), ['1', '2', '3', '4', '5'])
    equal('none', await store.search(['a', 'b', 'c', 'd']), [])
  },
  async 'search.filter'({ store }) {
    await putPeople(store)
    for (const [filter, keys] of FILTERS)
      equal(JSON.stringify(filter), sortedKeys(await store.search(['people'], { filter })), keys)
  },
  async 'search.filter-prefix'({ store }) {
    await putPeople(store)
    await store.put(['others'], 'eve', { city: 'Rome' })
    equal('others', sortedKeys(await store.search(['others'], { filter: { city: 'Rome' } })), ['eve'])
  },
  async 'search.pages'({ store }) {
    const keys = Array.from({ length: 23 }, (_, index) => `k${index + 10}`)
    const isOdd = (index: number) => Math.floor(index / 4) % 2
    // No five items in a row are odd, either in put order or in namespace order.
    for (const [index, key] of keys.entries())
      await store.put(['a', `${index % 4}`], key, { odd: isOdd(index) })
    equal('without a limit', (await store.search(['a'])).length, 10)
    const odd = await store.search(['a'], { limit: 5, filter: { odd: 1 } })
    equal('a page with a filter', odd.length, 5)
    for (const filter of [undefined, { odd: 1 }]) {
      const seen: string[] = []
      for (let offset = 0; offset < 30; offset += 5)
        seen.push(...sortedKeys(await store.search(['a'], { limit: 5, offset, ...(filter && { filter }) })))
      const expected = filter ? keys.filter((_, index) => isOdd(index) === 1) : keys
      equal(`pages of five ${JSON.stringify(filter)}`, seen.sort(), expected)
    }
  },
  async 'search.current'({ store }) {
    await store.put(['a'], 'k', { state: 'old' })
    await store.put(['a'], 'k', { state: 'new' })
    equal('by the old value', await store.search(['a'], { filter: { state: 'old' } }), [])
    equal('by the new value', sortedKeys(await store.search(['a'], { filter: { state: 'new' } })), ['k'])
    await store.delete(['a'], 'k')
    equal('deleted', await store.search(['a']), [])
  },
}

export const searchRules = /* @__PURE__ */ rulesOf(NAMES, checks)
