import type { Guard, Op, Ring } from '../../storage/store.ts'
import { claim, eventually, refused, same, settled } from './claims.ts'
import { append, LONG, put, readAll, type Scene, type StoreRule } from './rule.ts'

export const commitRules: readonly StoreRule[] = [
  {
    id: 'commit/atomic',
    name: 'writes nothing of a commit whose guard or op fails, wherever it stands',
    async check(scene) {
      const { store, partition } = scene
      const { versions } = await store.commit(partition, {
        ops: [
          put('c', 'a', 'old', { index: { k: 1 } }),
          append(5, 'one'),
          { op: 'claim', owner: 'o', token: 5, ttlMs: LONG },
        ],
      })
      const before = await snapshot(scene)
      const good: Guard[] = [
        { guard: 'version', collection: 'c', id: 'a', version: versions[0]! },
        { guard: 'absent', collection: 'c', id: 'b' },
        { guard: 'fence', token: 5 },
        { guard: 'head', seq: 1 },
      ]
      const ops: Op[] = [
        put('c', 'a', 'new'),
        put('c', 'b', 'new'),
        { op: 'delete', collection: 'c', id: 'a' },
        append(5, 'two', 'three'),
        { op: 'release', token: 5 },
        { op: 'claim', owner: 'p', token: 6, ttlMs: LONG },
      ]
      const bad: [Guard, string][] = [
        [{ guard: 'version', collection: 'c', id: 'a', version: versions[0]! + 1 }, 'ConflictError'],
        [{ guard: 'absent', collection: 'c', id: 'a' }, 'ConflictError'],
        [{ guard: 'free' }, 'ConflictError'],
        [{ guard: 'head', seq: 0 }, 'ConflictError'],
        [{ guard: 'fence', token: 4 }, 'FencedError'],
      ]
      for (const [guard, error] of bad) {
        for (const guards of [
          [guard, ...good],
          [...good, guard],
        ]) {
          await refused(store.commit(partition, { guards, ops }), error, JSON.stringify(guard))
        }
      }
      const failing: [Op, string][] = [
        [{ op: 'renew', token: 4, ttlMs: 1 }, 'FencedError'],
        [{ op: 'claim', owner: 'p', token: 5, ttlMs: 1 }, 'ConflictError'],
      ]
      for (const [op, error] of failing) {
        await refused(store.commit(partition, { guards: good, ops: [...ops, op] }), error, JSON.stringify(op))
        await refused(
          store.commit(partition, { guards: good, ops: [{ op: 'clear' }, op] }),
          error,
          'a clear before it',
        )
      }
      same(await snapshot(scene), before, 'what is stored')
      await store.commit(partition, { guards: good, ops })
    },
  },
  {
    id: 'commit/counters',
    name: 'loses none of many concurrent compare-and-set increments',
    async check({ store, partition }) {
      await store.commit(partition, { ops: [put('c', 'n', 0)] })
      const increment = async () => {
        for (;;) {
          const doc = (await store.get(partition, 'c', 'n'))!
          const [error] = await settled(
            store.commit(partition, {
              guards: [{ guard: 'version', collection: 'c', id: 'n', version: doc.version }],
              ops: [put('c', 'n', (doc.value as number) + 1), append(1, String(doc.value))],
            }),
          )
          if (error === undefined) return
          same((error as Error).name, 'ConflictError', 'the refusal')
        }
      }
      await Promise.all(Array.from({ length: 20 }, increment))
      same((await store.get(partition, 'c', 'n'))?.value, 20, 'the counter')
      const texts = (await readAll(store, partition)).map(({ text }) => Number(text))
      same(
        texts,
        Array.from({ length: 20 }, (_, i) => i),
        'the log of it',
      )
    },
  },
  {
    id: 'commit/versions',
    name: 'gives the version of each put, in the order of the ops',
    async check({ store, partition }) {
      const done = await store.commit(partition, {
        ops: [
          put('c', 'a'),
          append(1, 'x'),
          put('d', 'a'),
          { op: 'delete', collection: 'c', id: 'zzz' },
          put('c', 'b'),
        ],
      })
      const docs = [
        await store.get(partition, 'c', 'a'),
        await store.get(partition, 'd', 'a'),
        await store.get(partition, 'c', 'b'),
      ]
      same(
        done.versions,
        docs.map((doc) => doc?.version),
        'versions',
      )
      const nothing = await store.commit(partition, { ops: [] })
      same([nothing.head, nothing.versions], [1, []], 'a commit of nothing')
    },
  },
  {
    id: 'commit/partitions-apart',
    name: 'changes one partition and no other',
    async check({ store, partition, unique }) {
      const other = unique()
      await store.commit(other, {
        ops: [put('c', 'a', 'kept'), append(1, 'kept'), { op: 'claim', owner: 'o', token: 1, ttlMs: LONG }],
      })
      await store.commit(partition, { ops: [put('c', 'a', 'x'), append(2, 'x', 'y')] })
      await store.commit(partition, { ops: [{ op: 'clear' }] })
      same((await store.get(other, 'c', 'a'))?.value, 'kept', 'the document')
      same(
        (await readAll(store, other)).map(({ text }) => text),
        ['kept'],
        'the log',
      )
      await store.assertFence(other, 1)
    },
  },
  {
    id: 'commit/aborted',
    name: 'refuses a commit whose signal has fired, and writes nothing',
    async check({ store, partition }) {
      const change = { ops: [put('c', 'a')], signal: AbortSignal.abort() }
      await refused(store.commit(partition, change), 'UnavailableError', 'the commit')
      same(await store.get(partition, 'c', 'a'), undefined, 'the document')
    },
  },
  {
    id: 'commit/large',
    name: 'takes hundreds of ops and megabytes in one commit',
    async check({ store, partition }) {
      const texts = Array.from({ length: 200 }, (_, i) => `${i} ${'x'.repeat(10_000)}`)
      const ops = [append(1, ...texts), ...texts.map((text, i) => put('c', `${i}`, text, { index: { i } }))]
      const { head, versions } = await store.commit(partition, { ops })
      same([head, versions.length], [200, 200], 'head and versions')
      same(
        (await readAll(store, partition)).map(({ text }) => text),
        texts,
        'the log',
      )
      same((await store.get(partition, 'c', '199'))?.value, texts[199], 'the last document')
    },
  },
  {
    id: 'watch/rings',
    name: 'rings after a commit, when the change can be read, and not once it was stopped',
    async check({ store, partition }) {
      const rings: Ring[] = []
      const stopped: Ring[] = []
      const heads: Promise<number>[] = []
      const stop = store.watch(partition, (ring) => {
        rings.push(ring)
        heads.push(store.inspect(partition).then(({ head }) => head))
      })
      const stopOther = store.watch(partition, (ring) => stopped.push(ring))
      stopOther()
      stopOther()
      await ringing(
        async () => void (await store.commit(partition, { ops: [append(1, 'a')] })),
        () => rings.some(({ log }) => log),
        'a ring for the log',
      )
      claim(
        (await Promise.all(heads)).some((head) => head > 0),
        'the event can be read when the bell rings',
      )
      rings.length = 0
      await ringing(
        async () => void (await store.commit(partition, { ops: [put('c', 'a')] })),
        () => rings.some(({ docs }) => docs),
        'a ring for a document',
      )
      rings.length = 0
      const lease: Op = { op: 'claim', owner: 'o', token: 1, ttlMs: LONG }
      await ringing(
        async () => void (await store.commit(partition, { ops: [lease] })),
        () => rings.some(({ docs }) => docs),
        'a ring for the lease',
      )
      stop()
      same(stopped, [], 'rings of a watch that was stopped')
    },
  },
  {
    id: 'watch/faulty-bell',
    name: 'commits although a bell throws, and rings the others',
    async check({ store, partition }) {
      let rung = 0
      const stops = [
        store.watch(partition, () => {
          throw new Error('a bell of the audit that throws on purpose')
        }),
        store.watch(partition, () => {
          rung += 1
        }),
      ]
      same((await store.commit(partition, { ops: [append(1, 'a')] })).head, 1, 'the head')
      await eventually(() => rung > 0, 'the other bell')
      for (const stop of stops) stop()
    },
  },
  {
    id: 'store/close',
    name: 'refuses every call after close, and lets it be closed twice',
    async check({ open }) {
      const store = await open()
      await store.setup()
      await store.setup()
      await store.close()
      await store.close()
      const calls: [string, () => Promise<unknown>][] = [
        ['get', () => store.get('p', 'c', 'a')],
        ['list', () => store.list('c')],
        ['commit', () => store.commit('p', { ops: [] })],
        ['read', () => store.read('p', { after: 0 })],
        ['inspect', () => store.inspect('p')],
        ['assertFence', () => store.assertFence('p', 1)],
        ['expired', () => store.expired()],
        ['trim', () => store.trim('p', { keepLast: 1 })],
        ['sweep', () => store.sweep()],
        ['watch', async () => store.watch('p', () => {})],
      ]
      for (const [name, call] of calls) await refused(call(), 'UnavailableError', name)
    },
  },
]

/** For stores whose data outlives a handle: two handles on the same data. */
export const sharedRules: readonly StoreRule[] = [
  {
    id: 'shared/sees-commits',
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
    id: 'shared/rings',
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
        'the bell of the other handle',
      )
      stop()
    },
  },
  {
    id: 'shared/race',
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
    id: 'shared/durable',
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

/** A bell may be lost, so a second commit may be needed. */
async function ringing(commit: () => Promise<void>, rung: () => boolean, what: string): Promise<void> {
  for (let attempt = 0; attempt < 2; attempt++) {
    await commit()
    const [error] = await settled(eventually(rung, what, 1_000))
    if (error === undefined) return
  }
  claim(false, `${what}: two commits did not ring`)
}

async function snapshot({ store, partition }: Scene): Promise<unknown> {
  const { head, firstRetained, token, lease } = await store.inspect(partition)
  const docs = [await store.get(partition, 'c', 'a'), await store.get(partition, 'c', 'b')]
  return { head, firstRetained, token, lease, docs, events: await readAll(store, partition) }
}
