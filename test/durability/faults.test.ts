import { setTimeout as sleep } from 'node:timers/promises'
import Redis from 'ioredis'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Backend } from '../kit/backends.ts'
import { request } from '../kit/client.ts'
import { hasEnded, tokenOf } from '../kit/events.ts'
import { query, startPostgres } from '../kit/postgres-server.ts'
import { startProxy } from '../kit/proxy.ts'
import { startRedis } from '../kit/redis-server.ts'
import type { StepsInput, TokensInput } from './agents.ts'
import {
  endOf,
  expectHandedOn,
  expectKept,
  expectOneChain,
  expectOwnTokens,
  expectSoundLog,
  readLog,
  stepsOf,
} from './checks.ts'
import { follow, startRun } from './follower.ts'
import type { Instance } from './process.ts'
import { backends, inScene, LONG_LEASE_MS, report, type Scene } from './scene.ts'

/** A database server for one test. */
interface Server {
  readonly url: string
  /** Ends it as a crash does. */
  stop(): Promise<void>
  start(): Promise<void>
  remove(): Promise<void>
}

const servers: Readonly<Record<string, () => Promise<Server>>> = {
  async postgres() {
    const server = await startPostgres()
    return { ...server, stop: () => server.stop('immediate') }
  },
  async redis() {
    const server = await startRedis()
    return { ...server, stop: server.kill }
  },
}

/** Ends the connections on which instances wait for notifications. */
const killListeners: Readonly<Record<string, (url: string) => Promise<unknown>>> = {
  postgres: (url) =>
    query(
      url,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'`,
    ),
  async redis(url) {
    const client = new Redis(url)
    await client.call('CLIENT', 'KILL', 'TYPE', 'pubsub')
    client.disconnect()
  },
}

const DEADLINE_MS = 1_000
const tokens: TokensInput = { count: 300, everyMs: 5 }
const steps: StepsInput = { count: 16, stepMs: 80 }

describe.each(backends.filter(({ name }) => name in servers))('$name', (backend) => {
  test('when the database crashes and returns, requests fail at once with 503 and nothing that was delivered is lost', async () => {
    const server = await servers[backend.name]!()
    onTestFinished(server.remove)
    await inScene(over(backend, server), async (scene) => {
      const [a, b] = await Promise.all([
        scene.start({ deadlineMs: DEADLINE_MS }),
        scene.start({ deadlineMs: DEADLINE_MS }),
      ])
      const work = await startWork(scene, a, [a, b])
      await server.stop()
      const slowest = await refusals([a, b])
      await server.start()
      const back = Date.now()
      await work.ended()
      const recovered = Date.now() - back
      const ends = await work.check()
      await expectAtWork(scene, b)
      report(
        backend,
        'crash and return of the server',
        `503 with Retry-After after at most ${seconds(slowest)} s, all runs ended ${seconds(recovered)} s after the return ` +
          `(${ends}), delivered and lost 0`,
      )
    })
  })

  test.each(['reset', 'stall', 'strand'] as const)(
    'a link to the database that suffers a %s delays events for a bounded time, and none is lost or doubled',
    async (fault) => {
      await inScene(backend, async (scene) => {
        const link = await startProxy(scene.database.url)
        onTestFinished(link.close)
        const a = await scene.start({ storageUrl: link.url, deadlineMs: DEADLINE_MS })
        const b = await scene.start()
        const work = await startWork(scene, a, [a, b])
        const at = Date.now()
        link[fault]()
        let slowest = 0
        if (fault === 'stall') {
          slowest = await refusals([a])
          link.resume()
        }
        await expectAtWork(scene, a)
        const usable = Date.now() - at
        await work.ended()
        const ends = await work.check()
        report(
          backend,
          `link: ${fault}`,
          `usable again ${seconds(usable)} s after it` +
            (slowest > 0 ? ` (stalled until requests had failed, after at most ${seconds(slowest)} s)` : '') +
            `, runs ${ends}, gaps 0, doubles 0`,
        )
      })
    },
    120_000,
  )

  test('every event arrives soon while the listening connections are killed again and again', async () => {
    await inScene(backend, async (scene) => {
      const [a, b] = await Promise.all([
        scene.start({ leaseTtlMs: LONG_LEASE_MS }),
        scene.start({ leaseTtlMs: LONG_LEASE_MS }),
      ])
      const work = await startWork(scene, a, [b])
      let kills = 0
      let over = false
      const ended = work.ended().then(() => {
        over = true
      })
      while (!over) {
        await killListeners[backend.name]!(scene.database.url)
        kills += 1
        await sleep(200)
      }
      await ended
      const ends = await work.check()
      expect(ends).toBe('completed, completed')
      report(
        backend,
        `listeners killed ${kills} times`,
        `slowest event ${seconds(work.slowest())} s, gaps 0, doubles 0`,
      )
    })
  })
})

