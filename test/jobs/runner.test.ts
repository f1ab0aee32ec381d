import fc from 'fast-check'
import { afterEach, expect, test, vi } from 'vitest'
import { DeliveryError } from '../../src/core/egress/errors.ts'
import { pause } from '../../src/core/time.ts'
import { COLLECTION, putJobOp } from '../../src/storage/jobs/job.ts'
import type { JobKind } from '../../src/storage/jobs/kind.ts'
import { createJobRunner } from '../../src/storage/jobs/runner.ts'
import { memoryStore } from '../../src/storage/memory/store.ts'
import type { Store } from '../../src/storage/store/store.ts'

afterEach(() => {
  vi.useRealTimers()
})

const KIND = 'script'
const TIMES = { claimMs: 1_000, drainMs: 500 }
const RETRY = { firstMs: 50, maxMs: 400, giveUpAfterMs: 4_000 }
/** More than any course takes: failures for `giveUpAfterMs`, and claims that have to expire. */
const END_MS = 40_000

/** How a delivery goes: `fault` is an error of the handler itself. */
type Answer = 'ok' | 'busy' | 'refused' | 'fault'

interface Script {
  readonly steps: number
  /** Of one delivery after the other, whichever process makes it; `ok` or `busy` for ever after them. */
  readonly answers: readonly Answer[]
  readonly then: 'ok' | 'busy'
  readonly answerMs: number
}

const script: fc.Arbitrary<Script> = fc.record({
  steps: fc.integer({ min: 1, max: 3 }),
  answers: fc.array(fc.constantFrom<Answer>('ok', 'ok', 'busy', 'busy', 'fault', 'refused'), {
    maxLength: 5,
  }),
  // biome-ignore lint/suspicious/noThenProperty: it is data and never awaited.
  then: fc.constantFrom('ok', 'ok', 'busy'),
  // Longer than a claim lasts, too.
  answerMs: fc.constantFrom(1, 30, 400, 1_500),
})

/** What happens to the processes: one of them is lost or closes, another one takes its place, or their clock jumps. */
type Step = { readonly afterMs: number } & (
  | { readonly what: 'lose' | 'close'; readonly process: number }
  | { readonly what: 'jump'; readonly byMs: number }
)

const step: fc.Arbitrary<Step> = fc
  .tuple(
    fc.integer({ min: 1, max: 2_500 }),
    fc.oneof(
      fc.record({ what: fc.constantFrom('lose', 'close'), process: fc.nat(1) }),
      fc.record({
        what: fc.constant('jump' as const),
        byMs: fc.integer({ min: -100_000_000, max: 100_000_000 }),
      }),
    ),
  )
  .map(([afterMs, what]) => ({ afterMs, ...what }) as Step)

/** What came of the deliveries of a job, in their order. */
interface Course {
  attempts: number
  readonly delivered: number[]
  last: Answer | undefined
  /** When it failed first and last since it was saved. */
  failingSince: number | undefined
  failedAt: number
  endedBy: string | undefined
}

const newCourse = (): Course => ({
  attempts: 0,
  delivered: [],
  last: undefined,
  failingSince: undefined,
  failedAt: 0,
  endedBy: undefined,
})

const ERRORS = {
  busy: () => new DeliveryError('failed', 'Busy.', { status: 503 }),
  refused: () => new DeliveryError('rejected', 'No.', { status: 404 }),
  fault: () => new Error('fault'),
} as const

