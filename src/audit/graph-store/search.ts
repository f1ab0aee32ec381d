import type {
  GraphStore,
  GraphStoreNamespaceOptions,
  GraphStoreSearchItem,
} from '../../storage/graph-store/index.ts'
import { type Checks, equal, hold, rulesOf } from '../check.ts'
import { type GraphStoreContext, keysOf, sortedKeys } from './rule.ts'

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

const scoreOf = (items: readonly GraphStoreSearchItem[], key: string): number =>
  items.find((item) => item.key === key)?.score ?? Number.NaN

const SIMILARITY_NAMES = {
  'similarity.order': 'returns the nearest first, with descending scores',
  'similarity.bounds': 'compares the items under the prefix that match the filter, and returns them in pages',
  'similarity.fields': 'embeds each configured field separately',
  'similarity.index': 'embeds the fields that a put names, or none for false',
  'similarity.replace': 'compares the current text of an item',
}

const similarityChecks: Checks<keyof typeof SIMILARITY_NAMES, GraphStoreContext> = {
  async 'similarity.order'({ openIndexed }) {
    const store = await openIndexed()
    await store.put(['days'], 'wet', { text: 'rain' })
    await store.put(['days'], 'bright', { text: 'sun' })
    await store.put(['days'], 'mixed', { text: 'sun and rain' })
    const found = await store.search(['days'], { query: 'much sun today' })
    equal('keys', keysOf(found), ['bright', 'mixed', 'wet'])
    hold('the score of the same words', scoreOf(found, 'bright') > 0.99, 'about 1', scoreOf(found, 'bright'))
    const scores = found.map(({ score = 2 }) => score)
    const falls = scores.every((score, index) => index === 0 || score <= scores[index - 1]!)
    hold('scores', falls, 'falling ones', scores)
  },
  async 'similarity.bounds'({ openIndexed }) {
    const store = await openIndexed()
    for (const [key, text, kind] of [
      ['1', 'sun', 'x'],
      ['2', 'sun rain', 'x'],
      ['3', 'sun rain snow', 'x'],
      ['4', 'sun', 'y'],
    ] as const)
      await store.put(['days', key], key, { text, kind })
    await store.put(['other'], '5', { text: 'sun', kind: 'x' })
    const search = (limit: number, offset: number) =>
      store.search(['days'], { query: 'sun', filter: { kind: 'x' }, limit, offset })
    equal('a page', keysOf(await search(2, 0)), ['1', '2'])
    equal('the next', keysOf(await search(2, 2)), ['3'])
  },
  async 'similarity.fields'({ openIndexed }) {
    const store = await openIndexed(['title', 'parts[*].text', 'notes[-1]'])
    await store.put(['a'], 'title', { title: 'sun', body: 'rain' })
    await store.put(['a'], 'part', { title: 'snow', parts: [{ text: 'wind' }, { text: 'rain' }] })
    await store.put(['a'], 'note', { title: 'snow', notes: ['rain', 'wind'] })
    const rain = await store.search(['a'], { query: 'rain' })
    equal('rain', keysOf(rain).slice(0, 1), ['part'])
    hold('the score of its best text', scoreOf(rain, 'part') > 0.99, 'about 1', scoreOf(rain, 'part'))
    hold('a field that is not embedded', scoreOf(rain, 'title') < 0.5, 'a low score', scoreOf(rain, 'title'))
    hold('an item before the last', scoreOf(rain, 'note') < 0.5, 'a low score', scoreOf(rain, 'note'))
  },
  async 'similarity.index'({ openIndexed }) {
    const store = await openIndexed(['title'])
    await store.put(['a'], 'named', { title: 'snow', body: 'sun' }, ['body'])
    await store.put(['a'], 'none', { title: 'sun' }, false)
    const found = await store.search(['a'], { query: 'sun' })
    equal('keys', keysOf(found), ['named', 'none'])
    hold('the score of the named field', scoreOf(found, 'named') > 0.99, 'about 1', scoreOf(found, 'named'))
    equal('the score of no field', found[1]!.score ?? null, null)
  },
  async 'similarity.replace'({ openIndexed }) {
    const store = await openIndexed()
    await store.put(['a'], 'k', { text: 'sun' })
    await store.put(['a'], 'other', { text: 'sun rain' })
    await store.put(['a'], 'k', { text: 'snow' })
    equal('keys', keysOf(await store.search(['a'], { query: 'sun' })), ['other', 'k'])
  },
}

