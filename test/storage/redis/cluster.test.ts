import { Cluster } from 'ioredis'
import { createCluster } from 'redis'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { checkpointerAudits } from '../../../src/audit/checkpointer.ts'
import { storeAudits } from '../../../src/audit/store.ts'
import { fencedCheckpointer } from '../../../src/storage/checkpointer/fenced.ts'
import { type RedisClient, redisStorage } from '../../../src/storage/redis/redis.ts'
import { hasRedis } from '../../kit/redis-server.ts'
import { startCluster } from './cluster.ts'

// The audit of a listener that throws makes the store report it.
vi.spyOn(console, 'error').mockImplementation(() => {})

describe.runIf(hasRedis())('redisStorage over a cluster', async () => {
  const { ports, remove } = await startCluster()
  afterAll(remove)
  const nodes = ports.map((port) => ({ host: '127.0.0.1', port }))
  const clients: [string, RedisClient][] = [
    ['ioredis', new Cluster(nodes, { lazyConnect: true })],
    [
      'node-redis',
      createCluster({ rootNodes: nodes.map(({ port }) => ({ url: `redis://127.0.0.1:${port}` })) }),
    ],
  ]
  for (const [name, client] of clients) {
    describe(name, () => {
      const open = () => redisStorage({ client })
      const audits = storeAudits({ create: () => open().store, reopens: true, sequences: 2 })
      for (const { id, name, fn } of audits) test(`${id}: ${name}`, fn)
      for (const { id, name, fn } of checkpointerAudits({ create: open })) test(`${id}: ${name}`, fn)

      test('fences a thread by the lease of a partition in another slot', async () => {
        const { store, checkpointer, close } = open()
        const claim = (token: number) =>
          store.commit('run', { ops: [{ op: 'claim', owner: 'o', token, ttlMs: 600_000 }] })
        const base = (await store.inspect('run')).token
        await claim(base + 1)
        const view = fencedCheckpointer(checkpointer, store, 'run', base + 1)
        const config = { configurable: { thread_id: 'thread', checkpoint_id: '1' } }
        await view.putWrites(config, [['a', 1]], 'task')
        await claim(base + 2)
        await expect(view.putWrites(config, [['a', 2]], 'task')).rejects.toThrow(/no longer held/)
        await close()
      })
    })
  }
})
