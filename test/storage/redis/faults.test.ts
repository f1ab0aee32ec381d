import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import Redis from 'ioredis'
import { createClient } from 'redis'
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { readAll } from '../../../src/audit/store/rule.ts'
import type { UnavailableError } from '../../../src/storage/errors.ts'
import { type RedisStorageOptions, redisStorage } from '../../../src/storage/redis/redis.ts'
import type { Op } from '../../../src/storage/store/store.ts'
import { startProxy } from '../../kit/proxy.ts'
import { hasRedis, type RedisServer, startRedis } from '../../kit/redis-server.ts'

const append = (text: string, token = 1): Op => ({
  op: 'append',
  token,
  events: [{ topic: 't', data: new TextEncoder().encode(text) }],
})
const put = (id: string, value: string): Op => ({ op: 'put', collection: 'c', id, value, index: { id } })
const take = (token: number): Op => ({ op: 'claim', owner: 'o', token, ttlMs: 600_000 })
const later = { timeout: 30_000, interval: 20 }

/** The typed error that a call must reject with. */
const unavailable = async (work: Promise<unknown>): Promise<UnavailableError> => {
  const error = await work.then(
    (value) => value,
    (reason: unknown) => reason,
  )
  expect(error).toMatchObject({ name: 'UnavailableError', code: 'unavailable' })
  return error as UnavailableError
}

