import type { BaseCheckpointSaver } from '@langchain/langgraph-checkpoint'
import { afterAll } from 'vitest'
import { fencedCheckpointer } from '../../../src/storage/checkpointer/fenced.ts'
import { redisStorage } from '../../../src/storage/redis/redis.ts'
import { hasRedis, startRedis } from '../../kit/redis-server.ts'
import { validateSaver } from '../checkpoint-validation/validate.ts'

if (hasRedis()) {
  const server = await startRedis()
  const opened: (() => Promise<void>)[] = []
  // The suite wants an empty saver each time.
  const empty = () => {
    const storage = redisStorage({ url: server.url, prefix: `v${opened.length}:` })
    opened.push(storage.close)
    return storage
  }
  await validateSaver('redisStorage', (): BaseCheckpointSaver => empty().checkpointer)
  await validateSaver('fenced redisStorage', async () => {
    const { store, checkpointer } = empty()
    await store.commit('run', { ops: [{ op: 'claim', owner: 'o', token: 1, ttlMs: 600_000 }] })
    return fencedCheckpointer(checkpointer, store, 'run', 1) as BaseCheckpointSaver
  })
  afterAll(async () => {
    await Promise.all(opened.map((close) => close()))
    await server.remove()
  })
}
