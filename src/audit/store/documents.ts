import type { Json, Op } from '../../storage/store/store.ts'
import { claim, refused, same } from './claims.ts'
import { type AuditContext, LONG, put, SHORT, type StoreRule } from './rule.ts'

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

export const documentRules: readonly StoreRule[] = [
  {
    id: 'documents.round-trip',
    name: 'gives back every JSON value as it was put',
    async check({ store, partition }) {
      for (const [i, value] of VALUES.entries()) {
        await store.commit(partition, { ops: [put('c', `v${i}`, value, { index: { i } })] })
        const doc = await store.get(partition, 'c', `v${i}`)
        same(doc?.value, value, 'the value')
        same([doc?.partition, doc?.id, doc?.index], [partition, `v${i}`, { i }], 'partition, id and index')
      }
      same(({} as { polluted?: unknown }).polluted, undefined, 'Object.prototype')
    },
  },
  {
    id: 'documents.absent',
    name: 'gives undefined for a document that is not there',
    async check({ store, partition, unique }) {
      await store.commit(partition, { ops: [put('c', 'a')] })
      same(await store.get(partition, 'c', 'b'), undefined, 'another id')
      same(await store.get(partition, 'd', 'a'), undefined, 'another collection')
      same(await store.get(unique(), 'c', 'a'), undefined, 'another partition')
    },
  },
  {
    id: 'documents.odd-ids',
    name: 'takes any string as partition, collection and id',
    async check({ store, partition, unique }) {
      const collection = `${unique()} ${ODD_IDS[7]}`
      for (const id of ODD_IDS) {
        await store.commit(partition + id, {
          ops: [put(collection, id, { id }), put(collection, 'other', id)],
        })
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
  },
  {
    id: 'documents.isolated',
    name: 'keeps a copy: neither what was put nor what was given back reaches it',
    async check({ store, partition, unique }) {
      const collection = unique()
      const value = { list: [1], inner: { a: 1 } }
      const index = { k: 1 }
      const write = store.commit(partition, { ops: [put(collection, 'a', value, { index })] })
      await write
      value.list.push(2)
      index.k = 2
      const doc = (await store.get(partition, collection, 'a'))!
      same(doc.value, { list: [1], inner: { a: 1 } }, 'after a change of what was put')
      tamper(doc.value)
      tamper((await store.list(collection)).docs[0]?.value)
      const again = (await store.get(partition, collection, 'a'))!
      same(
        [again.value, again.index],
        [{ list: [1], inner: { a: 1 } }, { k: 1 }],
        'after a change of what was given',
      )
    },
  },
  {
    id: 'documents.versions-rise',
    name: 'raises the version with each put, also after delete, clear and expiry',
    async check({ store, partition, pass }) {
      const versions: number[] = []
      const write = async (ttlMs?: number) => {
        const change = { ops: [put('c', 'a', versions.length, ttlMs === undefined ? {} : { ttlMs })] }
        versions.push(...(await store.commit(partition, change)).versions)
        same((await store.get(partition, 'c', 'a'))?.version, versions.at(-1), 'the version read')
      }
      await write()
      await write()
      await store.commit(partition, { ops: [{ op: 'delete', collection: 'c', id: 'a' }] })
      await write()
      await store.commit(partition, { ops: [{ op: 'clear' }] })
      await write()
      await write(LONG)
      await store.commit(partition, { ops: [put('c', 'a', 0, { ttlMs: SHORT })] })
      await pass(SHORT)
      await store.sweep()
      await write()
      const { versions: pair } = await store.commit(partition, {
        ops: [put('c', 'a', 1), { op: 'delete', collection: 'c', id: 'a' }, put('c', 'a', 2)],
      })
      versions.push(...pair)
      same(versions.length, 8, 'versions given')
      claim(versions.every(Number.isSafeInteger), `versions are whole numbers: ${versions}`)
      claim(
        versions.every((version, i) => i === 0 || version > versions[i - 1]!),
        `versions rise: ${versions}`,
      )
    },
  },
  {
    id: 'documents.ttl',
    name: 'keeps a document for its time to live, and no document after it',
    async check({ store, partition, pass, unique }) {
      const collection = unique()
      const ttl = (ttlMs: number) => ({ ttlMs, index: { k: 1 } })
      await store.commit(partition, {
        ops: [
          put(collection, 'long', 1, ttl(LONG)),
          put(collection, 'short', 1, ttl(SHORT)),
          put(collection, 'ever'),
        ],
      })
      await store.commit(partition, { ops: [put(collection, 'revived', 1, ttl(SHORT))] })
      await store.commit(partition, { ops: [put(collection, 'revived', 2)] })
      await pass(SHORT)
      same(await store.get(partition, collection, 'short'), undefined, 'get of an expired document')
      same(await listIds(store, collection), ['ever', 'long', 'revived'], 'list')
      await store.sweep()
      same(await listIds(store, collection), ['ever', 'long', 'revived'], 'list after a sweep')
      same(
        (await store.get(partition, collection, 'revived'))?.value,
        2,
        'a put without ttl ends the old ttl',
      )
      await store.commit(partition, {
        guards: [{ guard: 'absent', collection, id: 'short' }],
        ops: [put(collection, 'short', 'new')],
      })
      same((await store.get(partition, collection, 'short'))?.value, 'new', 'a new document of that id')
    },
  },
  {
    id: 'documents.not-json',
    name: 'refuses what is no JSON, and writes nothing of that commit',
    async check({ store, partition }) {
      const circular: Record<string, unknown> = {}
      circular.self = circular
      for (const value of [circular, undefined, 1n]) {
        const change = {
          ops: [put('c', 'a', 1), append1(), { ...put('c', 'b'), value: value as Json } as Op],
        }
        const answer = await store.commit(partition, change).then(
          () => 'accepted',
          () => 'refused',
        )
        same(answer, 'refused', 'the commit')
      }
      same(await store.get(partition, 'c', 'a'), undefined, 'the document before it')
      same((await store.inspect(partition)).head, 0, 'the log')
    },
  },
  {
    id: 'documents.compare-and-set',
    name: 'holds a version guard only for that version, and an absence guard only for absence',
    async check({ store, partition }) {
      const change = (guard: 'absent' | number) => ({
        guards: [
          guard === 'absent'
            ? ({ guard, collection: 'c', id: 'a' } as const)
            : ({ guard: 'version', collection: 'c', id: 'a', version: guard } as const),
        ],
        ops: [put('c', 'a', guard)],
      })
      await refused(store.commit(partition, change(1)), 'ConflictError', 'a version of an absent document')
      const first = (await store.commit(partition, change('absent'))).versions[0]!
      await refused(
        store.commit(partition, change('absent')),
        'ConflictError',
        'absence of a present document',
      )
      const second = (await store.commit(partition, change(first))).versions[0]!
      await refused(store.commit(partition, change(first)), 'ConflictError', 'an old version')
      await refused(store.commit(partition, change(second + 1)), 'ConflictError', 'a version to come')
      same((await store.get(partition, 'c', 'a'))?.value, first, 'the value')
    },
  },
]

async function listIds(store: AuditContext['store'], collection: string): Promise<string[]> {
  return (await store.list(collection)).docs.map((doc) => doc.id)
}

function append1() {
  return { op: 'append', token: 1, events: [{ topic: 't', data: new Uint8Array(1) }] } as const
}

/** Writes into a value that was given out. A frozen one may refuse. */
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
