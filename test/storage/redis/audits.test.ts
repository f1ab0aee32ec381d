import Redis from 'ioredis'
import { createClient } from 'redis'
import { afterAll, describe, test, vi } from 'vitest'
import { checkpointerAudits } from '../../../src/audit/checkpointer.ts'
import { storeAudits } from '../../../src/audit/store.ts'
import { type RedisClient, redisStorage } from '../../../src/storage/redis/redis.ts'
import { hasRedis, startRedis } from '../../kit/redis-server.ts'
import { saveOnForgotten } from '../suites.ts'

// The audit of a listener that throws makes the store report it.
vi.spyOn(console, 'error').mockImplementation(() => {})

describe.runIf(hasRedis())('redisStorage', async () => {
  const server = await startRedis()
  const ioredis = new Redis(server.url, { lazyConnect: true })
  const nodeRedis = createClient({ url: server.url })
  afterAll(() => server.remove())
  const clients: [string, RedisClient, number][] = [
    ['ioredis', ioredis, 12],
    ['node-redis', nodeRedis, 4],
  ]
  for (const [name, client, sequences] of clients) {
    describe(`over ${name}`, () => {
      const open = () => redisStorage({ client })
      const audits = storeAudits({ create: () => open().store, reopens: true, sequences })
      for (const { id, name, fn } of audits) test(`${id}: ${name}`, fn)
      for (const { id, name, fn } of checkpointerAudits({ create: open })) test(`${id}: ${name}`, fn)
      test('a run saves nothing on a checkpoint that the database has forgotten', () =>
        saveOnForgotten(open()))
    })
  }
})
