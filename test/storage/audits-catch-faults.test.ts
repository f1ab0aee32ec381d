import { expect, test, vi } from 'vitest'
import { storeAudits } from '../../src/audit/store.ts'
import { ConflictError } from '../../src/storage/errors.ts'
import { memoryStore } from '../../src/storage/memory/store.ts'
import type { Change, Committed, Doc, LogBatch, Op, Store } from '../../src/storage/store/store.ts'

vi.spyOn(console, 'error').mockImplementation(() => {})

let time = 1_700_000_000_000
const create = () => memoryStore({ now: () => time })

/** A correct store with one fault. The named audit must find it. */
const faults: Record<string, [audit: string, fault: (store: Store) => Partial<Store>]> = {
  'deals versions by document, from 1': [
    'documents.versions-rise',
    (store) => {
      const counts = new Map<string, number>()
      return {
        async commit(partition, change) {
          const done = await store.commit(partition, change)
          for (const op of change.ops) {
            if (op.op === 'delete' || op.op === 'clear') counts.clear()
            if (op.op === 'put') counts.set(op.id, (counts.get(op.id) ?? 0) + 1)
          }
          return { ...done, versions: [...counts.values()] }
        },
      }
    },
  ],
  'hands out the value it keeps': [
    'documents.isolated',
    (store) => {
      const kept = new Map<string, Doc>()
      return {
        async get(partition, collection, id) {
          const doc = await store.get(partition, collection, id)
          const key = `${partition}${collection}${id}${doc?.version}`
          if (doc && !kept.has(key)) kept.set(key, doc)
          return doc && kept.get(key)
        },
      }
    },
  ],
  'forgets the time to live': [
    'documents.ttl',
    (store) => ({ commit: mapOps(store, (op: object) => ({ ...op, ttlMs: undefined })) }),
  ],
  'pages by offset': [
    'list.cursor-stable',
    (store) => ({
      async list(collection, { cursor, limit = 100, ...query } = {}) {
        const from = Number(cursor ?? 0)
        const { docs } = await store.list(collection, { ...query, limit: 1000 })
        const page = { docs: docs.slice(from, from + limit) }
        return from + limit < docs.length ? { ...page, cursor: String(from + limit) } : page
      },
    }),
  ],
  'pages on from the start where an offset is given': [
    'list.offset',
    (store) => ({ list: (collection, query = {}) => store.list(collection, { ...query, offset: 0 }) }),
  ],
  'counts puts': [
    'list.count',
    (store) => {
      let puts = 0
      return {
        count: async () => puts,
        async commit(partition, change) {
          const done = await store.commit(partition, change)
          puts += change.ops.filter(({ op }) => op === 'put').length
          return done
        },
      }
    },
  ],
  'skips the first event of a batch': [
    'log.numbered',
    (store) => ({
      async read(partition, query) {
        const batch = await store.read(partition, query)
        return batch.count < 2 ? batch : dropFirst(batch)
      },
    }),
  ],
  'reads events again': [
    'log.batches',
    (store) => ({
      read: (partition, query) =>
        store.read(partition, { ...query, after: query.after === 17 ? 18 : query.after }),
    }),
  ],
  'hides the gap': [
    'log.trim-keep-last',
    (store) => ({
      read: async (partition, query) => ({ ...(await store.read(partition, query)), firstRetained: 1 }),
    }),
  ],
  'keeps one token for all events': [
    'log.numbered',
    (store) => ({ commit: mapOps(store, (op: Op) => (op.op === 'append' ? { ...op, token: 1 } : op)) }),
  ],
  'commits in two steps': [
    'commit.atomic',
    (store) => ({
      async commit(partition, { guards = [], ops }) {
        const puts = ops.filter(({ op }) => op === 'put')
        const rest = ops.filter(({ op }) => op !== 'put')
        const { versions } = await store.commit(partition, { guards, ops: puts })
        return { ...(await store.commit(partition, { ops: rest })), versions }
      },
    }),
  ],
  'checks the guards before the commit': [
    'commit.counters',
    (store) => ({
      async commit(partition, { guards = [], ops }) {
        await store.commit(partition, { guards, ops: [] })
        await Promise.resolve()
        return store.commit(partition, { ops })
      },
    }),
  ],
  'ignores the end of a lease': [
    'lease.expiry',
    (store) => ({
      async assertFence(partition, token) {
        const { lease } = await store.inspect(partition)
        if (lease?.token !== token) await store.assertFence(partition, token)
      },
    }),
  ],
  'calls a lost lease a conflict': [
    'lease.renew',
    (store) => ({
      commit: (partition, change) =>
        store.commit(partition, change).catch((error) => {
          throw error.code === 'fenced' ? new ConflictError('lost') : error
        }),
    }),
  ],
  'lets a released token be issued again': [
    'lease.release',
    (store) => ({
      commit: (partition, change) =>
        store.commit(partition, change).catch((error): Committed => {
          if (change.ops.some(({ op }) => op === 'claim') && !change.guards) return { head: 0, versions: [] }
          throw error
        }),
    }),
  ],
  'never notifies': ['watch.rings', () => ({ watch: () => () => {} })],
  'notifies those who stopped': [
    'watch.rings',
    (store) => ({
      watch(partition, listener) {
        store.watch(partition, listener)
        return () => {}
      },
    }),
  ],
  'stays open when closed': ['handle.close', (store) => ({ close: async () => void (await store.sweep()) })],
  'takes a write although it was aborted': [
    'commit.aborted',
    (store) => ({ commit: (partition, { signal: _, ...change }: Change) => store.commit(partition, change) }),
  ],
}

