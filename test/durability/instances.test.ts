import { afterAll, describe, expect, test } from 'vitest'
import { hasEnded } from '../kit/events.ts'
import type { TokensInput } from './agents.ts'
import { expectKept, expectSoundLog, readLog } from './checks.ts'
import { follow, startRun } from './follower.ts'
import { backends, countOf, LONG_LEASE_MS, randomMs, report, rounds, setScene } from './scene.ts'

const SUBSCRIBERS = countOf('SUBSCRIBERS', 10)
const THREADS = countOf('THREADS', 30)
const RUNS_AT_ONCE = Math.min(50, Math.ceil(THREADS / 3))

describe.each(backends)('$name', async (backend) => {
  const scene = await setScene(backend)
  afterAll(scene.close)
  const { storage } = scene
  const [a, b] = await Promise.all([
    scene.start({ leaseTtlMs: LONG_LEASE_MS }),
    scene.start({ leaseTtlMs: LONG_LEASE_MS }),
  ])

  test('subscribers that join and leave on one instance get a run on another without gaps or doubles', async () => {
    const threadId = scene.thread()
    const input: TokensInput = { count: 1_000, everyMs: 2 }
    const run = await startRun(a.origin, threadId, { assistant_id: 'tokens', input })
    let ended = false
    const whole = scene.follow(threadId, b)
    const end = whole.until(hasEnded(run)).then(() => {
      ended = true
    })
    let visits = 0
    let events = 0
    const visitor = async () => {
      do {
        const known = whole.seen.length
        const since = randomMs(known + 1)
        const visit = follow({ origin: () => b.origin, threadId, since })
        visits += 1
        // The visitor leaves at some event or stays to the end.
        const enough = 1 + randomMs(150)
        await visit.until(
          (seen) => seen.length >= enough || hasEnded(run)([...seen, ...whole.seen.slice(-1)]),
        )
        visit.close()
        events += visit.seen.length
        stays.push({ since, seen: visit.seen })
      } while (!ended)
    }
    const stays: { since: number; seen: typeof whole.seen }[] = []
    await Promise.all([end, ...Array.from({ length: SUBSCRIBERS }, visitor)])
    const log = await readLog(storage, threadId)
    expectSoundLog(log)
    expect(whole.seen.length).toBe(log.length)
    expectKept(log, whole.seen)
    expect(events).toBeGreaterThan(SUBSCRIBERS)
    for (const { seen } of stays) expectKept(log, seen)
    report(
      backend,
      `run on A, ${SUBSCRIBERS} subscribers on B`,
      `visits ${visits}, events read ${events}, gaps 0, doubles 0`,
    )
  })

  test('connections stay bounded with many threads that have a subscriber each and many runs', async () => {
    const few = await busyThreads(10)
    const many = await busyThreads(THREADS)
    expect(many).toBeLessThanOrEqual(backend.connectionsPerProcess * 2)
    report(
      backend,
      `${THREADS} threads with a subscriber each, ${RUNS_AT_ONCE} runs at once, two instances`,
      `connections ${many} (with 10 threads ${few}), of at most ${backend.connectionsPerProcess * 2}`,
    )
  }, 300_000)

  /** Subscribes to new threads on B, runs something on each on A, and gives the connections counted meanwhile. */
  async function busyThreads(count: number): Promise<number> {
    const input: TokensInput = { count: 5, everyMs: 5 }
    const threads = Array.from({ length: count }, () => scene.thread())
    const followers = threads.map((threadId) => scene.follow(threadId, b))
    let most = 0
    const runs = async (i: number) => {
      const run = await startRun(a.origin, threads[i]!, { assistant_id: 'tokens', input })
      await followers[i]!.until(hasEnded(run))
      if (i % 10 === 0) most = Math.max(most, await backend.connections(scene.database, [a, b]))
    }
    await rounds(count, runs, RUNS_AT_ONCE)
    for (const [i, threadId] of threads.entries()) {
      const log = await readLog(storage, threadId)
      expectSoundLog(log)
      expect(followers[i]!.seen.length).toBe(log.length)
      followers[i]!.close()
    }
    return most
  }
})
