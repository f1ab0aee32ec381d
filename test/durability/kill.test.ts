import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, test } from 'vitest'
import { sendCommand } from '../kit/client.ts'
import { hasEnded, tokenOf, type WireEvent } from '../kit/events.ts'
import type { StepsInput, TokensInput } from './agents.ts'
import {
  endOf,
  expectHandedOn,
  expectKept,
  expectOneChain,
  expectOwnTokens,
  expectSoundLog,
  type Logged,
  lossesOf,
  readLog,
  spread,
  stepsOf,
  whyOf,
} from './checks.ts'
import { type Follower, rootState, startRun } from './follower.ts'
import { countOf, oneOf, randomMs, report, rounds, setScene } from './scene.ts'

const ROUNDS = countOf('ROUNDS', 2)

describe.each(oneOf('sqlite', 'kill'))('$name', async (backend) => {
  const scene = await setScene(backend)
  afterAll(scene.close)

  test('after kill -9 at random points each run ends once or continues elsewhere, and nothing that was delivered is lost', async () => {
    const { storage } = scene
    const survivor = await scene.start()
    const toEnd: number[] = []
    const toGoOn: number[] = []
    let delivered = 0
    let givenUp = 0

    await rounds(ROUNDS, async () => {
      const victim = await scene.start()
      const threads = {
        plain: scene.thread(),
        graph: scene.thread(),
        asked: scene.thread(),
        many: scene.thread(),
      }
      const onVictim: Follower[] = []
      const onSurvivor = new Map<string, Follower>()
      for (const threadId of Object.values(threads)) {
        onVictim.push(scene.follow(threadId, victim))
        onSurvivor.set(threadId, scene.follow(threadId, survivor))
      }
      const tokens: TokensInput = { count: 2_000, everyMs: 2 }
      const steps: StepsInput = { count: 12, stepMs: 40 }
      const plain = await startRun(victim.origin, threads.plain, { assistant_id: 'tokens', input: tokens })
      const graph = await startRun(victim.origin, threads.graph, { input: steps })
      const asked = await startRun(victim.origin, threads.asked, { input: { ...steps, askAt: 1 } })
      const answered = answer([victim.origin, survivor.origin], asked, onSurvivor.get(threads.asked)!)
      const many = startMany(victim.origin, threads.many)
      await sleep(randomMs(500))
      await victim.kill()
      const killed = Date.now()
      const acknowledged = await many
      const before = lastToken(await readLog(storage, threads.graph))

      const since = (what: Promise<void>) => what.then(() => Date.now() - killed)
      const ended = since(onSurvivor.get(threads.plain)!.until(hasEnded(plain)))
      const wentOn = since(
        onSurvivor
          .get(threads.graph)!
          .until((seen) => hasEnded(graph)(seen) || seen.some((event) => tokenOf(event) > before)),
      )
      await onSurvivor.get(threads.graph)!.until(hasEnded(graph))
      const answeredRun = await answered
      await onSurvivor.get(threads.asked)!.until(hasEnded(answeredRun))
      for (const run of acknowledged) await onSurvivor.get(threads.many)!.until(hasEnded(run))
      toEnd.push(await ended)
      toGoOn.push(await wentOn)

      const logs = new Map<string, Logged[]>()
      for (const [threadId, follower] of onSurvivor) {
        const log = await readLog(storage, threadId)
        logs.set(threadId, log)
        expectSoundLog(log)
        // A run whose acknowledgement was lost may still be in progress.
        await follower.until((seen) => seen.length >= log.length)
        expectKept(log, follower.seen.slice(0, log.length))
      }
      for (const [i, { seen }] of onVictim.entries()) {
        expectKept(logs.get(Object.values(threads)[i]!)!, seen)
        delivered += seen.length
      }
      const logOf = (name: keyof typeof threads) => logs.get(threads[name])!
      expect(endOf(logOf('plain'), plain)).toBe('failed')
      expectOwnTokens(logOf('plain'), plain)
      for (const [name, run, whole] of [
        ['graph', graph, named(steps.count)],
        ['asked', answeredRun, named(steps.count, { 1: 'yes' })],
      ] as const) {
        const threadId = threads[name]
        const done = stepsOf(await expectOneChain(storage, threadId))
        expectHandedOn(logOf(name), run)
        // Victims of other rounds take runs over as well, and a run is given up after three attempts.
        if (endOf(logOf(name), run) === 'failed' && (await lossesOf(storage, threadId, run)) === 3) {
          givenUp += 1
          expect(done).toEqual(whole.slice(0, done.length))
        } else {
          expect(endOf(logOf(name), run), whyOf(logOf(name), run)).toBe('completed')
          expect(done).toEqual(whole)
        }
      }
      expect(endOf(logOf('asked'), asked)).toBe('interrupted')
      for (const run of acknowledged) {
        const end = endOf(logOf('many'), run)
        expect(['completed', 'failed']).toContain(end)
        if (end === 'completed') expect(expectOwnTokens(logOf('many'), run)).toBe(5)
      }
      for (const follower of [...onVictim, ...onSurvivor.values()]) follower.close()
    })
    expect(survivor.errors).toEqual([])
    report(
      backend,
      `kill -9, ${ROUNDS} times`,
      `ended in one failed event ${toEnd.length}/${ROUNDS} (${spread(toEnd)}), went on elsewhere ${toGoOn.length}/${ROUNDS} ` +
        `(${spread(toGoOn)}), given up after three deaths ${givenUp}, delivered by the killed instance ${delivered}, of these lost 0`,
    )
  }, 600_000)
})

const named = (count: number, answers: Readonly<Record<number, string>> = {}): string[] =>
  Array.from({ length: count }, (_, n) => (answers[n] ? `${n}=${answers[n]}` : `${n}`))

const lastToken = (log: readonly Logged[]): number => Math.max(0, ...log.map(tokenOf))

/** Answers the question of a run on its instance, or elsewhere when that is gone. Gives the run that took the answer. */
async function answer(origins: readonly string[], asked: string, follower: Follower): Promise<string> {
  await follower.until(hasEnded(asked))
  // This takes the last question, because a run that was killed between its question and its checkpoint asks again.
  const { params } = follower.seen.findLast(({ method }) => method === 'input.requested')!
  const { interrupt_id } = params.data
  for (const origin of origins) {
    try {
      const { body } = await sendCommand(origin, follower.threadId, 'input.respond', {
        interrupt_id,
        response: 'yes',
      })
      if (body.type === 'success') return body.result.run_id
      // The answer was taken, and the instance was killed before it could say so.
      expect(body.error).toBe('no_such_interrupt')
      await follower.until((seen) => runsOf(seen).length === 2)
      return runsOf(follower.seen)[1]!
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
    }
  }
  throw new Error('Nobody took the answer.')
}

const runsOf = (seen: readonly WireEvent[]): string[] =>
  seen.flatMap((event) => (rootState(event)?.state === 'running' ? [String(rootState(event)!.run)] : []))

/** Starts short runs, one after the other, until the server is gone. Gives those that it acknowledged. */
async function startMany(origin: string, threadId: string): Promise<string[]> {
  const input: TokensInput = { count: 5, everyMs: 1 }
  const runs: string[] = []
  for (;;) {
    try {
      runs.push(await startRun(origin, threadId, { assistant_id: 'tokens', input }))
    } catch {
      return runs
    }
  }
}