for (const [fault, [audit, replace]] of Object.entries(faults)) {
  test(`${audit} finds a store that ${fault}`, async () => {
    const faulty = () => {
      const store = create()
      return { ...store, ...replace(store) }
    }
    const audits = storeAudits({ create: faulty, advance: (ms) => void (time += ms), sequences: 0 })
    const found = audits.find(({ id }) => id === `store.${audit}`)!
    await expect(found.fn()).rejects.toThrow()
  })
}

test('the random sequences find faults, and show the steps that are needed', async () => {
  const faulty = () => {
    const store = create()
    const commit: Store['commit'] = (partition, change) => {
      // A release by anyone frees the lease.
      const ops = change.ops.map((op) =>
        op.op === 'release' ? ({ ...op, token: held(partition) } as Op) : op,
      )
      const claimed = change.ops.findLast((op) => op.op === 'claim')
      return store.commit(partition, { ...change, ops }).then((done) => {
        if (claimed) tokens.set(partition, claimed.token)
        return done
      })
    }
    const tokens = new Map<string, number>()
    const held = (partition: string) => tokens.get(partition) ?? 0
    return { ...store, commit }
  }
  const audits = storeAudits({ create: faulty, advance: (ms) => void (time += ms), sequences: 30 })
  const failures: string[] = []
  for (const { id, fn } of audits) {
    if (id.startsWith('store.sequence.')) await fn().catch((error: Error) => failures.push(error.message))
  }
  expect(failures.length).toBeGreaterThan(0)
  for (const message of failures) {
    const steps = JSON.parse(message.slice(message.indexOf('\nafter ') + 7)) as { step: string }[]
    expect(steps.length).toBeLessThanOrEqual(4)
  }
})

function mapOps(store: Store, change: (op: Op) => unknown): Store['commit'] {
  return (partition, { ops, ...rest }) =>
    store.commit(partition, { ...rest, ops: ops.map((op) => change(op) as Op) })
}

function dropFirst(batch: LogBatch): LogBatch {
  return {
    ...batch,
    first: batch.first + 1,
    count: batch.count - 1,
    offsets: batch.offsets.subarray(1),
    originOf: batch.originOf.subarray(1),
  }
}
