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

/** The store's clock goes right, whatever the processes' clock says. */
const storeClock = () => Math.floor(performance.timeOrigin + performance.now())

const jump = fc.record({
  ms: fc.integer({ min: -HOUR_MS, max: HOUR_MS }),
  events: fc.integer({ min: 1, max: 3 }),
})

test('clocks that are an hour off, or jump in the middle of a run: no run is taken from a living process', async () => {
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
        // The lease is renewed, while the other one looks for leases that are over.
        await eventually(async () => (await store.inspect('t')).lease!.expiresAt > lease!.expiresAt)
      }
      // What waits is started by whoever comes first, and sees no seq twice.
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
      // One token for each run: it never changed hands.
      expect(tokens.size).toBe(2)
      await Promise.all([a.close(), b.close()])
    }),
    { numRuns: Number(process.env.CLOCK_ROUNDS ?? 6) },
  )
})