describe.runIf(hasRedis())('redisStorage under faults', async () => {
  const shared = await startRedis()
  const admin = new Redis(shared.url)
  const cleanups: (() => Promise<unknown>)[] = []
  afterAll(async () => {
    admin.disconnect()
    await shared.remove()
  })

  beforeEach(async () => {
    await admin.flushall()
  })
  afterEach(async () => {
    for (const clean of cleanups.splice(0).reverse()) await clean()
    vi.restoreAllMocks()
  })

  function open(options: Partial<RedisStorageOptions> = {}) {
    const from = options.client ? {} : { url: shared.url }
    const storage = redisStorage({ ...from, ...options })
    cleanups.push(storage.close)
    return storage
  }

  async function ownServer(settings: Readonly<Record<string, string>> = {}): Promise<RedisServer> {
    const server = await startRedis(settings)
    cleanups.push(() => server.remove())
    return server
  }

  test('what was committed is there after Redis was killed, and numbers go on', async () => {
    // By the default, everysec, Redis may answer up to two seconds before it writes.
    const server = await ownServer({ appendfsync: 'always' })
    const { store, checkpointer } = open({ url: server.url })
    await store.commit('p', { ops: [take(7), put('d', 'kept')] })
    const config = { configurable: { thread_id: 'p' } }
    await checkpointer.put(
      config,
      { v: 4, id: '1', ts: '', channel_values: { a: 1 }, channel_versions: { a: 1 }, versions_seen: {} },
      { source: 'loop', step: 1, parents: {} },
      { a: 1 },
    )
    for (let i = 1; i <= 100; i++) await store.commit('p', { ops: [append(`${i}`, 7)] })
    await server.kill()
    expect((await unavailable(store.read('p', { after: 0 }))).written).toBe('no')
    expect((await unavailable(store.commit('p', { ops: [append('lost')] }))).written).toBe('no')
    await server.start()
    const events = await readAll(store, 'p')
    expect(events.map(({ seq, text }) => [seq, text])).toEqual(
      Array.from({ length: 100 }, (_, i) => [i + 1, `${i + 1}`]),
    )
    expect((await store.list('c', { where: { id: 'd' } })).docs.map(({ value }) => value)).toEqual(['kept'])
    expect((await store.inspect('p')).lease?.token).toBe(7)
    expect((await checkpointer.getTuple(config))?.checkpoint.channel_values).toEqual({ a: 1 })
    const next = { guards: [{ guard: 'fence', token: 7 } as const], ops: [append('next', 7)] }
    expect((await store.commit('p', next)).head).toBe(101)
  })

  test('a Redis that forgets is warned of once, and lets nobody write on what it forgot', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
    const server = await ownServer({ appendonly: 'no' })
    const storage = open({ url: server.url })
    const { store } = storage
    expect((await storage.report()).durable).toBe(false)
    const before = await store.commit('p', { ops: [take(7), put('d', 'x'), append('1', 7), append('2', 7)] })
    await store.inspect('p')
    expect(warn.mock.calls).toEqual([[expect.stringContaining('appendonly yes')]])
    await server.kill()
    await server.start()
    expect(await readAll(store, 'p')).toEqual([])
    const old = [{ guard: 'fence', token: 7 } as const]
    await expect(store.commit('p', { guards: old, ops: [append('3', 7)] })).rejects.toThrow(/no longer held/)
    const head = [{ guard: 'head', seq: 2 } as const]
    await expect(store.commit('p', { guards: head, ops: [append('3')] })).rejects.toThrow(/ends at 0/)
    const again = await store.commit('p', { ops: [put('d', 'y')] })
    expect(again.versions[0]).toBeGreaterThan(before.versions[0]!)
    expect((await store.list('c')).docs.map(({ value }) => value)).toEqual(['y'])
  })

  test('reports that it is durable where Redis keeps an append-only file, and does not warn', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
    const storage = open()
    await storage.setup()
    expect((await storage.report()).durable).toBe(true)
    expect(warn).not.toHaveBeenCalled()
  })

  test.each(['ioredis', 'node-redis'])(
    'notifications resume after the subscriber of %s was killed',
    async (kind) => {
      const clientOf = () =>
        kind === 'ioredis' ? new Redis(shared.url, { lazyConnect: true }) : createClient({ url: shared.url })
      const reader = open({ client: clientOf() })
      const writer = open()
      let notified = 0
      for (const partition of ['p', 'q']) {
        reader.store.watch(partition, () => {
          notified += 1
        })
      }
      await vi.waitFor(() => expect(notified).toBe(2), later)
      notified = 0
      expect(Number(await admin.call('CLIENT', 'KILL', 'TYPE', 'pubsub'))).toBe(1)
      // For what may have been missed, without any commit.
      await vi.waitFor(() => expect(notified).toBe(2), later)
      await writer.store.commit('q', { ops: [append('x')] })
      await vi.waitFor(() => expect(notified).toBe(3), later)
    },
  )

  test.each(['ioredis', 'node-redis'])('%s: a commit whose answer is lost is done once', async (kind) => {
    const link = await startMuteLink(shared.port)
    cleanups.push(link.close)
    // ioredis sends again by default what was not answered.
    const client =
      kind === 'ioredis' ? new Redis(link.url, { lazyConnect: true }) : createClient({ url: link.url })
    const { store } = open({ client })
    await store.commit('p', { ops: [append('1')] })
    link.mute()
    const lost = unavailable(store.commit('p', { ops: [append('2')] }))
    const witness = open()
    await vi.waitFor(async () => expect((await witness.store.inspect('p')).head).toBe(2), later)
    link.reset()
    expect((await lost).written).toBe('unknown')
    expect((await store.commit('p', { ops: [append('3')] })).head).toBe(3)
    expect((await readAll(store, 'p')).map(({ text }) => text)).toEqual(['1', '2', '3'])
  })

  test.each(['ioredis', 'node-redis'])(
    '%s: calls to a stalled Redis fail in time with a typed error',
    async (kind) => {
      const server = await ownServer()
      const client =
        kind === 'ioredis' ? new Redis(server.url, { lazyConnect: true }) : createClient({ url: server.url })
      const storage = open({ client, deadlineMs: 300 })
      const { store } = storage
      await store.commit('p', { ops: [append('1')] })
      store.watch('p', () => {})
      server.stall()
      const commit = unavailable(store.commit('p', { ops: [append('2')] }))
      expect((await unavailable(store.read('p', { after: 0 }))).written).toBe('no')
      expect((await commit).written).toBe('unknown')
      // On a new connection, which is not opened either.
      expect((await unavailable(store.commit('p', { ops: [append('3')] }))).written).toBe('no')
      server.resume()
      await vi.waitFor(async () => expect((await store.inspect('p')).head).toBe(2), later)
      server.stall()
      const last = unavailable(store.get('p', 'c', 'd'))
      await storage.close()
      await last
      server.resume()
    },
  )

  test('a caller gives up without waiting for the deadline', async () => {
    const server = await ownServer()
    const { store } = open({ url: server.url, deadlineMs: 60_000 })
    await store.commit('p', { ops: [append('1')] })
    server.stall()
    const controller = new AbortController()
    const commit = unavailable(store.commit('p', { ops: [append('2')], signal: controller.signal }))
    controller.abort()
    expect((await commit).written).toBe('unknown')
    server.resume()
    await vi.waitFor(async () => expect((await store.inspect('p')).head).toBe(2), later)
  })

  test('a connection that no call waits for any more is closed too', async () => {
    const server = await ownServer()
    const storage = open({ url: server.url, deadlineMs: 60_000 })
    server.stall()
    const controller = new AbortController()
    const commit = unavailable(storage.store.commit('p', { ops: [append('1')], signal: controller.signal }))
    await new Promise((resolve) => setImmediate(resolve))
    controller.abort()
    expect((await commit).written).toBe('no')
    await storage.close()
    server.resume()
    const witness = new Redis(server.url)
    await vi.waitFor(async () => {
      expect(
        String(await witness.client('LIST'))
          .trim()
          .split('\n'),
      ).toHaveLength(1)
    }, later)
    witness.disconnect()
  })

  test('a full Redis refuses with a typed error and writes nothing', async () => {
    const server = await ownServer({ maxmemory: '3mb', 'maxmemory-policy': 'noeviction' })
    const { store, checkpointer } = open({ url: server.url })
    await store.commit('p', { ops: [append('1'), put('d', 'kept')] })
    const big = 'x'.repeat(300_000)
    let written = 1
    const fill = async () => {
      for (;;) {
        await store.commit('p', { ops: [append('x'.repeat(60_000))] })
        written += 1
      }
    }
    expect((await unavailable(fill())).written).toBe('no')
    expect((await unavailable(store.commit('q', { ops: [put('e', big)] }))).written).toBe('no')
    const write = checkpointer.putWrites(
      { configurable: { thread_id: 'p', checkpoint_id: '1' } },
      [['a', big]],
      'task',
    )
    expect((await unavailable(write)).written).toBe('no')
    expect((await store.inspect('p')).head).toBe(written)
    expect((await store.list('c')).docs.map(({ id }) => id)).toEqual(['d'])
    await store.trim('p', { keepLast: 1 })
    await vi.waitFor(async () =>
      expect((await store.commit('p', { ops: [append('y')] })).head).toBe(written + 1),
    )
  })

  test('calls fail fast while no server listens, and work again after', async () => {
    const server = await ownServer()
    await server.kill()
    const { store } = open({ url: server.url, deadlineMs: 60_000 })
    expect((await unavailable(store.inspect('p'))).written).toBe('no')
    expect((await unavailable(store.commit('p', { ops: [append('1')] }))).written).toBe('no')
    await server.start()
    expect((await store.commit('p', { ops: [append('1')] })).head).toBe(1)
  })

  test('notices a link that died in silence', async () => {
    const proxy = await startProxy(shared.url)
    cleanups.push(() => proxy.close())
    const reader = open({ url: proxy.url, deadlineMs: 200 })
    let notified = 0
    reader.store.watch('p', () => {
      notified += 1
    })
    await reader.store.commit('p', { ops: [append('1')] })
    await vi.waitFor(() => expect(notified).toBeGreaterThan(0), later)
    notified = 0
    proxy.strand()
    await unavailable(reader.store.inspect('p'))
    // For what may have been missed.
    await vi.waitFor(() => expect(notified).toBeGreaterThan(0), later)
    notified = 0
    await open().store.commit('p', { ops: [append('2')] })
    await vi.waitFor(() => expect(notified).toBeGreaterThan(0), later)
    expect((await reader.store.inspect('p')).head).toBe(2)
  })
})

/** A link on which answers can get lost. */
async function startMuteLink(port: number) {
  const sockets = new Set<Socket>()
  let isMute = false
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1')
    near.on('data', (bytes) => far.write(bytes))
    far.on('data', (bytes) => isMute || near.write(bytes))
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => [near, far].map((end) => end.destroy()))
    }
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const reset = () => {
    isMute = false
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`,
    mute() {
      isMute = true
    },
    reset,
    async close() {
      reset()
      await new Promise((resolve) => {
        server.close(resolve)
      })
    },
  }
}
