import { afterAll, describe, expect, test } from 'vitest'
import { postgres } from '../kit/backends.ts'
import { hasEnded, type WireEvent } from '../kit/events.ts'
import { startProxy } from '../kit/proxy.ts'
import { eventually } from '../kit/wait.ts'
import type { StepsInput, TokensInput } from './agents.ts'
import { endOf, expectHandedOn, expectKept, expectSoundLog, type Logged, readLog, whyOf } from './checks.ts'
import type { Follower } from './follower.ts'
import type { Instance } from './process.ts'
import { setScene } from './scene.ts'
import { commandOver, followBySdk, overSocket, type SdkFollower } from './sockets.ts'

/** Follows a thread over web sockets in both dialects, from one instance to the next when one is gone. */
const DIALECTS = ['commands', 'filter'] as const

describe.runIf(postgres.installed())('web sockets on two instances over Postgres', async () => {
  const scene = await setScene(postgres)
  afterAll(scene.close)
  const [a, b, victimOfRuns, victimOfSockets] = await Promise.all([
    scene.start(),
    scene.start(),
    scene.start(),
    scene.start(),
  ])

  const followBoth = (threadId: string, ...through: readonly Instance[]): readonly Follower[] =>
    DIALECTS.map((dialect) => scene.followBy(overSocket(dialect), threadId, ...through))

  /** Expects that all followers have had the whole log, each event once and in order, and gives it. */
  async function expectWhole(threadId: string, followers: readonly Follower[]): Promise<Logged[]> {
    const log = await readLog(scene.storage, threadId)
    expectSoundLog(log)
    for (const follower of followers) {
      await follower.until((seen) => seen.length >= log.length)
      expect(follower.seen.length).toBe(log.length)
      expectKept(log, follower.seen)
    }
    return log
  }

  /** Expects that LangGraph's client gave its reader the events it asked for, each once and in order. */
  function expectAllOf(log: readonly Logged[], { seen }: SdkFollower): void {
    const wanted = log.filter(({ method }) => method === 'custom' || method === 'lifecycle')
    expect(seen.map(({ event_id }) => event_id)).toEqual(wanted.map(({ event_id }) => event_id))
  }

  test('a run that is started on one is followed on the other, and takes commands on both', async () => {
    const threadId = scene.thread()
    const followers = [...followBoth(threadId, a), ...followBoth(threadId, b)]
    const input: StepsInput = { count: 5, stepMs: 20, askAt: 2 }
    const { run_id: asked } = await commandOver(a.origin, threadId, 'run.start', {
      assistant_id: 'steps',
      input,
    })
    await Promise.all(followers.map((follower) => follower.until(hasEnded(asked))))
    const { interrupt_id } = followers.at(-1)!.seen.findLast(({ method }) => method === 'input.requested')!
      .params.data
    const answer = { interrupt_id, response: 'yes' }
    const { run_id: answered } = await commandOver(b.origin, threadId, 'input.respond', answer)
    await Promise.all(followers.map((follower) => follower.until(hasEnded(answered))))
    const { run_id: second } = await commandOver(b.origin, threadId, 'run.start', {
      assistant_id: 'steps',
      input: { count: 8, stepMs: 20 },
    })
    await Promise.all(followers.map((follower) => follower.until(hasEnded(second))))
    const log = await expectWhole(threadId, followers)
    expect([asked, answered, second].map((run) => endOf(log, run))).toEqual([
      'interrupted',
      'completed',
      'completed',
    ])
    expect((await commandOver(a.origin, threadId, 'agent.getTree', { run_id: second })).tree.status).toBe(
      'completed',
    )
  })

  test('kill -9 of the instance of a run: the other goes on with it, and all sockets get the whole', async () => {
    const threadId = scene.thread()
    const proxy = await startProxy(victimOfRuns.origin)
    const sdk = await followBySdk(new URL(proxy.url).origin, threadId, 'steps')
    const followers = [...followBoth(threadId, a), ...followBoth(threadId, victimOfRuns, a)]
    const input: StepsInput = { count: 12, stepMs: 60 }
    const run = await sdk.start(input)
    await Promise.all(followers.map((follower) => follower.until(hasTokens(6))))
    proxy.hold()
    await victimOfRuns.kill()
    proxy.turnTo(a.origin)
    await Promise.all(followers.map((follower) => follower.until(hasEnded(run))))
    const log = await expectWhole(threadId, followers)
    expect(endOf(log, run), whyOf(log, run)).toBe('completed')
    expectHandedOn(log, run)
    expect(new Set(log.filter(isToken).map(({ params }) => params.data.payload.pid)).size).toBe(2)
    await eventually(() => hasEnded(run)(sdk.seen), { timeoutMs: 200_000, what: 'The end of the run' })
    expectAllOf(log, sdk)
    await sdk.close()
    await proxy.close()
  })

  test('kill -9 of the instance of sockets: their clients come back to the other for the rest', async () => {
    const threadId = scene.thread()
    const proxy = await startProxy(victimOfSockets.origin)
    const sdk = await followBySdk(new URL(proxy.url).origin, threadId, 'tokens')
    const followers = followBoth(threadId, victimOfSockets, b)
    const input: TokensInput = { count: 300, everyMs: 5 }
    const { run_id: run } = await commandOver(a.origin, threadId, 'run.start', {
      assistant_id: 'tokens',
      input,
    })
    await Promise.all(followers.map((follower) => follower.until(hasTokens(50))))
    proxy.hold()
    await victimOfSockets.kill()
    const missed = (await readLog(scene.storage, threadId)).length
    proxy.turnTo(b.origin)
    await Promise.all(followers.map((follower) => follower.until(hasEnded(run))))
    const log = await expectWhole(threadId, followers)
    expect(endOf(log, run)).toBe('completed')
    expect(log.length).toBeGreaterThan(missed)
    for (const follower of followers) expect(follower.reconnects).toBeGreaterThan(0)
    await eventually(() => hasEnded(run)(sdk.seen), { timeoutMs: 200_000, what: 'The end of the run' })
    expectAllOf(log, sdk)
    await sdk.close()
    await proxy.close()
    expect([a.errors, b.errors]).toEqual([[], []])
  })
})

const isToken = ({ method }: WireEvent): boolean => method === 'custom'
const hasTokens =
  (count: number) =>
  (seen: readonly WireEvent[]): boolean =>
    seen.filter(isToken).length >= count
