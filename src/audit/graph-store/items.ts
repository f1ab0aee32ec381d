import type { GraphStoreItem } from '../../storage/graph-store/index.ts'
import { type Checks, equal, hold, rejection, rulesOf } from '../check.ts'
import { bare, type GraphStoreContext, keysOf, moment, sortedKeys } from './rule.ts'

const VALUE = { text: 'ä € 😀 \u2028', list: [1, null, { deep: [true] }], empty: {}, number: -0.5 }

const NAMES = {
  'items.round-trip': 'returns an item as it was put, with dates for its times',
  'items.missing': 'returns null for an item that does not exist',
  'items.replace': 'replaces the whole value, keeps createdAt, and advances updatedAt',
  'items.delete': 'deletes only that item, and accepts the deletion of one that does not exist',
  'items.apart': 'keeps items with the same key in different namespaces separate',
  'items.names': 'accepts property names of objects, other scripts and spaces in keys and labels',
  'items.refused': 'rejects namespaces that no item can have, and writes nothing',
  'items.together': 'loses none of many concurrent writes',
}

const checks: Checks<keyof typeof NAMES, GraphStoreContext> = {
  async 'items.round-trip'({ store }) {
    await store.put(['a', 'b'], 'k', VALUE)
    const item = await store.get(['a', 'b'], 'k')
    equal('the item', bare(item), { namespace: ['a', 'b'], key: 'k', value: VALUE })
    const { createdAt, updatedAt } = item!
    hold('createdAt', createdAt instanceof Date, 'a Date', createdAt)
    hold('updatedAt', updatedAt instanceof Date, 'a Date', updatedAt)
  },
  async 'items.missing'({ store }) {
    await store.put(['a'], 'k', {})
    equal('another key', await store.get(['a'], 'other'), null)
    equal('a longer namespace', await store.get(['a', 'k'], 'k'), null)
    equal('another namespace', await store.get(['b'], 'k'), null)
  },
  async 'items.replace'({ store }) {
    await store.put(['a'], 'k', { one: 1, both: 1 })
    // A store may return the object that it stores.
    const { createdAt, updatedAt } = (await store.get(['a'], 'k'))!
    const [created, updated] = [createdAt.getTime(), updatedAt.getTime()]
    await moment()
    await store.put(['a'], 'k', { two: 2, both: 2 })
    const item = (await store.get(['a'], 'k'))!
    equal('the value', item.value, { two: 2, both: 2 })
    equal('createdAt', item.createdAt.getTime(), created)
    hold('updatedAt', item.updatedAt.getTime() > updated, `after ${updated}`, item.updatedAt.getTime())
  },
  async 'items.delete'({ store }) {
    for (const key of ['k', 'other']) await store.put(['a'], key, { key })
    await store.put(['a', 'b'], 'k', {})
    await store.delete(['a'], 'k')
    await store.delete(['a'], 'k')
    await store.delete(['never'], 'k')
    equal('the deleted one', await store.get(['a'], 'k'), null)
    equal('what is left', sortedKeys(await store.search([])), ['k', 'other'])
    await store.put(['a'], 'k', { again: true })
    equal('put again', (await store.get(['a'], 'k'))?.value, { again: true })
  },
  async 'items.apart'({ store }) {
    const namespaces = [['a'], ['a', 'b'], ['b', 'a'], ['ab'], ['a b'], ['b']]
    for (const namespace of namespaces) await store.put(namespace, 'k', { namespace })
    for (const namespace of namespaces)
      equal(JSON.stringify(namespace), (await store.get(namespace, 'k'))?.value, { namespace })
  },
  async 'items.names'({ store }) {
    const names = ['__proto__', 'constructor', 'toString', 'ключ', '😀', ' a ', 'a/b', '%2e', '*', "'; --"]
    for (const name of names) await store.put(['names', name], name, { name })
    for (const name of names) equal(name, (await store.get(['names', name], name))?.value, { name })
    equal('all of them', sortedKeys(await store.search(['names'], { limit: 100 })), [...names].sort())
  },
  async 'items.refused'({ store }) {
    for (const namespace of [[], [''], ['a', ''], ['a.b'], ['langgraph'], ['a\0b'], [1 as unknown as string]])
      await rejection(`put into ${JSON.stringify(namespace)}`, store.put(namespace, 'k', {}))
    equal('items', await store.search([]), [])
  },
  async 'items.together'({ store }) {
    const keys = Array.from({ length: 24 }, (_, index) => `k${index}`).sort()
    await Promise.all(keys.map((key, index) => store.put(['a', `${index % 3}`], key, { key })))
    equal('keys', sortedKeys(await store.search(['a'], { limit: 100 })), keys)
  },
}

export const itemRules = /* @__PURE__ */ rulesOf(NAMES, checks)

const MINUTE = 60_000

const TTL_NAMES = {
  'ttl.expires': 'has no item whose time to live is over',
  'ttl.refresh': 'restarts the time to live only if a read requests it',
  'ttl.put': 'gives an item the time to live of its last put',
}

