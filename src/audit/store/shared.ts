import { refused, same } from './claims.ts'
import { append, LONG, put, readAll, type StoreRule } from './rule.ts'
import { ringing } from './watch.ts'

/** For stores whose data outlives a handle: two handles on the same data. */
export const sharedRules: readonly StoreRule[] = [
  {
    id: 'shared.sees-commits',
    name: 'shows one handle what another committed, and fences across handles',
    async check({ store, partition, open, unique }) {
      const other = await open()
      const collection = unique()
      await store.commit(partition, {
        ops: [{ op: 'claim', owner: 'a', token: 5, ttlMs: LONG }, append(5, 'x'), put(collection, 'd', 1)],
      })
      same(
        (await readAll(other, partition)).map(({ text }) => text),
        ['x'],
        'the log',
      )
      same((await other.get(partition, collection, 'd'))?.value, 1, 'the document')
      same((await other.list(collection)).docs.length, 1, 'the list')
      const second = other.commit(partition, {
        guards: [{ guard: 'free' }],
        ops: [{ op: 'claim', owner: 'b', token: 6, ttlMs: LONG }],
      })
      await refused(second, 'ConflictError', 'a claim of the lease the other holds')
      await other.commit(partition, { ops: [{ op: 'claim', owner: 'b', token: 6, ttlMs: LONG }] })
      const zombie = store.commit(partition, {
        guards: [{ guard: 'fence', token: 5 }],
        ops: [append(5, 'late')],
      })
      await refused(zombie, 'FencedError', 'the old owner')
    },
  },
  {
    id: 'shared.rings',
    name: 'rings across handles within a second',
    async check({ store, partition, open }) {
      const other = await open()
      let rung = false
      const stop = other.watch(partition, ({ log }) => {
        if (log) rung = true
      })
      await ringing(
        async () => void (await store.commit(partition, { ops: [append(1, 'x')] })),
        () => rung,
        'the notification of the other handle',
      )
      stop()
    },
  },
  {
    id: 'shared.race',
    name: 'numbers appends of two handles without holes, and lets one of both claim',
    async check({ store, partition, open }) {
      const other = await open()
      const writes = Array.from({ length: 40 }, (_, i) =>
        (i % 2 ? store : other).commit(partition, { ops: [append(i, `${i}`)] }),
      )
      const heads = (await Promise.all(writes)).map(({ head }) => head)
      const numbers = Array.from({ length: 40 }, (_, i) => i + 1)
      same(
        heads.sort((a, b) => a - b),
        numbers,
        'heads',
      )
      same(
        (await readAll(store, partition)).map(({ seq }) => seq),
        numbers,
        'the log',
      )
      const claims = [store, other].map((handle, i) =>
        handle.commit(partition, {
          guards: [{ guard: 'free' }],
          ops: [{ op: 'claim', owner: `${i}`, token: 100 + i, ttlMs: LONG }],
        }),
      )
      const won = (await Promise.allSettled(claims)).filter(({ status }) => status === 'fulfilled')
      same(won.length, 1, 'winners')
    },
  },
  {
    id: 'shared.durable',
    name: 'keeps documents, log, lease and counters when a handle is closed',
    async check({ partition, open }) {
      const first = await open()
      const { versions } = await first.commit(partition, {
        ops: [
          { op: 'claim', owner: 'a', token: 5, ttlMs: LONG },
          append(5, 'x', 'y'),
          put('c', 'd', { a: 1 }),
        ],
      })
      await first.close()
      const second = await open()
      const { head, token, lease } = await second.inspect(partition)
      same([head, token, lease?.owner], [2, 5, 'a'], 'the state')
      same(
        (await readAll(second, partition)).map(({ text }) => text),
        ['x', 'y'],
        'the log',
      )
      same((await second.get(partition, 'c', 'd'))?.version, versions[0], 'the document')
    },
  },
]
