import { fork } from 'node:child_process'
import { once } from 'node:events'
import Redis from 'ioredis'
import { createClient } from 'redis'
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { readAll } from '../../../src/audit/store/rule.ts'
import { type RedisStorageOptions, redisStorage } from '../../../src/storage/redis/redis.ts'
import type { Op, Store } from '../../../src/storage/store/store.ts'
import { bundleOf } from '../../kit/bundle.ts'
import { hasRedis, startRedis } from '../../kit/redis-server.ts'

const append = (text: string, token = 1): Op => ({
  op: 'append',
  token,
  events: [{ topic: 't', data: new TextEncoder().encode(text) }],
})
const put = (id: string, index: Record<string, string | number> = {}, ttlMs?: number): Op => ({
  op: 'put',
  collection: 'c',
  id,
  value: null,
  index,
  ...(ttlMs !== undefined && { ttlMs }),
})
const take = (token: number, ttlMs = 600_000): Op => ({ op: 'claim', owner: 'o', token, ttlMs })
const later = { timeout: 30_000, interval: 10 }

describe.runIf(hasRedis())('redisStorage', async () => {
  const server = await startRedis()
  const admin = new Redis(server.url)
  const opened: { close(): Promise<void> }[] = []
  afterAll(async () => {
    admin.disconnect()
    await server.remove()
  })

  beforeEach(async () => {
    await admin.flushall()
  })
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((storage) => storage.close()))
  })

  function open(options: Partial<RedisStorageOptions> = {}) {
    const storage = redisStorage({ ...(options.client ? {} : { url: server.url }), ...options })
    opened.push(storage)
    return storage
  }

  const allKeys = async () => (await admin.keys('*')).sort()
  /** The ids of all connections, which grow. Those of an earlier test may still be closing. */
  const connections = async () =>
    [...String(await admin.client('LIST')).matchAll(/^id=(\d+)/gm)].map(([, id]) => Number(id))

  test('a cleared partition leaves its counters, a deleted thread leaves nothing', async () => {
    const { store, checkpointer } = open()
    await store.commit('p', {
      ops: [take(5), append('x'), put('a', { k: 1 }), put('b', { k: 's' }, 600_000)],
    })
    const config = { configurable: { thread_id: 'p', checkpoint_ns: 'n', checkpoint_id: '1' } }
    await checkpointer.put(
      config,
      { v: 4, id: '2', ts: '', channel_values: { a: 1 }, channel_versions: { a: 1 }, versions_seen: {} },
      { source: 'loop', step: 1, parents: {} },
      { a: 1 },
    )
    await checkpointer.putWrites(config, [['a', 1]], 'task')
    expect((await allKeys()).length).toBeGreaterThan(8)
    await checkpointer.deleteThread('p')
    await store.commit('p', { ops: [{ op: 'clear' }] })
    await vi.waitFor(async () => {
      expect(await allKeys()).toEqual(['agentwire:{directory}:layout', 'agentwire:{p:p}:meta'])
    }, later)
  })

  test('the directory keeps one entry of a document, whatever happened to it', async () => {
    const { store } = open()
    for (let i = 0; i < 20; i++) await store.commit('p', { ops: [put('a', { i }), put('a', { i })] })
    const refused = store.commit('p', { guards: [{ guard: 'head', seq: 9 }], ops: [put('b', { i: 1 })] })
    await expect(refused).rejects.toThrow(/ends at 0/)
    await store.commit('p', { ops: [put('b', { i: 1 }, 1), take(1), take(2)] })
    await vi.waitFor(async () => expect((await store.list('c')).docs.length).toBe(1), later)
    await store.sweep()
    await vi.waitFor(async () => {
      expect([
        await admin.zcard('agentwire:{directory}:by:c'),
        await admin.zcard('agentwire:{directory}:by:c:i'),
        await admin.zcard('agentwire:{directory}:expiring'),
        await admin.zcard('agentwire:{directory}:leases'),
      ]).toEqual([1, 1, 0, 1])
    }, later)
  })

  test('a claim that is refused leaves no lease in the directory, unless another process entered the same one', async () => {
    const { store } = open()
    const leases = 'agentwire:{directory}:leases'
    const claim = (token: number, seq = 9) =>
      store.commit('p', { guards: [{ guard: 'head', seq }], ops: [take(token)] })
    await expect(claim(5)).rejects.toThrow(/ends at 0/)
    await vi.waitFor(async () => expect(await admin.zcard(leases)).toBe(0), later)
    await claim(6, 0)
    await expect(claim(6)).rejects.toThrow(/ends at 0/)
    await admin.zadd(leases, 1, 'p\x007')
    await expect(claim(7)).rejects.toThrow(/ends at 0/)
    await expect(claim(8)).rejects.toThrow(/ends at 0/)
    await vi.waitFor(async () => {
      expect((await admin.zrange(leases, '0', '-1')).sort()).toEqual(['p\x006', 'p\x007'])
    }, later)
    // Nobody can take a lease with a token before one that was given out.
    await store.commit('p', { ops: [take(9)] })
    await admin.zadd(leases, 1, 'p\x007')
    await store.expired()
    expect(await admin.zscore(leases, 'p\x007')).toBeNull()
  })

  test('the first checkpoints of a thread, written at once, register it once', async () => {
    const { checkpointer } = open()
    const put = (id: string) =>
      checkpointer.put(
        { configurable: { thread_id: 't' } },
        { v: 4, id, ts: '', channel_values: {}, channel_versions: {}, versions_seen: {} },
        { source: 'loop', step: 1, parents: {} },
        {},
      )
    await Promise.all(['1', '2', '3'].map(put))
    const threads = 'agentwire:{directory}:threads'
    await vi.waitFor(async () => expect(await admin.zcard(threads)).toBe(1), later)
    await checkpointer.deleteThread('t')
    expect(await admin.zcard(threads)).toBe(0)
  })

  test('directory entries of commits that were never done are ignored, and removed when they are old', async () => {
    const { store } = open()
    await store.commit('p', { ops: [put('a', { i: 1 })] })
    const [young, old] = [`${Date.now()}.x1`, `${Date.now() - 3_600_000}.x2`]
    for (const stamp of [young, old]) {
      for (const id of ['a', 'none']) {
        await admin.zadd('agentwire:{directory}:by:c', 0, `p\0${id}\0${stamp}`)
        await admin.zadd('agentwire:{directory}:expiring', 1, `c\0p\0${id}\0${stamp}`)
      }
    }
    await admin.zadd('agentwire:{directory}:leases', 1, 'p\x009', Date.now(), 'p\x008')
    expect((await store.list('c')).docs.map(({ id }) => id)).toEqual(['a'])
    expect(await store.expired()).toEqual([])
    await store.sweep()
    await vi.waitFor(async () => {
      expect(await admin.zrange('agentwire:{directory}:by:c', '0', '-1')).toHaveLength(3)
    }, later)
    expect(await admin.zrange('agentwire:{directory}:expiring', '0', '-1')).toEqual([
      `c\0p\0a\0${young}`,
      `c\0p\0none\0${young}`,
    ])
    expect(await admin.zrange('agentwire:{directory}:leases', '0', '-1')).toEqual(['p\x008'])
  })

  test.each(['before', 'after'] as const)(
    'what a process left in the directory that was killed %s a commit is removed ten minutes later',
    async (moment) => {
      const child = fork(await bundleOf('test/storage/redis/killed-child.ts'), [server.url, moment])
      const [, signal] = await once(child, 'exit')
      expect(signal).toBe('SIGKILL')
      const { store } = open()
      const entries = async () => {
        const sets = ['by:c', 'by:c:n', 'by:c:list', 'expiring'].map((name) =>
          admin.zcard(`agentwire:{directory}:${name}`),
        )
        return Promise.all(sets)
      }
      const unsettled = 'agentwire:{directory}:unsettled'
      expect(await admin.zcard(unsettled)).toBe(1)
      const left = await entries()
      expect(Math.min(...left)).toBeGreaterThanOrEqual(2)
      // Nothing is removed that a slow process might still need.
      await store.sweep()
      expect(await entries()).toEqual(left)
      for (const member of await admin.zrange(unsettled, '0', '-1')) await admin.zadd(unsettled, 1, member)
      await store.sweep()
      const kept = moment === 'before' ? ['a', 'b'] : []
      expect(await entries()).toEqual(Array(4).fill(kept.length))
      expect(await store.count('c', 'list')).toBe(kept.length)
      expect((await store.list('c')).docs.map(({ id }) => id)).toEqual(kept)
      expect(await admin.exists(unsettled, 'agentwire:{p:p}:gone')).toBe(0)
      expect(await admin.zcard('agentwire:{directory}:logs')).toBe(0)
    },
    20_000,
  )

  test('lists many documents by the most selective field, and in order where no field is selective', async () => {
    const { store } = open()
    for (let at = 0; at < 6_000; at += 500) {
      await store.commit(`p${at % 7}`, {
        ops: Array.from({ length: 500 }, (_, i) =>
          put(`${at + i}`, { n: at + i, even: (at + i) % 2, rare: (at + i) % 1_999 }),
        ),
      })
    }
    const ids = async (query: Parameters<Store['list']>[1]) =>
      (await store.list('c', query)).docs.map(({ id }) => Number(id))
    expect(await ids({ where: { rare: 7 }, orderBy: 'n' })).toEqual([7, 2_006, 4_005])
    expect(await ids({ where: { rare: 7, even: 0 }, orderBy: 'n', descending: true })).toEqual([2_006])
    expect(await ids({ where: { even: 1 }, orderBy: 'n', limit: 3 })).toEqual([1, 3, 5])
    expect(await ids({ where: { even: 1, rare: 5_999 }, orderBy: 'n' })).toEqual([])
    expect(await ids({ partition: 'p0', orderBy: 'n', limit: 2 })).toEqual([0, 1])
    const seen: number[] = []
    let cursor: string | undefined
    do {
      const page = await store.list('c', {
        where: { even: 0 },
        orderBy: 'n',
        descending: true,
        limit: 1_000,
        ...(cursor && { cursor }),
      })
      seen.push(...page.docs.map(({ id }) => Number(id)))
      cursor = page.cursor
    } while (cursor)
    expect(seen).toEqual(Array.from({ length: 3_000 }, (_, i) => 5_998 - 2 * i))
  })

  test.each(['ioredis', 'node-redis'])('%s: needs two connections, whatever is watched', async (kind) => {
    const last = Math.max(...(await connections()))
    const client =
      kind === 'ioredis' ? new Redis(server.url, { lazyConnect: true }) : createClient({ url: server.url })
    const { store } = open({ client })
    const notified = new Set<number>()
    const partitions = Array.from({ length: 1_000 }, (_, i) => `p${i}`)
    const stops = partitions.map((partition, i) => store.watch(partition, () => notified.add(i)))
    await vi.waitFor(() => expect(notified.size).toBe(1_000), later)
    notified.clear()
    const other = open()
    await Promise.all(partitions.map((partition) => other.store.commit(partition, { ops: [append('x')] })))
    await vi.waitFor(() => expect(notified.size).toBe(1_000), later)
    await Promise.all(partitions.map((partition) => store.read(partition, { after: 0 })))
    await other.close()
    const isNew = (id: number) => id > last
    await vi.waitFor(async () => expect((await connections()).filter(isNew).length).toBe(2), later)
    for (const stop of stops) stop()
    await vi.waitFor(async () => expect(await admin.pubsub('CHANNELS', 'agentwire:*')).toEqual([]), later)
  })

  test('notifies of what changed, across processes too', async () => {
    const { store } = open()
    const changes: unknown[] = []
    open().store.watch('p', (change) => changes.push(change))
    await vi.waitFor(() => expect(changes.length).toBe(1), later)
    for (const [ops, change] of [
      [[append('x')], { log: true, docs: false }],
      [[put('d')], { log: false, docs: true }],
      [[append('x'), put('d')], { log: true, docs: true }],
    ] as const) {
      changes.length = 0
      await store.commit('p', { ops })
      await vi.waitFor(() => expect(changes).toEqual([change]), later)
    }
  })

  test("leaves the user's client as it is, and puts its prefix before every key", async () => {
    const ioredis = new Redis(server.url, { keyPrefix: 'app:' })
    const nodeRedis = createClient({ url: server.url })
    await nodeRedis.connect()
    for (const client of [ioredis, nodeRedis]) {
      const storage = open({ client, prefix: 'a:' })
      await storage.store.commit('p', { ops: [append('x'), put('d')] })
      expect(await readAll(storage.store, 'p')).toHaveLength(1)
      await storage.close()
    }
    expect((await allKeys()).filter((key) => key.endsWith(':log'))).toEqual([
      'a:{p:p}:log',
      'app:a:{p:p}:log',
    ])
    expect([await ioredis.ping(), await nodeRedis.ping()]).toEqual(['PONG', 'PONG'])
    await ioredis.quit()
    await nodeRedis.quit()
  })

  test('refuses what it cannot work with', () => {
    const wrong = [
      {},
      { url: server.url, client: admin },
      { client: {} as never },
      { url: server.url, prefix: '{a}' },
      { url: server.url, prefix: 'a b' },
    ]
    for (const options of wrong) {
      expect(() => redisStorage(options)).toThrow(expect.objectContaining({ code: 'invalid_argument' }))
    }
  })

  test('refuses keys of a layout it does not know', async () => {
    await admin.set('agentwire:{directory}:layout', '99')
    await expect(open().store.inspect('p')).rejects.toThrow(/have layout 99/)
  })

  test('keeps one copy of a value that steps did not change, and shares it with forks', async () => {
    const { checkpointer } = open()
    const configurable = { thread_id: 't', checkpoint_ns: '' }
    const big = 'x'.repeat(10_000)
    const idOf = (number: number) => String(number).padStart(2, '0')
    const step = (number: number, parent: number, n: number, changed: Record<string, number>) =>
      checkpointer.put(
        { configurable: { ...configurable, ...(parent > 0 && { checkpoint_id: idOf(parent) }) } },
        {
          v: 4,
          id: idOf(number),
          ts: '',
          channel_values: { big, n },
          channel_versions: { big: 1, n },
          versions_seen: {},
        },
        { source: 'loop', step: number, parents: {} },
        changed,
      )
    await step(1, 0, 1, { big: 1, n: 1 })
    for (let number = 2; number <= 20; number++) await step(number, number - 1, number, { n: number })
    // A copy of step 20 as a child of step 10, as LangGraph forks.
    await step(21, 10, 20, {})
    const fields = await admin.hkeys('agentwire:{p:t}:saved')
    expect(fields.filter((field) => field.startsWith('v')).length).toBe(21)
    const newest = await checkpointer.getTuple({ configurable })
    expect(newest?.checkpoint.channel_values).toEqual({ big, n: 20 })
  })

  test('lists a long history page by page, filtered by metadata or not', async () => {
    const { checkpointer } = open()
    const ids = Array.from({ length: 450 }, (_, i) => String(i).padStart(4, '0'))
    await Promise.all(
      ids.map((id, step) =>
        checkpointer.put(
          { configurable: { thread_id: 't' } },
          { v: 4, id, ts: '', channel_values: {}, channel_versions: {}, versions_seen: {} },
          { source: step % 100 === 7 ? 'update' : 'loop', step, parents: {} },
          {},
        ),
      ),
    )
    const list = async (options: Parameters<typeof checkpointer.list>[1], more = {}) => {
      const found: string[] = []
      const config = { configurable: { thread_id: 't', ...more } }
      for await (const { checkpoint } of checkpointer.list(config, options)) found.push(checkpoint.id)
      return found
    }
    const newest = [...ids].reverse()
    const updates = ['0407', '0307', '0207', '0107', '0007']
    for (const namespace of [{}, { checkpoint_ns: '' }]) {
      expect(await list({}, namespace)).toEqual(newest)
      expect(await list({ limit: 203 }, namespace)).toEqual(newest.slice(0, 203))
      expect(await list({ filter: { source: 'update' } }, namespace)).toEqual(updates)
      expect(await list({ filter: { source: 'update' }, limit: 2 }, namespace)).toEqual(updates.slice(0, 2))
      const before = { configurable: { checkpoint_id: '0100' } }
      expect(await list({ before, limit: 2 }, namespace)).toEqual(['0099', '0098'])
    }
  })

  test('walks a long line of ancestors for what channels received, in order, down to the seed', async () => {
    const { checkpointer } = open()
    const configAt = (number: number) => ({
      configurable: { thread_id: 't', checkpoint_ns: '', checkpoint_id: String(number).padStart(4, '0') },
    })
    const LAST = 250
    for (let number = 1; number <= LAST; number++) {
      const id = configAt(number).configurable.checkpoint_id
      const values = number === 20 ? { list: ['seed'] } : {}
      await checkpointer.put(
        number === 1 ? { configurable: { thread_id: 't' } } : configAt(number - 1),
        { v: 4, id, ts: '', channel_values: values, channel_versions: { list: number }, versions_seen: {} },
        { source: 'loop', step: number, parents: {} },
        { list: number },
      )
      const writes: [string, unknown][] = [
        ['list', number],
        ['other', number],
      ]
      await checkpointer.putWrites(configAt(number), writes, 'task')
    }
    const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i)
    const seen = async (config: object) => {
      const { list, none } = await checkpointer.getDeltaChannelHistory({ config, channels: ['list', 'none'] })
      expect(none).toEqual({ writes: [] })
      return [list?.seed, list?.writes.map(([, , value]) => value)]
    }
    expect(await seen({ configurable: { thread_id: 't' } })).toEqual([['seed'], numbers(20, LAST - 1)])
    expect(await seen(configAt(150))).toEqual([['seed'], numbers(20, 149)])
    expect(await seen(configAt(20))).toEqual([undefined, numbers(1, 19)])
    expect(await seen(configAt(1))).toEqual([undefined, []])
    expect(await seen(configAt(999))).toEqual([undefined, []])
  })

  test('keeps log, documents and directory whole while several processes write, sweep and trim at once', async () => {
    const stores = [1, 2, 3].map(() => open().store)
    const act = async (store: Store, i: number) => {
      const partition = `p${i % 2}`
      if (i % 7 === 0) return store.sweep()
      if (i % 11 === 0) return store.trim(partition, { keepLast: i % 40 })
      if (i % 53 === 0) return store.commit(partition, { ops: [{ op: 'clear' }] })
      const ops = [
        put(`${i % 5}`, { i, [`f${i % 3}`]: i % 5 }, i % 4),
        append(`${i}`),
        put(`${i % 3}`, { i }),
        append(`${i}`),
      ]
      return store.commit(partition, {
        ops: i % 5 ? ops : [{ op: 'delete', collection: 'c', id: '1' }, ...ops],
      })
    }
    await Promise.all(
      Array.from({ length: 15 }, async (_, actor) => {
        for (let i = 0; i < 60; i++) await act(stores[actor % 3]!, actor * 60 + i)
      }),
    )
    await vi.waitFor(async () => {
      await stores[0]!.sweep()
      const docs = (
        await Promise.all(['p0', 'p1'].map((p) => admin.hgetall(`agentwire:{p:${p}}:docs`)))
      ).flatMap((hash) => Object.values(hash))
      const stamps = docs.map((doc) => doc.split('\n', 1)[0]!.split(' ')[2]!).sort()
      const members = await admin.zrange('agentwire:{directory}:by:c', '0', '-1')
      expect(members.map((member) => member.split('\0')[2]!).sort()).toEqual(stamps)
    }, later)
    for (const partition of ['p0', 'p1']) {
      const { head, firstRetained } = await stores[0]!.inspect(partition)
      let next = firstRetained
      for (;;) {
        const { first, count } = await stores[1]!.read(partition, { after: next - 1, limit: 7 })
        if (count === 0) break
        expect(first).toBe(next)
        next += count
      }
      expect(next).toBe(head + 1)
    }
  })
})
