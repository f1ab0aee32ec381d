import Redis from 'ioredis'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import type { DurableStorage } from '../../../src/storage/durable.ts'
import { type RedisStorageOptions, redisStorage } from '../../../src/storage/redis/redis.ts'
import type { Op, Store } from '../../../src/storage/store/store.ts'
import { hasRedis, startRedis } from '../../kit/redis-server.ts'

const append = (bytes: number, count = 1): Op => ({
  op: 'append',
  token: 1,
  events: Array.from({ length: count }, () => ({ topic: 't', data: new Uint8Array(bytes) })),
})
const LOGS = 'agentwire:{directory}:logs'

describe.runIf(hasRedis())('a sweep of redisStorage', async () => {
  const server = await startRedis()
  const admin = new Redis(server.url)
  const opened: DurableStorage[] = []
  afterAll(async () => {
    admin.disconnect()
    await server.remove()
  })
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((storage) => storage.close()))
    await admin.flushall()
  })

  function open(options: Partial<RedisStorageOptions> = {}): Store {
    const storage = redisStorage({ url: server.url, ...options })
    opened.push(storage)
    return storage.store
  }

  async function fill(store: Store, partition: string, rows: number) {
    for (let i = 0; i < rows; i++) await store.commit(partition, { ops: [append(100)] })
  }

  async function left(store: Store, partition: string) {
    const { firstRetained, head } = await store.inspect(partition)
    return [firstRetained, head]
  }

  test('bounds each log, and keeps its last append', async () => {
    const store = open({ maxThreadBytes: 1_000 })
    await fill(store, 'short', 10)
    await fill(store, 'long', 25)
    await store.commit('wide', { ops: [append(100, 3), append(5_000, 2)] })
    await store.sweep()
    expect([await left(store, 'short'), await left(store, 'long'), await left(store, 'wide')]).toEqual([
      [1, 10],
      [16, 25],
      [4, 5],
    ])
    expect((await store.read('long', { after: 0 })).first).toBe(16)
  })

  test('drops thousands of chunks, a part at a time, from what was longest without an append', async () => {
    const store = open({ maxTotalBytes: 1_000 })
    await store.commit('older', { ops: Array.from({ length: 2_500 }, () => append(10)) })
    const { now } = await store.inspect('older')
    await expect.poll(async () => (await store.inspect('older')).now).toBeGreaterThan(now)
    await fill(store, 'newer', 9)
    await store.sweep()
    expect([await left(store, 'older'), await left(store, 'newer')]).toEqual([
      [2_491, 2_500],
      [1, 9],
    ])
  })

  test('drops nothing of an unfinished run, even when its lease has expired', async () => {
    const store = open({ maxThreadBytes: 100, maxTotalBytes: 0, maxAgeMs: 1 })
    await store.commit('p', { ops: [{ op: 'claim', owner: 'o', token: 1, ttlMs: 1 }, append(100, 3)] })
    await fill(store, 'p', 2)
    await expect.poll(() => store.expired()).toHaveLength(1)
    await store.sweep()
    expect(await left(store, 'p')).toEqual([1, 5])
    await store.commit('p', { ops: [{ op: 'release', token: 1 }] })
    await store.sweep()
    expect(await left(store, 'p')).toEqual([6, 5])
  })

  test('keeps logs with events in the directory, and removes those without', async () => {
    const store = open({ maxAgeMs: 600_000 })
    await fill(store, 'kept', 2)
    await fill(store, 'cleared', 1)
    await fill(store, 'trimmed', 1)
    await store.commit('cleared', { ops: [{ op: 'clear' }] })
    await expect.poll(() => admin.zcard(LOGS)).toBe(2)
    await store.trim('trimmed', { keepLast: 0 })
    await store.sweep()
    expect(await admin.zrange(LOGS, '0', '-1')).toEqual(['kept'])
    await fill(store, 'trimmed', 1)
    expect((await admin.zrange(LOGS, '0', '-1')).sort()).toEqual(['kept', 'trimmed'])
  })
})