/** The jobs of scripts on two processes, of which each may be lost or closed and is replaced. */
function createWorld(scripts: readonly Script[], latencyMs: number) {
  // The clock of the database. Those of the processes jump without it.
  const store = memoryStore({ now: () => 1_000_000_000 + performance.now() })
  const courses = scripts.map(newCourse)
  const reported: unknown[] = []
  const delivering = new Map<number, object>()
  const slowly = async <T>(answer: Promise<T>): Promise<T> => {
    if (latencyMs > 0) await Promise.all([answer, pause(latencyMs)])
    return answer
  }

  async function answer(id: number, step: number, process: object, signal: AbortSignal): Promise<void> {
    const { answers, then, answerMs } = scripts[id]!
    const course = courses[id]!
    expect(delivering.has(id), 'a job is delivered twice at once').toBe(false)
    delivering.set(id, process)
    const next = answers[course.attempts++] ?? then
    await pause(answerMs, signal)
    if (delivering.get(id) !== process) return
    delivering.delete(id)
    if (signal.aborted) throw new DeliveryError('aborted', 'The delivery was aborted.')
    course.last = next
    course.failedAt = performance.now()
    if (next === 'ok') {
      course.delivered.push(step)
      return
    }
    course.failingSince ??= performance.now()
    throw ERRORS[next]()
  }

  function start() {
    const life = { isLost: false }
    /** A lost process gets no answer to anything, and so does nothing more. */
    const whileAlive = <T>(work: () => Promise<T>): Promise<T> => {
      const answered = life.isLost ? new Promise<never>(() => {}) : work()
      return new Promise((resolve, reject) =>
        answered.then(
          (result) => life.isLost || resolve(result),
          (error) => life.isLost || reject(error),
        ),
      )
    }
    const cut: Store = {
      ...store,
      capabilities: { ...store.capabilities, shared: true },
      inspect: (...args) => whileAlive(() => slowly(store.inspect(...args))),
      list: (...args) => whileAlive(() => slowly(store.list(...args))),
      commit: (...args) => whileAlive(() => slowly(store.commit(...args))),
    }
    const kind: JobKind = {
      async handle({ id, data }, { deliver, save }) {
        for (let step = Number(data) + 1; step <= scripts[Number(id)]!.steps; step++) {
          await deliver({ url: `https://${id}.example.com/`, body: `${step}` })
          await save(step)
          courses[Number(id)]!.failingSince = undefined
        }
      },
      retry: RETRY,
      deliver: ({ url, body, signal }) =>
        whileAlive(async () => {
          expect(signal?.aborted).toBe(false)
          await answer(Number(new URL(url).hostname.split('.')[0]), Number(body), life, signal!)
          return { status: 200 }
        }),
    }
    const runner = createJobRunner({
      store: cut,
      kinds: new Map([[KIND, kind]]),
      report: (error) => void (life.isLost || reported.push(error)),
      onUndelivered: ({ job, error }) => {
        courses[Number(job.id)]!.endedBy = error.code
      },
      times: TIMES,
    })
    runner.wake()
    return { life, runner }
  }

  const processes = [start(), start()]
  const closed: Promise<void>[] = []
  return {
    store,
    courses,
    reported,
    happen(step: Step): void {
      if (step.what === 'jump') {
        vi.setSystemTime(Math.max(0, Date.now() + step.byMs))
        return
      }
      const { life, runner } = processes[step.process]!
      if (step.what === 'lose') {
        life.isLost = true
        for (const [id, owner] of delivering) if (owner === life) delivering.delete(id)
      }
      const close = runner.close()
      // What a lost process waits for never comes.
      if (!life.isLost) closed.push(close)
      processes[step.process] = start()
    },
    async close() {
      for (const { runner } of processes) closed.push(runner.close())
      await vi.advanceTimersByTimeAsync(10_000)
      await Promise.all(closed)
    },
  }
}

test('each job is delivered to its end or given up, in its order and never twice at once, whatever processes are lost or closed and wherever clocks jump', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(script, { minLength: 1, maxLength: 4 }),
      fc.array(step, { maxLength: 6 }),
      fc.constantFrom(0, 1, 30),
      async (scripts, steps, latencyMs) => {
        vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] })
        const world = createWorld(scripts, latencyMs)
        const { store, courses, reported } = world
        for (const id of scripts.keys())
          await store.commit(`thread-${id}`, { ops: [putJobOp({ id: `${id}`, kind: KIND, data: 0 })] })
        for (const step of steps) {
          await vi.advanceTimersByTimeAsync(step.afterMs)
          world.happen(step)
        }
        await vi.advanceTimersByTimeAsync(END_MS)
        expect((await store.list(COLLECTION)).docs).toEqual([])
        for (const [at, { steps: goal }] of scripts.entries()) {
          const { delivered, endedBy, last, failingSince, failedAt } = courses[at]!
          expect(delivered).toEqual(delivered.toSorted())
          if (endedBy === undefined && new Set(delivered).size === goal) continue
          const failedMs = failingSince === undefined ? 0 : failedAt - failingSince
          expect(last === 'refused' || failedMs >= RETRY.giveUpAfterMs - 1, 'it is given up early').toBe(true)
          // A process that is lost after it has written the end does not report it.
          if (!steps.some(({ what }) => what === 'lose')) expect(endedBy).toBe('job_given_up')
        }
        const unplanned = reported.filter((error) => !/fault|Gave up/.test(String(error)))
        expect(unplanned).toEqual([])
        await world.close()
        expect(vi.getTimerCount()).toBe(0)
      },
    ),
    { numRuns: 150 },
  )
})
