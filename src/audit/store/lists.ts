import type { ListQuery } from '../../storage/store/store.ts'
import { type Checks, rejection, rulesOf, same } from '../check.ts'
import { clear, isAbsent, listAll, pathOf, put, remove, SHORT, type StoreContext } from './rule.ts'

const NAMES = {
  'list.where': 'matches all index fields by equality of value and type',
  'list.order': 'orders by an index field, numbers by value, ties by partition and id, in both directions',
  'list.pages': 'returns every document once, in order, for any page size',
  'list.offset': 'skips offset documents, in the order of the list',
  'list.count': 'counts the documents that have a field, after every kind of change',
  'list.count-expired': 'does not count documents that expired before the last sweep',
  'list.cursor-stable': 'keeps a cursor valid while documents are added and removed',
  'list.limits': 'returns 100 documents if no limit is set, and at most 1,000',
  'list.bad-cursor': 'rejects a cursor that it did not create',
  'list.reads-own-writes': 'lists the writes of a commit as soon as it has resolved',
}

const checks: Checks<keyof typeof NAMES, StoreContext> = {
  async 'list.where'({ store, commit, unique }) {
    const collection = unique()
    const rows = { a: { n: 1, s: 'x' }, b: { n: 1, s: 'y' }, c: { n: '1' }, d: { n: 0, s: '' }, e: {} }
    for (const [id, index] of Object.entries(rows)) await commit(put(collection, id, id, { index }))
    const ids = async (query: ListQuery) => (await store.list(collection, query)).docs.map((doc) => doc.id)
    same(await ids({}), ['a', 'b', 'c', 'd', 'e'], 'no filter')
    same(await ids({ where: {} }), ['a', 'b', 'c', 'd', 'e'], 'an empty filter')
    same(await ids({ where: { n: 1 } }), ['a', 'b'], 'a number')
    same(await ids({ where: { n: '1' } }), ['c'], 'a string')
    same(await ids({ where: { n: 1, s: 'y' } }), ['b'], 'two fields')
    same(await ids({ where: { s: '' } }), ['d'], 'an empty string')
    same(await ids({ where: { toString: 1 } as never }), [], 'a field nobody has')
    same(await ids({ partition: unique() }), [], 'another partition')
    same((await store.list(unique())).docs, [], 'another collection')
    await commit(put(collection, 'a', 'a', { index: { n: 2 } }))
    same(await ids({ where: { n: 1 } }), ['b'], 'after the index of a document changed')
  },
  async 'list.order'(context) {
    const { store, collection, partitions } = await someDocs(context)
    const ids = async (query: ListQuery) =>
      (await store.list(collection, query)).docs.map((doc) => doc.id + partitions.indexOf(doc.partition))
    const byKey = ['c0', 'c1', 'b0', 'b1', 'a0', 'a1', 'd0', 'd1']
    same(await ids({ orderBy: 'k' }), byKey, 'ascending')
    same(await ids({ orderBy: 'k', descending: true }), [...byKey].reverse(), 'descending')
    const byPath = ['a0', 'b0', 'c0', 'd0', 'none0', 'a1', 'b1', 'c1', 'd1', 'none1']
    same(await ids({}), byPath, 'by partition and id')
    same(await ids({ descending: true }), [...byPath].reverse(), 'by partition and id, descending')
    same(await ids({ partition: partitions[1]!, orderBy: 'k' }), ['c1', 'b1', 'a1', 'd1'], 'of one partition')
  },
  async 'list.pages'(context) {
    const { store, collection } = await someDocs(context)
    for (const query of [{}, { orderBy: 'k' }, { orderBy: 'k', descending: true }, { where: { even: 1 } }]) {
      const whole = (await store.list(collection, query)).docs.map(pathOf)
      for (const limit of [1, 3, 4, whole.length, 1000]) {
        same(await listAll(store, collection, { ...query, limit }), whole, `pages of ${limit}`)
      }
    }
  },
  async 'list.offset'(context) {
    const { store, collection } = await someDocs(context)
    for (const query of [{ orderBy: 'k' }, { orderBy: 'k', descending: true }]) {
      const whole = (await store.list(collection, query)).docs.map(pathOf)
      for (const offset of [0, 1, 3, whole.length - 1, whole.length, whole.length + 5]) {
        const page = await store.list(collection, { ...query, offset, limit: 3 })
        same(page.docs.map(pathOf), whole.slice(offset, offset + 3), `a page at ${offset}`)
        if (page.cursor === undefined) continue
        const next = await store.list(collection, { ...query, limit: 100, cursor: page.cursor })
        same(next.docs.map(pathOf), whole.slice(offset + 3), `the page after the one at ${offset}`)
      }
    }
    same((await store.list(context.unique(), { orderBy: 'k', offset: 1 })).docs, [], 'another collection')
    for (const more of [
      {},
      { orderBy: 'k', where: { even: 1 } },
      { orderBy: 'k', partition: context.partition },
      { orderBy: 'k', offset: -1 },
      { orderBy: 'k', offset: 1.5 },
    ]) {
      const query = store.list(collection, { offset: 1, ...more })
      await invalid(query, `an offset with ${JSON.stringify(more)}`)
    }
  },
  async 'list.count'({ store, commit, commitIf, unique }) {
    const collection = unique()
    const counts = async () => [await store.count(collection, 'a'), await store.count(collection, 'b')]
    same(await counts(), [0, 0], 'before the first document')
    await commit(
      put(collection, '1', 1, { index: { a: 1 } }),
      put(collection, '2', 1, { index: { a: '', b: 0 } }),
    )
    same(await counts(), [2, 1], 'after two documents')
    await commit(put(collection, '1', 2, { index: { a: 2 } }))
    same(await counts(), [2, 1], 'after a new value of the field')
    await commit(put(collection, '1', 3, { index: { b: 2 } }))
    same(await counts(), [1, 2], 'after another field')
    await commit(put(collection, '3', 1, { index: { a: 1 } }), put(collection, '3', 1, { index: { a: 3 } }))
    same(await counts(), [2, 2], 'after two puts in one commit')
    const late = commitIf([isAbsent(collection, '1')], put(collection, '4', 1, { index: { a: 1 } }))
    await rejection('a refused commit', late)
    same(await counts(), [2, 2], 'after a commit that was refused')
    await commit(remove(collection, '2'), remove(collection, 'none'))
    same(await counts(), [1, 1], 'after a delete')
    await store.sweep()
    same(await counts(), [1, 1], 'after a sweep')
    await commit(clear)
    same(await counts(), [0, 0], 'after all are gone')
    same(await store.count(unique(), 'a'), 0, 'another collection')
  },
  async 'list.count-expired'({ store, commit, unique, pass }) {
    const collection = unique()
    const index = { a: 1 }
    await commit(put(collection, '1', 1, { index, ttlMs: SHORT }), put(collection, '2', 1, { index }))
    await pass(SHORT)
    await store.sweep()
    same(await store.count(collection, 'a'), 1, 'the count')
  },
  async 'list.cursor-stable'({ store, commit, unique }) {
    const collection = unique()
    const add = (id: string, k: number) => commit(put(collection, id, null, { index: { k } }))
    for (const [i, id] of ['a', 'b', 'c', 'd', 'e'].entries()) await add(id, i * 10)
    const query = { orderBy: 'k', limit: 2 }
    const first = await store.list(collection, query)
    await add('before', -1)
    await add('before too', -1)
    await add('between', 15)
    await commit(remove(collection, 'b'))
    const second = await store.list(collection, { ...query, cursor: first.cursor! })
    await add('tie', 20)
    const third = await store.list(collection, { ...query, limit: 10, cursor: second.cursor! })
    const seen = [first, second, third].map((page) => page.docs.map((doc) => doc.id))
    same(seen.join('; '), 'a,b; between,c; tie,d,e', 'the three pages')
    same(third.cursor, undefined, 'the last cursor')
  },
  async 'list.limits'({ store, commit, unique }) {
    const collection = unique()
    const ids = Array.from({ length: 1001 }, (_, i) => `d${String(i).padStart(4, '0')}`)
    await commit(...ids.map((id) => put(collection, id)))
    const page = await store.list(collection)
    same([page.docs.length, typeof page.cursor], [100, 'string'], 'the default page')
    const most = await store.list(collection, { limit: 5000 })
    same([most.docs.length, typeof most.cursor], [1000, 'string'], 'the largest page')
  },
  async 'list.bad-cursor'({ store, unique }) {
    for (const cursor of ['x', '', 'e30', '%%%', 'W10']) {
      await invalid(store.list(unique(), { cursor }), `cursor ${JSON.stringify(cursor)}`)
    }
  },
  async 'list.reads-own-writes'({ store, commit, unique }) {
    const collection = unique()
    for (let i = 0; i < 10; i++) {
      await commit(put(collection, 'a', i, { index: { i } }))
      const [doc, ...others] = (await store.list(collection, { where: { i } })).docs
      same([doc?.value, others], [i, []], 'the value')
    }
  },
}

export const listRules = /* @__PURE__ */ rulesOf(NAMES, checks)

async function invalid(query: Promise<unknown>, what: string): Promise<void> {
  same(((await rejection(what, query)) as { code?: unknown }).code, 'invalid_argument', what)
}

async function someDocs({ store, unique }: StoreContext) {
  const collection = unique()
  const partitions = [unique(), unique()].sort()
  const keys = { a: 10, b: 9, c: -3, d: 'text' }
  for (const partition of partitions) {
    for (const [id, k] of Object.entries(keys)) {
      await store.commit(partition, {
        ops: [put(collection, id, id, { index: { k, even: id < 'c' ? 1 : 0 } })],
      })
    }
    await store.commit(partition, { ops: [put(collection, 'none')] })
  }
  return { store, collection, partitions }
}
