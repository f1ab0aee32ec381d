import type { Json, Op, Store } from '../../storage/store/store.ts'
import { type Checks, claim, outcome, refused, rulesOf, same } from '../check.ts'
import { append, clear, isAbsent, isAt, LONG, put, remove, SHORT, type StoreContext } from './rule.ts'

const ODD_IDS = [
  '',
  '__proto__',
  'constructor',
  'a/b',
  'a%2Fb',
  "'; --",
  '"{}*:\\',
  'é\u0000漢🙂',
  ' x ',
  'x'.repeat(4096),
]

const VALUES: readonly Json[] = [
  null,
  true,
  0,
  -1.5e300,
  Number.MAX_SAFE_INTEGER,
  '',
  'é\u0000\u2028🙂"\\',
  [],
  {},
  { deep: [{ a: [[[1]]] }], '': 0, empty: {} },
  JSON.parse('{"__proto__":{"polluted":true},"constructor":1}'),
  'x'.repeat(300_000),
]

const NAMES = {
  'documents.round-trip': 'returns every JSON value as it was put',
  'documents.absent': 'returns undefined for a document that does not exist',
  'documents.odd-ids': 'accepts any string as partition, collection and id',
  'documents.isolated': 'stores a copy: changing the value that was put or returned does not change it',
  'documents.versions-rise': 'increases the version with each put, also after delete, clear and expiry',
  'documents.ttl': 'keeps a document for its time to live and no longer',
  'documents.inspected':
    'returns documents with the state of their partition, equal to get, in the requested order',
  'documents.many': 'returns documents of many partitions, each equal to get, in the requested order',
  'documents.not-json': 'rejects values that are not JSON, and writes nothing of that commit',
  'documents.compare-and-set':
    'passes a version guard only for that version, and an absence guard only if the document is absent',
}

