import { InMemoryStore } from '@langchain/langgraph'
import { describe, expect, test } from 'vitest'
import { type GraphStoreAuditOptions, graphStoreAudits } from '../../src/audit/graph-store.ts'
import {
  createGraphStore,
  type GraphStore,
  type GraphStoreOptions,
} from '../../src/storage/graph-store/index.ts'
import { memoryStore } from '../../src/storage/memory/store.ts'
import { DATABASES } from '../kit/databases.ts'

describe("LangGraph's own InMemoryStore", () => {
  const audits = graphStoreAudits({
    create: () => new InMemoryStore(),
    createIndexed: ({ embed, dims, fields }) => {
      const embeddings = {
        embedDocuments: embed,
        embedQuery: async (text: string) => (await embed([text]))[0]!,
      }
      return new InMemoryStore({
        index: { dims, embeddings: embeddings as never, ...(fields && { fields }) },
      })
    },
  })
  for (const { id, name, fn } of audits) test(`${id}: ${name}`, fn)
})

describe.each(Object.entries(DATABASES))('the store for graphs over %s', (_name, create) => {
  let owners = 0
  const make = async (options?: GraphStoreOptions) => {
    const { store } = await (await create())()
    return createGraphStore(store, `owner ${++owners}`, options)
  }
  const audits = graphStoreAudits({ create: () => make(), createIndexed: (index) => make(index) })
  for (const { id, name, fn } of audits) test(`${id}: ${name}`, fn)
})

/** The audits of a store in memory whose clock they move, with a fault. */
function auditsOf(fault: (store: GraphStore) => Partial<GraphStore> = () => ({})) {
  let time = 1_700_000_000_000
  const store = (options?: GraphStoreOptions) => {
    const correct = createGraphStore(memoryStore({ now: () => time }), null, options)
    return { ...correct, ...fault(correct) }
  }
  const options: GraphStoreAuditOptions = {
    create: () => store(),
    createIndexed: (index) => store(index),
    advance: (ms) => void (time += ms),
  }
  return graphStoreAudits(options)
}

describe('the store for graphs over a clock that moves', () => {
  for (const { id, name, fn } of auditsOf()) test(`${id}: ${name}`, fn)
})

const FAULTS: Readonly<
  Record<string, readonly [audit: string, fault: (store: GraphStore) => Partial<GraphStore>]>
