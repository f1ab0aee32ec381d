import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { engineOf, start } from '../kit/engine.ts'
import { puppet } from '../kit/puppet.ts'
import { sharedMemory } from '../kit/shared.ts'
import { eventually } from '../kit/wait.ts'

const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000

afterEach(() => vi.useRealTimers())

/** A store whose clock is right and can be set, and an instance whose own clock is wrong. */
function scene(wrongByMs: number, leaseTtlMs = 60) {
  let ahead = 0
  let rounds = 0
  const storeClock = () => Math.floor(performance.timeOrigin + performance.now()) + ahead
  vi.useFakeTimers({ toFake: ['Date'] })
  vi.setSystemTime(storeClock() + wrongByMs)
  const place = sharedMemory({ now: storeClock })()
  const sweep = async () => {
    rounds++
    await place.store.sweep()
  }
  const actor = puppet()
  const engine = engineOf(
    { a: actor.agent },
    { ...place, store: { ...place.store, sweep }, sweepMs: 30, leaseTtlMs },
  )
  onTestFinished(() => engine.close())
  const isThere = async () => (await place.store.get('t', 'threads', 't')) !== undefined
  return {
    engine,
    actor,
    isThere,
    pass: (ms: number) => {
      ahead += ms
    },
    /** Settles when maintenance has looked at everything a few more times. */
    async looked() {
      const before = rounds
      await eventually(async () => rounds >= before + 6)
    },
  }
}

test.each([-HOUR_MS, HOUR_MS])(
  'a process whose clock is wrong by %i ms deletes a thread when its time is over by the clock of the store',
  async (wrongByMs) => {
    const { engine, actor, isThere, pass, looked } = scene(wrongByMs)
    await engine.createThread({ threadId: 't', ttl: { strategy: 'delete', minutes: 10 } })
    // What a run and a client change is timed by the same clock.
    actor.finish()
    const { runId } = await start(engine, 't')
    await engine.wait({ threadId: 't', runId })
    await engine.patchThread({ threadId: 't', metadata: { seen: true } })
    await looked()
    expect(await isThere()).toBe(true)
    pass(9 * MINUTE_MS)
    await looked()
    expect(await isThere()).toBe(true)
    pass(2 * MINUTE_MS)
    await eventually(async () => !(await isThere()))
  },
)

test.each([-HOUR_MS, HOUR_MS])(
  'a process whose clock is wrong by %i ms leaves a temporary thread to its reader, and removes it when nobody does',
  async (wrongByMs) => {
    const { engine, actor, isThere, pass, looked } = scene(wrongByMs, 600)
    actor.finish()
    const { runId } = await start(engine, 't', {}, { temporary: true })
    await engine.wait({ threadId: 't', runId })
    await looked()
    expect(await isThere()).toBe(true)
    pass(MINUTE_MS)
    await eventually(async () => !(await isThere()))
  },
)

test.each([-HOUR_MS, HOUR_MS])(
  'a process whose clock is wrong by %i ms starts a later run when its time has come by the clock of the store',
  async (wrongByMs) => {
    const { engine, actor, pass, looked } = scene(wrongByMs)
    await start(engine, 't', {}, { startAfterMs: MINUTE_MS })
    await looked()
    expect(actor.tasks).toHaveLength(0)
    pass(MINUTE_MS)
    await eventually(async () => actor.tasks.length === 1)
    actor.finish()
  },
)
