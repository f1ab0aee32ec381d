import fc from 'fast-check'
import { afterEach, expect, test, vi } from 'vitest'
import { engineOf, start, transcript } from '../kit/engine.ts'
import { isTerminal, rootStates } from '../kit/events.ts'
import { custom, puppet } from '../kit/puppet.ts'
import { sharedMemory } from '../kit/shared.ts'
import { eventually } from '../kit/wait.ts'

const HOUR_MS = 3_600_000
const LEASE_MS = 600

afterEach(() => vi.useRealTimers())

/** The store's clock is right, whatever the clocks of the processes say. */
const storeClock = () => Math.floor(performance.timeOrigin + performance.now())

const jump = fc.record({
  ms: fc.integer({ min: -HOUR_MS, max: HOUR_MS }),
  events: fc.integer({ min: 1, max: 3 }),
})

test('no run is taken from a living process when clocks are an hour off or jump in the middle of a run', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(jump, { minLength: 1, maxLength: 3 }), async (jumps) => {
      vi.useFakeTimers({ toFake: ['Date'] })
      const shared = sharedMemory({ now: storeClock })
      const actors = [puppet({ resumable: true }), puppet({ resumable: true })] as const
      const options = { leaseTtlMs: LEASE_MS }
      const [a, b] = actors.map(({ agent }) => engineOf({ a: agent }, { ...shared(), ...options })) as [
        ReturnType<typeof engineOf>,
        ReturnType<typeof engineOf>,
      ]
      const { store } = shared()
      const { runId } = await start(a, 't')
      const { token } = await store.inspect('t')
      for (const { ms, events } of jumps) {
        vi.setSystemTime(storeClock() + ms)
        const { lease } = await store.inspect('t')
        for (let at = 0; at < events; at++) actors[0].emit(custom(at))
        // The lease is renewed while the other instance looks for expired leases.
        await eventually(async () => (await store.inspect('t')).lease!.expiresAt > lease!.expiresAt)
      }
      // Either instance may start the queued run, and no seq is used twice.
      const queued = await start(b, 't')
      actors[0].finish()
      actors[0].finish()
      actors[1].finish()
      const events = await transcript(b, 't', 2)
      expect(rootStates(events)).toEqual(['running', 'completed', 'running', 'completed'])
      expect(events.filter(isTerminal).map(({ params }) => params.data.run_id)).toEqual([runId, queued.runId])
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1))
      expect(actors.flatMap(({ tasks }) => tasks.map((task) => task.runId))).toEqual([runId, queued.runId])
      const tokens = new Set(events.map(({ event_id }) => Number(event_id.split('-')[0])))
      expect([...tokens][0]).toBe(token)
      // There is one token for each run, so no run was taken over.
      expect(tokens.size).toBe(2)
      await Promise.all([a.close(), b.close()])
    }),
    { numRuns: Number(process.env.CLOCK_ROUNDS ?? 6) },
  )
})
