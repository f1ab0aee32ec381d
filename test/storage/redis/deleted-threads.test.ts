import { Annotation, StateGraph } from '@langchain/langgraph'
import Redis from 'ioredis'
import { expect, onTestFinished, test, vi } from 'vitest'
import { langgraph } from '../../../src/agents/langgraph/langgraph.ts'
import { redisStorage } from '../../../src/storage/redis/redis.ts'
import { engineOf, start } from '../../kit/engine.ts'
import { hasRedis, startRedis } from '../../kit/redis-server.ts'

const State = Annotation.Root({
  list: Annotation<number[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
})
const graph = new StateGraph(State)
  .addNode('one', () => ({ list: [1] }))
  .addNode('two', () => ({ list: [2] }))
  .addEdge('__start__', 'one')
  .addEdge('one', 'two')
  .compile()

test.runIf(hasRedis())(
  'nothing of 200 threads is left in the directory after two instances ran and deleted them',
  async () => {
    const server = await startRedis()
    const admin = new Redis(server.url)
    onTestFinished(async () => {
      admin.disconnect()
      await server.remove()
    })
    const instance = () => {
      const storage = redisStorage({ url: server.url })
      const engine = engineOf({ a: langgraph(graph) }, { ...storage, leaseTtlMs: 300, sweepMs: 200 })
      onTestFinished(async () => {
        await engine.close()
        await storage.close()
      })
      return { store: storage.store, engine }
    }
    const [a, b] = [instance(), instance()]
    const live = async (from: number) => {
      for (let i = from; i < 200; i += 10) {
        const threadId = `t${i}`
        const { runId } = await start(a.engine, threadId, { list: [0] })
        if (i % 4) await a.engine.wait({ threadId, runId })
        await Promise.all([a, b].map(({ engine }) => engine.deleteThread({ threadId })))
      }
    }
    await Promise.all(Array.from({ length: 10 }, (_, from) => live(from)))
    const leases = 'agentwire:{directory}:leases'
    await vi.waitFor(
      async () => {
        // A token that two instances refused to each other within one millisecond stays until no commit can use it.
        for (const member of await admin.zrange(leases, '0', '-1')) await admin.zadd(leases, 'XX', 1, member)
        await b.store.expired()
        const keys = await admin.keys('*')
        expect(keys.filter((key) => !/:meta$|:layout$|owners/.test(key))).toEqual([])
      },
      { timeout: 15_000, interval: 100 },
    )
  },
  60_000,
)
