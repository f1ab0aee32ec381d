import { describe, expect, onTestFinished, test } from 'vitest'
import { ownerOf } from '../../../src/core/principal.ts'
import { newThread, type ThreadRecord } from '../../../src/engine/records/records.ts'
import { putThread } from '../../../src/engine/records/thread.ts'
import type { Store } from '../../../src/storage/store/store.ts'
import { PLACES } from '../../kit/databases.ts'
import { engineOf } from '../../kit/engine.ts'
import { puppet } from '../../kit/puppet.ts'

const STATUSES = ['idle', 'busy', 'interrupted', 'error'] as const

const owners = ['u', 'v', '=u', `long ${'x'.repeat(300)}`]

const spelled = (id: string | null) => ownerOf(id === null ? null : { id })

const recordOf = (n: number, owner: string | null): ThreadRecord => ({
  ...newThread(`t${String(n).padStart(3, '0')}`, owner, 1_000 + (n % 7)),
  updatedAt: 5_000 - (n % 11),
  status: STATUSES[n % 4]!,
})

describe.each(PLACES)('threads over $name', ({ open }) => {
  async function serve(fill: (store: Store) => Promise<unknown> = async () => {}) {
    const { store } = await open()
    await fill(store)
    const engine = engineOf({ a: puppet().agent }, { store })
    onTestFinished(() => engine.close())
    const list = async (query: Parameters<typeof engine.listThreads>[0]) => {
      const ids: string[] = []
      for await (const { threadId } of engine.listThreads(query)) ids.push(threadId)
      return ids
    }
    return { store, engine, list }
  }

  test('are listed and counted for their owner alone, in every order, for every status and page', async () => {
    const { store, engine, list } = await serve()
    const records = Array.from({ length: 60 }, (_, n) => recordOf(n, spelled([...owners, null][n % 5]!)))
    for (const record of records) await store.commit(record.threadId, { ops: [putThread(record)] })
    for (const owner of [...owners, null, 'nobody']) {
      const principal = owner === null ? null : { id: owner }
      for (const status of [undefined, ...STATUSES]) {
        const own = records.filter(
          (one) => one.owner === spelled(owner) && (status ?? one.status) === one.status,
        )
        expect(await engine.countThreads({ principal, status })).toBe(own.length)
        for (const orderBy of [undefined, 'threadId', 'status', 'createdAt'] as const) {
          const key = (one: ThreadRecord) => one[orderBy ?? 'updatedAt']
          const sorted = own
            .sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : a.threadId < b.threadId ? -1 : 1))
            .map(({ threadId }) => threadId)
          const query = { principal, status, orderBy }
          expect(await list({ ...query, ascending: true })).toEqual(sorted)
          expect(await list(query)).toEqual([...sorted].reverse())
          expect(await list({ ...query, ascending: true, offset: 3, limit: 4 })).toEqual(sorted.slice(3, 7))
          expect(await list({ ...query, offset: 1, limit: 1 })).toEqual([...sorted].reverse().slice(1, 2))
        }
        expect(await list({ principal, status, limit: 0 })).toEqual([])
        expect(await list({ principal, status, offset: 100 })).toEqual([])
      }
    }
  })

  test('are listed and counted by values of their metadata, in every order, for every status and page', async () => {
    const { store, engine, list } = await serve()
    const many = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`key ${i}`, i]))
    const records = Array.from({ length: 48 }, (_, n) => ({
      ...recordOf(n, spelled(['u', 'v', null][n % 3]!)),
      assistantId: n % 5 === 0 ? 'a' : null,
      stateUpdatedAt: 9_000 - (n % 5),
      metadata: {
        ...(n % 8 === 7 && many),
        team: n % 2 ? 'red' : `long ${'x'.repeat(200)}`,
        level: n % 4,
        vip: n % 6 === 0,
        'key 11': 'late',
        title: `title ${n % 3}`,
      },
    }))
    for (const record of records) await store.commit(record.threadId, { ops: [putThread(record)] })
    const wheres: readonly Record<string, string | number | boolean>[] = [
      { team: 'red' },
      { team: `long ${'x'.repeat(200)}` },
      { level: 3 },
      { vip: true, level: 0 },
      { vip: false },
      { 'key 11': 'late' },
      { 'key 10': 10 },
      { title: 'title 1' },
      { graph_id: 'a' },
      { assistant_id: 'a', team: 'red' },
      { team: 'blue' },
      { constructor: 'a' },
      { level: '3' },
    ]
    const shown = (one: ThreadRecord): Record<string, unknown> =>
      one.assistantId === null
        ? { ...one.metadata }
        : { ...one.metadata, graph_id: one.assistantId, assistant_id: one.assistantId }
    for (const owner of ['u', null])
      for (const where of wheres)
        for (const status of [undefined, 'idle'] as const) {
          const principal = owner === null ? null : { id: owner }
          const own = records.filter(
            (one) =>
              one.owner === spelled(owner) &&
              (status ?? one.status) === one.status &&
              Object.entries(where).every(
                ([key, value]) => Object.hasOwn(shown(one), key) && shown(one)[key] === value,
              ),
          )
          expect(await engine.countThreads({ principal, status, where })).toBe(own.length)
          for (const orderBy of [undefined, 'threadId', 'status', 'createdAt', 'stateUpdatedAt'] as const) {
            const key = (one: ThreadRecord) => one[orderBy ?? 'updatedAt']!
            const sorted = own
              .sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : a.threadId < b.threadId ? -1 : 1))
              .map(({ threadId }) => threadId)
            const query = { principal, status, where, orderBy }
            expect(await list({ ...query, ascending: true })).toEqual(sorted)
            expect(await list({ ...query, offset: 1, limit: 2 })).toEqual([...sorted].reverse().slice(1, 3))
          }
        }
  })

  test('that a search only looks at up to a bound are given up to it', async () => {
    const { engine, list } = await serve()
    for (let n = 0; n < 9; n++)
      await engine.createThread({ threadId: `t${n}`, metadata: { title: n % 2 ? 'odd' : 'even' } })
    const query = { where: { title: 'odd' }, orderBy: 'threadId', ascending: true } as const
    expect(await list({ ...query, lookAt: 4 })).toEqual(['t1', 't3'])
    expect(await list(query)).toEqual(['t1', 't3', 't5', 't7'])
    expect(await engine.countThreads({ where: query.where, lookAt: 4 })).toBe(2)
  })

  test('that get other metadata leave the lists of the old ones', async () => {
    const { engine, list } = await serve()
    await engine.createThread({ threadId: 'a', metadata: { team: 'red', level: 1 } })
    await engine.createThread({ threadId: 'b', metadata: { team: 'red', level: 2 } })
    await engine.patchThread({ threadId: 'a', metadata: { team: 'blue' } })
    expect(await list({ where: { team: 'red' } })).toEqual(['b'])
    expect(await list({ where: { team: 'blue' } })).toEqual(['a'])
    expect(await list({ where: { level: 1 } })).toEqual(['a'])
    await engine.deleteThread({ threadId: 'a' })
    expect(await engine.countThreads({ where: { team: 'blue' } })).toBe(0)
  })

  test('that change or go leave their old places', async () => {
    const { engine, list } = await serve()
    const principal = { id: 'u' }
    for (const threadId of ['a', 'b', 'c']) await engine.createThread({ threadId, principal })
    await engine.patchThread({ threadId: 'a', principal, metadata: { n: 1 } })
    await engine.deleteThread({ threadId: 'b', principal })
    expect((await list({ principal, orderBy: 'threadId' })).sort()).toEqual(['a', 'c'])
    expect([
      await engine.countThreads({ principal }),
      await engine.countThreads({ principal, status: 'idle' }),
    ]).toEqual([2, 2])
    expect(await engine.countThreads({ principal, status: 'busy' })).toBe(0)
    expect(await engine.countThreads({ principal: { id: 'v' } })).toBe(0)
  })
})
