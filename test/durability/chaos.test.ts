import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, onTestFailed, test } from 'vitest'
import { loadRun, loadThread } from '../../src/engine/records/records.ts'
import type { OpenedStorage } from '../../src/storage/open.ts'
import { request } from '../kit/client.ts'
import { isEndOf } from '../kit/events.ts'
import type { Token } from './agents.ts'
import {
  endOf,
  expectChain,
  expectKept,
  expectLineage,
  expectOwnTokens,
  expectSoundLog,
  type Logged,
  leftoversOf,
  readLog,
} from './checks.ts'
import { type Life, live } from './life.ts'
import type { Instance } from './process.ts'
import { countOf, oneOf, randomMs, report, setScene } from './scene.ts'

const SECONDS = countOf('CHAOS_SECONDS', 20)
const THREADS = countOf('CHAOS_THREADS', 24)
const INSTANCES = 3
/** Of the clocks. */
const SEED = countOf('CHAOS_SEED', randomMs(1_000_000))

describe.each(oneOf('postgres', 'chaos'))('$name', async (backend) => {
  const scene = await setScene(backend)
  afterAll(scene.close)
  const { storage } = scene
  /** The instances of this moment. */
  const slots: Instance[] = []
  const origin = () => slots[randomMs(INSTANCES)]!.origin

  test(
    'many threads keep every promise while their instances, whose clocks are wrong and whose store is slow at times, are killed again and again',
    async () => {
      let seed = SEED
      // Instances over a file have the clock of their machine, and the leases in it, too.
      const clock = () =>
        backend.name === 'sqlite' ? { seed, spreadMs: 300 } : { seed: ++seed, spreadMs: 10_000 }
      const startStrained = () => scene.start({ clock: clock(), isSlow: true })
      slots.push(...(await Promise.all(Array.from({ length: INSTANCES }, startStrained))))
      const started = [...slots]
      onTestFailed(() => console.log(started.flatMap(({ errors }) => errors).join('\n')))
      const lives: Life[] = []
      const deadline = Date.now() + SECONDS * 1_000
      const over = () => Date.now() > deadline

      let kills = 0
      const killing = (async () => {
        while (!over()) {
          await sleep(500 + randomMs(1_500))
          const at = randomMs(INSTANCES)
          await slots[at]!.kill()
          kills += 1
          slots[at] = await startStrained()
          started.push(slots[at])
        }
      })()
      await Promise.all(
        Array.from({ length: THREADS }, async (_, i) => {
          // A deleted thread makes room for a new one.
          while (!over()) {
            const life = begin(i)
            lives.push(life)
            await live(life, origin, over)
          }
        }),
      )
      await killing

      for (const life of lives) {
        if (life.deleted) await expectGone(life)
        else await expectKeptPromises(life)
        life.follower.close()
      }
      // On a machine with more work than cores, a call may outlast its deadline.
      const errors = started.flatMap((instance) => instance.errors)
      const late = errors.filter((error) => error.startsWith('UnavailableError'))
      expect(errors.filter((error) => !late.includes(error))).toEqual([])
      const sum = (count: (life: Life) => number) => lives.reduce((total, life) => total + count(life), 0)
      report(
        backend,
        `chaos of ${SECONDS} s, clocks of seed ${SEED}, ${INSTANCES} instances, ${kills} times kill -9`,
        `threads ${lives.length}, deleted ${sum(({ deleted }) => Number(deleted))}, runs ${sum(({ runs }) => runs.size)}, ` +
          `answers taken ${sum(({ answers }) => answers.taken.size)}, refused ${sum(({ answers }) => answers.refused.size)}, ` +
          `events followed ${sum(({ follower }) => follower.seen.length)}, calls of the database that were late ${late.length}`,
      )
    },
    SECONDS * 1_000 + 180_000,
  )

  function begin(i: number): Life {
    const threadId = scene.thread()
    const through = slots.map((_, at) => ({
      get origin() {
        return slots[(i + at) % slots.length]!.origin
      },
    }))
    return {
      threadId,
      assistant: (['steps', 'steps', 'steps', 'tokens', 'talk'] as const)[i % 5]!,
      follower: scene.follow(threadId, ...through),
      runs: new Set(),
      answers: { taken: new Set(), refused: new Set() },
      branched: false,
      forks: i % 4 === 1,
      large: i % 3 === 0,
      deleted: false,
    }
  }

  async function expectGone({ threadId }: Life): Promise<void> {
    await expect.poll(() => leftoversOf(storage, threadId), { timeout: 240_000 }).toEqual([])
  }

  async function expectKeptPromises(life: Life): Promise<void> {
    const { threadId, follower, runs } = life
    await expect
      .poll(() => isQuiet(storage, threadId), { timeout: 60_000, message: `${threadId} comes to rest` })
      .toBe(true)
    const log = await readLog(storage, threadId)
    expectSoundLog(log)
    await follower.until((seen) => seen.length >= log.length)
    expectKept(log, follower.seen)
    for (const run of runs) await expectOneEnd(log, threadId, run)
    if (life.assistant === 'tokens') for (const run of runs) expectOwnTokens(log, run)
    if (life.assistant === 'steps') await expectSoundSteps(life, log)
  }

  async function expectOneEnd(log: readonly Logged[], threadId: string, run: string): Promise<void> {
    const { status } = (await loadRun(storage.store, threadId, run))!.record
    const hasBegun = log.some(({ runId }) => runId === run)
    // A run that was dropped while it waited has no events.
    if (!hasBegun) return expect(status).toBe('interrupted')
    const states = { success: 'completed', interrupted: 'interrupted', error: 'failed' } as const
    expect(endOf(log, run)).toBe(states[status as keyof typeof states])
    expect(log.filter(isEndOf(run)).length).toBe(1)
  }

  async function expectSoundSteps(life: Life, log: readonly Logged[]): Promise<void> {
    const { threadId, answers, runs } = life
    // Nothing that it was asked to do was taken.
    if (!(await loadThread(storage.store, threadId))) return expect([...runs]).toEqual([])
    if (!life.branched) await expectChain(storage, threadId)
    if (!life.forks) await expectLineage(storage, threadId, runs)
    const told = new Map<string, number>()
    for (const { method, params } of log) {
      if (method !== 'custom') continue
      const { n, pid } = params.data.payload as Token
      told.set(`${n}@${pid}`, (told.get(`${n}@${pid}`) ?? 0) + 1)
    }
    const taken: string[] = []
    for await (const { checkpoint } of storage.checkpointer.list({
      configurable: { thread_id: threadId, checkpoint_ns: '' },
    })) {
      const last = ((checkpoint.channel_values.log ?? []) as string[]).at(-1)
      if (last === undefined || last === 'w@0') continue
      const [step, pid] = last.split('@')
      const [n, answer] = step!.split('=')
      // A checkpoint is not durable before the events that led to it.
      expect(told.get(`${n}@${pid}`) ?? 0, `events of step ${last} of ${threadId}`).toBeGreaterThanOrEqual(2)
      if (answer !== undefined) taken.push(answer)
    }
    for (const answer of taken) expect(answers.refused).not.toContain(answer)
    const { body } = await request(origin(), 'GET', `/threads/${threadId}`)
    const open = Object.values(body.interrupts as Record<string, { id: string }[]>).flat()
    expect(body.status === 'interrupted' || open.length === 0, `${threadId} is ${body.status}`).toBe(true)
    const asked = log.filter(({ method }) => method === 'input.requested')
    for (const { id } of open) expect(asked.map(({ params }) => params.data.interrupt_id)).toContain(id)
  }
})

/** Whether nothing runs on a thread, and nothing waits. */
async function isQuiet({ store }: OpenedStorage, threadId: string): Promise<boolean> {
  const thread = await loadThread(store, threadId)
  return !thread || (thread.record.activeRunId === null && thread.record.queue.length === 0)
}