const checks: Checks<keyof typeof NAMES, StoreContext> = {
  async 'documents.round-trip'({ store, partition, commit }) {
    for (const [i, value] of VALUES.entries()) {
      await commit(put('c', `v${i}`, value, { index: { i } }))
      const doc = await store.get(partition, 'c', `v${i}`)
      same(doc?.value, value, 'the value')
      same([doc?.partition, doc?.id, doc?.index], [partition, `v${i}`, { i }], 'partition, id and index')
    }
    same(({} as { polluted?: unknown }).polluted, undefined, 'Object.prototype')
  },
  async 'documents.absent'({ store, partition, commit, unique }) {
    await commit(put('c', 'a'))
    same(await store.get(partition, 'c', 'b'), undefined, 'another id')
    same(await store.get(partition, 'd', 'a'), undefined, 'another collection')
    same(await store.get(unique(), 'c', 'a'), undefined, 'another partition')
  },
  async 'documents.odd-ids'({ store, partition, unique }) {
    const collection = `${unique()} ${ODD_IDS[7]}`
    for (const id of ODD_IDS) {
      const ops = [put(collection, id, { id }), put(collection, 'other', id)]
      await store.commit(partition + id, { ops })
    }
    for (const id of ODD_IDS) {
      same((await store.get(partition + id, collection, id))?.value, { id }, 'the value')
      same((await store.get(partition + id, collection, 'other'))?.value, id, 'the neighbour')
    }
    const { docs } = await store.list(collection)
    same(docs.length, ODD_IDS.length * 2, 'how many are listed')
    const found = [...new Set(docs.map((doc) => doc.partition))].sort()
    same(found, ODD_IDS.map((id) => partition + id).sort(), 'partitions')
  },
  async 'documents.isolated'({ store, partition, commit, unique }) {
    const collection = unique()
    const value = { list: [1], inner: { a: 1 } }
    const index = { k: 1 }
    await commit(put(collection, 'a', value, { index }))
    value.list.push(2)
    index.k = 2
    const doc = (await store.get(partition, collection, 'a'))!
    same(doc.value, { list: [1], inner: { a: 1 } }, 'after a change of what was put')
    tamper(doc.value)
    tamper((await store.list(collection)).docs[0]?.value)
    const again = (await store.get(partition, collection, 'a'))!
    same(again.value, { list: [1], inner: { a: 1 } }, 'after a change of what was given')
    same(again.index, { k: 1 }, 'the index')
  },
  async 'documents.versions-rise'({ store, partition, commit, pass }) {
    const versions: number[] = []
    const write = async (ttlMs?: number) => {
      const done = await commit(put('c', 'a', versions.length, ttlMs === undefined ? {} : { ttlMs }))
      versions.push(...done.versions)
      same((await store.get(partition, 'c', 'a'))?.version, versions.at(-1), 'the version read')
    }
    await write()
    await write()
    await commit(remove('c', 'a'))
    await write()
    await commit(clear)
    await write()
    await write(LONG)
    await commit(put('c', 'a', 0, { ttlMs: SHORT }))
    await pass(SHORT)
    await store.sweep()
    await write()
    const { versions: pair } = await commit(put('c', 'a', 1), remove('c', 'a'), put('c', 'a', 2))
    versions.push(...pair)
    same(versions.length, 8, 'versions given')
    claim(versions.every(Number.isSafeInteger), `versions are whole numbers: ${versions}`)
    const rise = versions.every((version, i) => i === 0 || version > versions[i - 1]!)
    claim(rise, `versions rise: ${versions}`)
  },
  async 'documents.ttl'({ store, partition, commit, commitIf, unique, pass }) {
    const collection = unique()
    const ttl = (ttlMs: number) => ({ ttlMs, index: { k: 1 } })
    await commit(
      put(collection, 'long', 1, ttl(LONG)),
      put(collection, 'short', 1, ttl(SHORT)),
      put(collection, 'ever'),
    )
    await commit(put(collection, 'revived', 1, ttl(SHORT)))
    await commit(put(collection, 'revived', 2))
    await pass(SHORT)
    same(await store.get(partition, collection, 'short'), undefined, 'get of an expired document')
    same(await listIds(store, collection), ['ever', 'long', 'revived'], 'list')
    await store.sweep()
    same(await listIds(store, collection), ['ever', 'long', 'revived'], 'list after a sweep')
    same((await store.get(partition, collection, 'revived'))?.value, 2, 'a put without ttl ends the old ttl')
    await commitIf([isAbsent(collection, 'short')], put(collection, 'short', 'new'))
    same((await store.get(partition, collection, 'short'))?.value, 'new', 'a new document of that id')
  },
  async 'documents.inspected'({ store, partition, unique, commit, pass }) {
    const key = (id: string, collection = 'c') => ({ collection, id })
    const asked = [
      key('b'),
      key('gone'),
      key('a'),
      key('a', 'd'),
      key('short'),
      ...ODD_IDS.map((id) => key(id)),
    ]
    const never = await store.inspect(unique(), asked)
    same([never.head, never.docs], [0, asked.map(() => undefined)], 'a partition without documents')
    await commit(put('c', 'a', 1, { index: { i: 1 } }), put('c', 'b', { deep: [null] }), append(1, 'x'))
    await commit(
      put('c', 'short', 1, { ttlMs: SHORT }),
      put('c', 'gone'),
      ...ODD_IDS.map((id) => put('c', id, id)),
    )
    await commit(remove('c', 'gone'))
    await pass(SHORT)
    const { head, firstRetained, docs } = await store.inspect(partition, asked)
    same([head, firstRetained], [1, 1], 'the state')
    const one = await Promise.all(asked.map(({ collection, id }) => store.get(partition, collection, id)))
    same(docs, one, 'the documents')
    same(
      docs.slice(0, 5).map((doc) => doc?.value),
      [{ deep: [null] }, undefined, 1, undefined, undefined],
      'values',
    )
    same((await store.inspect(partition)).docs, [], 'no documents where none is asked for')
  },
  async 'documents.many'({ store, partition, unique, commit, pass }) {
    const other = unique()
    await commit(put('c', 'a', 1, { index: { i: 1 } }), put('d', 'a', 2), put('c', 'gone'))
    await commit(put('c', 'short', 1, { ttlMs: SHORT }), remove('c', 'gone'))
    await store.commit(other, { ops: ['a', ...ODD_IDS].map((id) => put('c', id, id)) })
    await pass(SHORT)
    const places = [
      { partition: other, id: 'a' },
      { partition: unique(), id: 'a' },
      { partition, id: 'a' },
      { partition, id: 'gone' },
      { partition, id: 'short' },
      { partition: other, id: 'a' },
      ...ODD_IDS.map((id) => ({ partition: other, id })),
    ]
    const docs = await store.getMany('c', places)
    const one = await Promise.all(places.map(({ partition, id }) => store.get(partition, 'c', id)))
    same(docs, one, 'the documents')
    same(
      docs.slice(0, 6).map((doc) => doc?.value),
      ['a', undefined, 1, undefined, undefined, 'a'],
      'values',
    )
    same(await store.getMany('c', []), [], 'no documents where none is asked for')
    const many = Array.from({ length: 1_000 }, (_, at) => ({ partition, id: at === 999 ? 'a' : `n${at}` }))
    same((await store.getMany('c', many))[999]?.value, 1, 'the last of a thousand')
  },
  async 'documents.not-json'({ store, partition, commit }) {
    const circular: Record<string, unknown> = {}
    circular.self = circular
    for (const value of [circular, undefined, 1n]) {
      const unfit = { ...put('c', 'b'), value } as Op
      const [error] = await outcome(commit(put('c', 'a', 1), append(1, 'x'), unfit))
      claim(error !== undefined, 'the commit is refused')
    }
    same(await store.get(partition, 'c', 'a'), undefined, 'the document before it')
    same((await store.inspect(partition)).head, 0, 'the log')
  },
  async 'documents.compare-and-set'({ store, partition, commitIf }) {
    const putAt = (version: number) => commitIf([isAt('c', 'a', version)], put('c', 'a', version))
    const putNew = () => commitIf([isAbsent('c', 'a')], put('c', 'a', 'absent'))
    await refused(putAt(1), 'ConflictError', 'a version of an absent document')
    const first = (await putNew()).versions[0]!
    await refused(putNew(), 'ConflictError', 'absence of a present document')
    const second = (await putAt(first)).versions[0]!
    await refused(putAt(first), 'ConflictError', 'an old version')
    await refused(putAt(second + 1), 'ConflictError', 'a version to come')
    same((await store.get(partition, 'c', 'a'))?.value, first, 'the value')
  },
}

export const documentRules = /* @__PURE__ */ rulesOf(NAMES, checks)

const listIds = async (store: Store, collection: string): Promise<string[]> =>
  (await store.list(collection)).docs.map(({ id }) => id)

/** Changes a returned value. A frozen value may throw. */
function tamper(value: unknown): void {
  const given = value as { list: number[]; inner: { a: number } }
  for (const change of [() => given.list.push(3), () => (given.inner.a = 9)]) {
    try {
      change()
    } catch (error) {
      claim(error instanceof TypeError, `only a frozen value may refuse: ${error}`)
    }
  }
}
