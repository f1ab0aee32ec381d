import type { Guard, Op } from '../../storage/store/store.ts'
import { outcome, refused, same } from './claims.ts'
import { type AuditContext, append, LONG, put, readAll, type StoreRule } from './rule.ts'

export const commitRules: readonly StoreRule[] = [
  {
    id: 'commit.atomic',
    name: 'writes nothing of a commit whose guard or op fails, wherever it stands',
    async check(context) {
      const { store, partition } = context
      const { versions } = await store.commit(partition, {
        ops: [
          put('c', 'a', 'old', { index: { k: 1 } }),
          append(5, 'one'),
          { op: 'claim', owner: 'o', token: 5, ttlMs: LONG },
        ],
      })
      const before = await snapshot(context)
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
      same(await snapshot(context), before, 'what is stored')
      await store.commit(partition, { guards: good, ops })
    },
  },
  {
    id: 'commit.counters',
    name: 'loses none of many concurrent compare-and-set increments',
    async check({ store, partition }) {
      await store.commit(partition, { ops: [put('c', 'n', 0)] })
      const increment = async () => {
        for (;;) {
          const doc = (await store.get(partition, 'c', 'n'))!
          const [error] = await outcome(
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
    id: 'commit.versions',
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
    id: 'commit.partitions-apart',
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
    id: 'commit.aborted',
    name: 'refuses a commit whose signal has fired, and writes nothing',
    async check({ store, partition }) {
      const change = { ops: [put('c', 'a')], signal: AbortSignal.abort() }
      await refused(store.commit(partition, change), 'UnavailableError', 'the commit')
      same(await store.get(partition, 'c', 'a'), undefined, 'the document')
    },
  },
  {
    id: 'commit.large',
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
]

async function snapshot({ store, partition }: AuditContext): Promise<unknown> {
  const { head, firstRetained, token, lease } = await store.inspect(partition)
  const docs = [await store.get(partition, 'c', 'a'), await store.get(partition, 'c', 'b')]
  return { head, firstRetained, token, lease, docs, events: await readAll(store, partition) }
}