export const similarityRules = /* @__PURE__ */ rulesOf(SIMILARITY_NAMES, similarityChecks)

const NAMESPACES = [['a'], ['a', 'b'], ['a', 'b', 'd'], ['a', 'c', 'd'], ['b', 'c'], ['b', 'c', 'x']]

const CASES: readonly (readonly [options: GraphStoreNamespaceOptions, names: readonly string[]])[] = [
  [{}, ['a', 'a b', 'a b d', 'a c d', 'b c', 'b c x']],
  [{ prefix: ['a'] }, ['a', 'a b', 'a b d', 'a c d']],
  [{ prefix: ['a', 'b'] }, ['a b', 'a b d']],
  [{ prefix: ['*', 'c'] }, ['a c d', 'b c', 'b c x']],
  [{ prefix: ['a', '*', 'd'] }, ['a b d', 'a c d']],
  [{ suffix: ['d'] }, ['a b d', 'a c d']],
  [{ suffix: ['c', '*'] }, ['a c d', 'b c x']],
  [{ prefix: ['a'], suffix: ['c', 'd'] }, ['a c d']],
  [{ prefix: ['none'] }, []],
  [{ prefix: ['a', 'b', 'd', 'e'] }, []],
  [{ maxDepth: 1 }, ['a', 'b']],
  [{ maxDepth: 2 }, ['a', 'a b', 'a c', 'b c']],
  [{ maxDepth: 2, prefix: ['a'] }, ['a', 'a b', 'a c']],
  [{ maxDepth: 2, suffix: ['d'] }, ['a b', 'a c']],
]

async function putNamespaces(store: GraphStore): Promise<void> {
  for (const namespace of [...NAMESPACES].reverse()) {
    await store.put(namespace, 'one', {})
    await store.put(namespace, 'two', {})
  }
}

const namesOf = (namespaces: readonly string[][]): string[] => namespaces.map((labels) => labels.join(' '))

const NAMESPACE_NAMES = {
  'namespaces.match': 'lists namespaces by prefix, suffix and depth, each once',
  'namespaces.order': 'lists namespaces in the order of their names',
  'namespaces.pages': 'returns every namespace on exactly one page',
}

const namespaceChecks: Checks<keyof typeof NAMESPACE_NAMES, GraphStoreContext> = {
  async 'namespaces.match'({ store }) {
    await putNamespaces(store)
    for (const [options, names] of CASES)
      equal(JSON.stringify(options), namesOf(await store.listNamespaces(options)).sort(), names)
  },
  async 'namespaces.order'({ store }) {
    await putNamespaces(store)
    const names = namesOf(await store.listNamespaces())
    equal('names', names, [...names].sort())
  },
  async 'namespaces.pages'({ store }) {
    await putNamespaces(store)
    for (const options of [{}, { maxDepth: 2 }, { suffix: ['d'] }]) {
      const all = namesOf(await store.listNamespaces(options))
      const seen: string[] = []
      for (let offset = 0; offset <= all.length; offset += 2)
        seen.push(...namesOf(await store.listNamespaces({ ...options, limit: 2, offset })))
      equal(`pages of two ${JSON.stringify(options)}`, seen, all)
    }
  },
}

export const namespaceRules = /* @__PURE__ */ rulesOf(NAMESPACE_NAMES, namespaceChecks)