describe.runIf(backends.some(({ name }) => name === 'redis'))('redis without an append-only file', () => {
  test('forgets everything when it ends, and clients get the new events under ids that were never used', async () => {
    const server = await startRedis({ appendonly: 'no' })
    onTestFinished(server.remove)
    const redis = backends.find(({ name }) => name === 'redis')!
    await inScene(over(redis, server), async (scene) => {
      const a = await scene.start({ deadlineMs: DEADLINE_MS })
      const threadId = scene.thread()
      const lost = await startRun(a.origin, threadId, { assistant_id: 'tokens', input: tokens })
      const page = follow({ origin: () => a.origin, threadId, mayForget: true })
      onTestFinished(page.close)
      await page.until((seen) => seen.length > 50)
      await server.kill()
      const before = [...page.seen]
      await server.start()
      await a.left(lost)
      const input: TokensInput = { count: 20, everyMs: 5 }
      const run = await untilTaken(() => startRun(a.origin, threadId, { assistant_id: 'tokens', input }))
      await page.until(hasEnded(run))
      const log = await readLog(scene.storage, threadId)
      expectSoundLog(log)
      expectKept(log, page.seen)
      expect(page.seen.length).toBe(log.length)
      expect(endOf(log, run)).toBe('completed')
      const used = new Set(before.map(({ event_id }) => event_id))
      expect(log.filter(({ event_id }) => used.has(event_id))).toEqual([])
      expect(tokenOf(log[0]!)).toBeGreaterThan(tokenOf(before.at(-1)!))
      report(
        redis,
        'crash without a file',
        `events forgotten ${before.length}, ids dealt again 0, new events missed 0`,
      )
    })
  })
})

/** The backend on one server, which is removed with its test. */
const over = (backend: Backend, { url }: { readonly url: string }): Backend => ({
  ...backend,
  create: async () => ({ url, instanceUrl: url, remove: async () => {} }),
})

/** Starts a plain run and a graph on one instance, and subscribers on several. */
async function startWork(scene: Scene, on: Instance, through: readonly Instance[]) {
  const { storage } = scene
  const plain = scene.thread()
  const graph = scene.thread()
  const runs = new Map([
    [plain, await startRun(on.origin, plain, { assistant_id: 'tokens', input: tokens })],
    [graph, await startRun(on.origin, graph, { input: steps })],
  ])
  const followers = [...runs.keys()].flatMap((threadId) =>
    through.map((instance) => scene.follow(threadId, instance)),
  )
  await Promise.all(followers.map((follower) => follower.until((seen) => seen.length > 10)))
  return {
    slowest: () => Math.max(...followers.map((follower) => follower.slowest)),
    async ended() {
      await Promise.all(followers.map((follower) => follower.until(hasEnded(runs.get(follower.threadId)!))))
    },
    /** Expects what must hold of logs, subscribers and checkpoints. Gives how the two runs ended. */
    async check(): Promise<string> {
      for (const { threadId, seen } of followers) {
        const log = await readLog(storage, threadId)
        expectSoundLog(log)
        expectKept(log, seen)
        expect(seen.length).toBe(log.length)
      }
      const ends = []
      for (const [threadId, run] of runs) {
        const log = await readLog(storage, threadId)
        ends.push(endOf(log, run))
        expectHandedOn(log, run)
      }
      const [end, graphEnd] = ends
      const spoken = expectOwnTokens(await readLog(storage, plain), runs.get(plain)!)
      if (end === 'completed') expect(spoken).toBe(tokens.count)
      else expect(end).toBe('failed')
      expect(graphEnd).toBe('completed')
      const done = stepsOf(await expectOneChain(storage, graph))
      expect(done).toEqual(Array.from({ length: steps.count }, (_, n) => `${n}`))
      return ends.join(', ')
    },
  }
}

/** Sends several kinds of requests while the storage is unavailable. Each must be a typed 503. Gives the slowest answer in milliseconds. */
async function refusals(instances: readonly Instance[]): Promise<number> {
  let slowest = 0
  for (const { origin } of instances) {
    const thread = '/threads/refused'
    const input = { id: 1, method: 'run.start', params: { assistant_id: 'tokens', input: tokens } }
    const requests = [
      () => request(origin, 'POST', `${thread}/commands`, input),
      () => request(origin, 'GET', `${thread}/state`),
      () => request(origin, 'POST', '/threads', {}),
      () => request(origin, 'DELETE', thread),
    ]
    await Promise.all(
      requests.map(async (send) => {
        const at = Date.now()
        const { status, headers, body } = await send()
        slowest = Math.max(slowest, Date.now() - at)
        expect({ status, body }).toMatchObject({
          status: 503,
          body: { message: expect.stringContaining('Try again') },
        })
        expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
      }),
    )
  }
  return slowest
}

/** Expects that the instance takes a run and ends it. */
async function expectAtWork(scene: Scene, instance: Instance): Promise<void> {
  const threadId = scene.thread()
  const params = { assistant_id: 'tokens', input: { count: 3, everyMs: 1 } }
  const run = await untilTaken(() => startRun(instance.origin, threadId, params))
  await scene.follow(threadId, instance).until(hasEnded(run))
}

/** Retries what was answered with 503, as clients do. */
async function untilTaken<T>(send: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await send()
    } catch (error) {
      if (!String(error).includes(' 503 ')) throw error
      await sleep(50)
    }
  }
}

const seconds = (ms: number): string => (ms / 1_000).toFixed(2)