const ttlChecks: Checks<keyof typeof TTL_NAMES, GraphStoreContext> = {
  async 'ttl.expires'({ store, advance }) {
    await store.put(['a'], 'short', {}, undefined, { ttl: 2 })
    await store.put(['a', 'b'], 'short', {}, undefined, { ttl: 2 })
    await store.put(['a'], 'long', {}, undefined, { ttl: 60 })
    await store.put(['a'], 'ever', {}, undefined, { ttl: null })
    await advance(3 * MINUTE)
    equal('get', await store.get(['a'], 'short'), null)
    equal('search', sortedKeys(await store.search(['a'])), ['ever', 'long'])
    equal('namespaces', await store.listNamespaces(), [['a']])
    await store.put(['a'], 'short', { again: true })
    equal('put again', (await store.get(['a'], 'short'))?.value, { again: true })
  },
  async 'ttl.refresh'({ store, advance }) {
    for (const key of ['got', 'found', 'left']) await store.put(['a', key], key, {}, undefined, { ttl: 10 })
    await advance(8 * MINUTE)
    await store.get(['a', 'got'], 'got', { refreshTtl: true })
    await store.search(['a', 'found'], { refreshTtl: true })
    await store.get(['a', 'left'], 'left', { refreshTtl: false })
    await advance(8 * MINUTE)
    equal('what is left', sortedKeys(await store.search(['a'], { refreshTtl: false })), ['found', 'got'])
    await advance(8 * MINUTE)
    equal('in the end', await store.search([]), [])
  },
  async 'ttl.put'({ store, advance }) {
    await store.put(['a'], 'k', {}, undefined, { ttl: 10 })
    await advance(8 * MINUTE)
    await store.put(['a'], 'k', {}, undefined, { ttl: 10 })
    await advance(8 * MINUTE)
    equal('put again', sortedKeys(await store.search(['a'], { refreshTtl: false })), ['k'])
    await store.put(['a'], 'k', {}, undefined, { ttl: null })
    await advance(1_000 * MINUTE)
    equal('for ever', sortedKeys(await store.search(['a'])), ['k'])
  },
}

export const ttlRules = /* @__PURE__ */ rulesOf(TTL_NAMES, ttlChecks)

type Found = GraphStoreItem | null

const BATCH_NAMES = {
  'batch.order': 'returns the results of a batch in the order of its operations',
  'batch.reads-first': 'runs the reads of a batch before its writes',
  'batch.last-counts': 'applies the last of several writes to an item',
  'batch.refused': 'writes nothing of a batch if one of its operations is rejected',
  'batch.empty': 'accepts a batch of no operations',
}

const batchChecks: Checks<keyof typeof BATCH_NAMES, GraphStoreContext> = {
  async 'batch.order'({ store }) {
    await store.put(['a'], 'k', { n: 1 })
    const [got, put, found, names, missing] = await store.batch<
      [Found, unknown, GraphStoreItem[], string[][], Found]
    >([
      { namespace: ['a'], key: 'k' },
      { namespace: ['b'], key: 'new', value: {} },
      { namespacePrefix: ['a'] },
      { matchConditions: [{ matchType: 'prefix', path: ['a'] }], limit: 10, offset: 0 },
      { namespace: ['a'], key: 'none' },
    ])
    equal('get', bare(got), { namespace: ['a'], key: 'k', value: { n: 1 } })
    equal('put', put ?? null, null)
    equal('search', keysOf(found), ['k'])
    equal('namespaces', names, [['a']])
    equal('a missing one', missing, null)
  },
  async 'batch.reads-first'({ store }) {
    await store.put(['a'], 'old', {})
    const [, , got, found] = await store.batch<[unknown, unknown, Found, GraphStoreItem[]]>([
      { namespace: ['a'], key: 'new', value: {} },
      { namespace: ['a'], key: 'old', value: null },
      { namespace: ['a'], key: 'new' },
      { namespacePrefix: ['a'] },
    ])
    equal('get', got, null)
    equal('search', keysOf(found), ['old'])
    equal('afterwards', keysOf(await store.search(['a'])), ['new'])
  },
  async 'batch.last-counts'({ store }) {
    await store.batch([
      { namespace: ['a'], key: 'k', value: { n: 1 } },
      { namespace: ['a'], key: 'gone', value: { n: 1 } },
      { namespace: ['a'], key: 'k', value: { n: 2 } },
      { namespace: ['a'], key: 'gone', value: null },
      { namespace: ['a'], key: 'back', value: null },
      { namespace: ['a'], key: 'back', value: { n: 3 } },
    ])
    equal('k', (await store.get(['a'], 'k'))?.value, { n: 2 })
    equal('gone', await store.get(['a'], 'gone'), null)
    equal('back', (await store.get(['a'], 'back'))?.value, { n: 3 })
  },
  async 'batch.refused'({ store }) {
    const operations = [
      { namespace: ['a'], key: 'k', value: {} },
      { namespace: ['a.b'], key: 'k', value: {} },
    ]
    await rejection('the batch', store.batch(operations))
    equal('items', await store.search([]), [])
  },
  async 'batch.empty'({ store }) {
    equal('results', await store.batch([]), [])
  },
}

export const batchRules = /* @__PURE__ */ rulesOf(BATCH_NAMES, batchChecks)
