import type { GraphStoreItem } from '../../storage/graph-store/index.ts'
import { equal, rejection } from '../check.ts'
import { type Checks, rulesOf } from '../rules.ts'
import type { GraphStoreContext } from './rule.ts'
import { bare, keysOf } from './rule.ts'

type Found = GraphStoreItem | null

const NAMES = {
  'batch.order': 'returns the results of a batch in the order of its operations',
  'batch.reads-first': 'runs the reads of a batch before its writes',
  'batch.last-counts': 'applies the last of several writes to an item',
  'batch.refused': 'writes nothing of a batch if one of its operations is rejected',
  'batch.empty': 'accepts a batch of no operations',
}

const checks: Checks<keyof typeof NAMES, GraphStoreContext> = {
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

export const batchRules = /* @__PURE__ */ rulesOf(NAMES, checks)