> = {
  'merges values': [
    'items.replace',
    (store) => ({
      async put(namespace, key, value, ...rest) {
        await store.put(namespace, key, { ...(await store.get(namespace, key))?.value, ...value }, ...rest)
      },
    }),
  ],
  'forgets when an item was created': [
    'items.replace',
    (store) => ({
      async put(namespace, key, ...rest) {
        await store.delete(namespace, key)
        await store.put(namespace, key, ...rest)
      },
    }),
  ],
  'joins the labels of a namespace': [
    'items.apart',
    (store) => ({
      put: (namespace, ...rest) => store.put([namespace.join(' ')], ...rest),
      get: (namespace, ...rest) => store.get([namespace.join(' ')], ...rest),
    }),
  ],
  'gives undefined for what is missing': [
    'items.missing',
    (store) => ({ get: async (...item) => (await store.get(...item)) ?? (undefined as never) }),
  ],
  'gives times as numbers': [
    'items.round-trip',
    (store) => ({
      async get(...asked) {
        const item = await store.get(...asked)
        return item && { ...item, createdAt: item.createdAt.getTime() as never }
      },
    }),
  ],
  'deletes nothing': ['items.delete', () => ({ delete: async () => {} })],
  'keeps items in an object by their names': [
    'items.names',
    (store) => ({
      put: async (namespace, key, ...rest) =>
        key === '__proto__' ? undefined : store.put(namespace, key, ...rest),
    }),
  ],
  'takes every namespace': [
    'items.refused',
    (store) => ({
      put: (namespace, ...rest) =>
        store.put(
          namespace.length ? namespace.map((label) => String(label).replace(/[.\0]|^$/g, '_')) : ['_'],
          ...rest,
        ),
    }),
  ],
  'loses one of two writes at a time': [
    'items.together',
    (store) => {
      let busy = false
      return {
        async put(...item) {
          if (busy) return
          busy = true
          await store.put(...item)
          busy = false
        },
      }
    },
  ],
  'gives the results of reads first': [
    'batch.order',
    (store) => ({
      async batch<Results>(operations: Parameters<GraphStore['batch']>[0]) {
        const results = await store.batch<unknown[]>(operations)
        return results.sort((a, b) => Number(a === null) - Number(b === null)) as Results
      },
    }),
  ],
  'does the operations of a batch one after the other': [
    'batch.reads-first',
    (store) => ({
      async batch<Results>(operations: Parameters<GraphStore['batch']>[0]) {
        const results: unknown[] = []
        for (const one of operations) results.push(...(await store.batch<unknown[]>([one])))
        return results as Results
      },
    }),
  ],
  'does the first of several writes': [
    'batch.last-counts',
    (store) => ({ batch: (operations) => store.batch([...operations].reverse()) }),
  ],
  'writes what comes before a refused operation': [
    'batch.refused',
    (store) => ({
      async batch<Results>(operations: Parameters<GraphStore['batch']>[0]) {
        const results: unknown[] = []
        for (const one of operations) results.push(...(await store.batch<unknown[]>([one])))
        return results as Results
      },
    }),
  ],
  'finds prefixes by their letters': [
    'search.prefix',
    (store) => ({
      search: async (prefix, options) =>
        (await store.search([], { ...options, limit: 1_000 })).filter(({ namespace }) =>
          namespace.join('').startsWith(prefix.join('')),
        ),
    }),
  ],
  'compares the text of filters': [
    'search.filter',
    (store) => ({
      search: async (prefix, { filter = {}, ...options } = {}) =>
        (await store.search(prefix, options)).filter(({ value }) =>
          Object.entries(filter).every(([field, wanted]) => `${value[field]}` === `${wanted}`),
        ),
    }),
  ],
  'filters a page': [
    'search.pages',
    (store) => ({
      async search(prefix, { filter, ...options } = {}) {
        const page = await store.search(prefix, options)
        return filter ? page.filter(({ value }) => value.odd === filter.odd) : page
      },
    }),
  ],
  'filters everything': [
    'search.filter-prefix',
    (store) => ({ search: (prefix, options) => store.search(options?.filter ? [] : prefix, options) }),
  ],
  'finds what was there once': [
    'search.current',
    (store) => {
      const once = new Map<string, Awaited<ReturnType<GraphStore['search']>>>()
      return {
        async search(prefix, options) {
          const place = JSON.stringify(prefix)
          const found = await store.search(prefix, options)
          if (found.length > 0) once.set(place, found)
          return once.get(place) ?? found
        },
      }
    },
  ],
  'takes wildcards by the letter': [
    'namespaces.match',
    (store) => ({
      listNamespaces: async (options) =>
        [options?.prefix, options?.suffix].flat().includes('*') ? [] : store.listNamespaces(options),
    }),
  ],
  'lists cut namespaces twice': [
    'namespaces.match',
    (store) => ({
      listNamespaces: async ({ maxDepth, ...options } = {}) =>
        (await store.listNamespaces(options)).map((namespace) => namespace.slice(0, maxDepth)),
    }),
  ],
  'lists the newest namespace first': [
    'namespaces.order',
    (store) => ({ listNamespaces: async (options) => (await store.listNamespaces(options)).reverse() }),
  ],
  'cuts namespaces behind the page': [
    'namespaces.pages',
    (store) => ({
      async listNamespaces({ limit, offset, ...options } = {}) {
        const all = await store.listNamespaces(options)
        return offset === undefined ? all : all.slice(offset, offset + limit! - 1)
      },
    }),
  ],
  'gives the farthest first': [
    'similarity.order',
    (store) => ({ search: async (...asked) => (await store.search(...asked)).reverse() }),
  ],
  'compares everything': [
    'similarity.bounds',
    (store) => ({ search: (_prefix, options) => store.search([], options) }),
  ],
  'embeds the whole value': [
    'similarity.fields',
    (store) => ({
      put: (namespace, key, value, _index, options) => store.put(namespace, key, value, ['$'], options),
    }),
  ],
  'embeds the fields of the store only': [
    'similarity.index',
    (store) => ({ put: (namespace, key, value) => store.put(namespace, key, value) }),
  ],
  'keeps the vectors of a value that was replaced': [
    'similarity.replace',
    (store) => {
      const known = new Set<string>()
      return {
        async put(namespace, key, value, index, options) {
          const place = JSON.stringify([namespace, key])
          if (!known.has(place)) await store.put(namespace, key, value, index, options)
          known.add(place)
        },
      }
    },
  ],
  'keeps everything for ever': [
    'ttl.expires',
    (store) => ({ put: (namespace, key, value, index) => store.put(namespace, key, value, index) }),
  ],
  'refreshes whatever is read': [
    'ttl.refresh',
    (store) => ({ get: (namespace, key) => store.get(namespace, key, { refreshTtl: true }) }),
  ],
  'refreshes nothing': [
    'ttl.refresh',
    (store) => ({ search: (prefix, options) => store.search(prefix, { ...options, refreshTtl: false }) }),
  ],
  'keeps the first time to live': [
    'ttl.put',
    (store) => ({
      async put(namespace, key, value, index, options) {
        const known = await store.get(namespace, key, { refreshTtl: false })
        if (!known) await store.put(namespace, key, value, index, options)
      },
    }),
  ],
}

describe('the audits of stores for graphs', () => {
  for (const [fault, [audit, replace]] of Object.entries(FAULTS)) {
    test(`${audit} finds a store that ${fault}`, async () => {
      const found = auditsOf(replace).find(({ id }) => id === `graph-store.${audit}`)!
      await expect(found.fn()).rejects.toThrow()
    })
  }

  test('have a fault for each but for what cannot be empty', () => {
    const found = new Set(Object.values(FAULTS).map(([audit]) => `graph-store.${audit}`))
    const rest = auditsOf().filter(({ id }) => !found.has(id))
    expect(rest.map(({ id }) => id)).toEqual(['graph-store.batch.empty'])
  })
})
