import { equal, hold, rejection } from '../check.ts'
import { type Checks, rulesOf } from '../rules.ts'
import type { GraphStoreContext } from './rule.ts'
import { bare, moment, sortedKeys } from './rule.ts'

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
