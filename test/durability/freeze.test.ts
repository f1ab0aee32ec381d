import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { OpenedStorage } from '../../src/storage/open.ts'
import { hasEnded } from '../kit/events.ts'
import type { StepsInput, TokensInput } from './agents.ts'
import {
  endOf,
  expectHandedOn,
  expectKept,
  expectOneChain,
  expectOwnTokens,
  expectSoundLog,
  lossesOf,
  readLog,
  spread,
  stepsOf,
  whyOf,
} from './checks.ts'
import { startRun } from './follower.ts'
import { countOf, inScene, LEASE_MS, oneOf, randomMs, report, rounds, type Scene } from './scene.ts'

const ROUNDS = countOf('ROUNDS', 2)

describe.each(oneOf('redis', 'freeze'))('$name', (backend) => {
  test('a process that is stopped past its lease and continued writes nothing more', async () => {
    const takenOver: number[] = []
    let heldUp = 0
    let late = 0
    let givenUp = 0

    // Each round has a database of its own, because a process that is frozen while it holds a lock blocks all others.
    const round = async (scene: Scene) => {
      const { storage } = scene
      const [survivor, sleeper] = await Promise.all([scene.start(), scene.start()])
      const runs = new Map<string, string>()
      const start = async (params: object) => {
        const threadId = scene.thread()
        runs.set(threadId, await startRun(sleeper.origin, threadId, params))
        return threadId
      }
      const tokens: TokensInput = { count: 1_500, everyMs: 3 }
      const steps: StepsInput = { count: 12, stepMs: 40 }
      const plain = await start({ assistant_id: 'tokens', input: tokens })
      const stubborn = await start({ assistant_id: 'tokens', input: { ...tokens, stubborn: true } })
      const graph = await start({ input: steps })
      const followers = [...runs].flatMap(([threadId, run]) =>
        [survivor, sleeper].map((instance) => ({ run, follower: scene.follow(threadId, instance) })),
      )
      await sleep(randomMs(500))
      sleeper.freeze()
      const frozen = Date.now()
      const onSurvivor = followers.filter((_, i) => i % 2 === 0)
      const over = Promise.all(onSurvivor.map(({ follower, run }) => follower.until(hasEnded(run)))).then(
        () => true,
      )
      const inTime = await Promise.race([over, sleep(4 * LEASE_MS, false)])
      if (inTime) takenOver.push(Date.now() - frozen)
      else heldUp += 1
      const before = inTime ? await lengths(storage, runs.keys()) : undefined
      sleeper.thaw()
      await over
      await Promise.all([...runs.values()].map((run) => sleeper.left(run)))
      // Subscribers of the sleeper get what the others got.
      for (const { follower, run } of followers) await follower.until(hasEnded(run))
      const after = await lengths(storage, runs.keys())
      if (before) late += after.reduce((sum, length, i) => sum + length - before[i]!, 0)

      for (const { follower, run } of followers) {
        const log = await readLog(storage, follower.threadId)
        expectSoundLog(log)
        expectKept(log, follower.seen)
        expect(follower.seen.length).toBe(log.length)
        expectHandedOn(log, run)
      }
      for (const threadId of [plain, stubborn]) {
        const log = await readLog(storage, threadId)
        const written = expectOwnTokens(log, runs.get(threadId)!)
        // Frozen while it holds the lock of the database, it keeps the run if it renews its lease before anybody can claim it.
        if (!inTime && endOf(log, runs.get(threadId)!) === 'completed') expect(written).toBe(tokens.count)
        else expect(endOf(log, runs.get(threadId)!)).toBe('failed')
      }
      const log = await readLog(storage, graph)
      const run = runs.get(graph)!
      const whole = Array.from({ length: steps.count }, (_, n) => `${n}`)
      const done = stepsOf(await expectOneChain(storage, graph))
      // On a busy machine a lease may expire again and again before it can be renewed.
      if (endOf(log, run) === 'failed' && (await lossesOf(storage, graph, run)) === 3) {
        givenUp += 1
        expect(done).toEqual(whole.slice(0, done.length))
      } else {
        expect(endOf(log, run), whyOf(log, run)).toBe('completed')
        expect(done).toEqual(whole)
      }
    }
    await rounds(ROUNDS, () => inScene(backend, round))
    expect(late).toBe(0)
    report(
      backend,
      `SIGSTOP and SIGCONT, ${ROUNDS} times`,
      `taken over and ended meanwhile ${takenOver.length}/${ROUNDS} (${spread(takenOver)}), held up by a lock ${heldUp}, given up after three attempts ${givenUp}, ` +
        'events and checkpoints written by the one that came back 0',
    )
  }, 600_000)
})

/** The numbers of events and of checkpoints of each thread. */
async function lengths({ store, checkpointer }: OpenedStorage, threads: Iterable<string>): Promise<number[]> {
  const found: number[] = []
  for (const threadId of threads) {
    let checkpoints = 0
    for await (const _ of checkpointer.list({ configurable: { thread_id: threadId } })) checkpoints += 1
    found.push((await store.inspect(threadId)).head, checkpoints)
  }
  return found
}
