import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import type { Agent } from '../../src/agents/agent.ts'
import type { Retention, RunEngine } from '../../src/runs/index.ts'
import { SHARED, type Shared, sharedMemory } from './shared.ts'
import { ALL, custom, engineOf, puppet, readUntil, start, transcript } from './support.ts'

/** Its state says how many runs it has seen. */
function counting() {
  const actor = puppet({
    getState: async ({ threadId }) => ({
      values: { runs: actor.tasks.length },
      next: [],
      tasks: [],
      metadata: { step: actor.tasks.length, source: 'loop' },
      createdAt: null,
      checkpoint: { threadId, checkpointId: `c${actor.tasks.length}`, checkpointNs: '', checkpointMap: null },
      parentCheckpoint: null,
    }),
  })
  return actor
}

function instance(shared: Shared, agent: Agent, retention: Retention): RunEngine {
  const engine = engineOf({ a: agent }, { ...shared(), retention, sweepMs: 30 })
  onTestFinished(() => engine.close())
  return engine
}

const open = (engine: RunEngine, since?: number) =>
  engine.subscribe({ threadId: 't', owner: null, filter: { channels: ALL }, since })

/** A run of `events` custom events, to its end. */
async function run(engine: RunEngine, actor: ReturnType<typeof puppet>, events: number): Promise<void> {
  for (let at = 0; at < events; at++) actor.emit(custom(at))
  actor.finish()
  const { runId } = await start(engine, 't')
  await engine.ended('t', runId)
}

test.each(Object.entries(SHARED))(
  'over %s: when a run starts so many events of earlier ones are left, and the newest run is whole',
  async (_, make) => {
    const actor = counting()
    const shared = make()
    const engine = instance(shared, actor.agent, { maxEvents: 10 })
    const { store } = shared()
    await run(engine, actor, 50)
    // It is the newest.
    expect(await store.inspect('t')).toMatchObject({ head: 52, firstRetained: 1 })
    await run(engine, actor, 50)
    expect(await store.inspect('t')).toMatchObject({ head: 104, firstRetained: 43 })
    await run(engine, actor, 0)
    expect(await store.inspect('t')).toMatchObject({ head: 106, firstRetained: 95 })
  },
)

test.each(Object.entries(SHARED))(
  'over %s: a client below what is left is told of the gap and given the state, then all there is, by any instance',
  async (_, make) => {
    const actor = counting()
    const shared = make()
    const a = instance(shared, actor.agent, { maxEvents: 5 })
    const b = instance(shared, actor.agent, {})
    await run(a, actor, 30)
    const behind = open(b, 3)
    await behind.ready()
    await run(a, actor, 30)
    await run(a, actor, 30)
    const { firstRetained, head } = await shared().store.inspect('t')
    const rest = Array.from({ length: head - firstRetained + 1 }, (_, i) => firstRetained + i)
    for (const engine of [a, b]) {
      for (const [subscription, after] of [
        [behind, 3],
        [open(engine, 3), 3],
        [open(engine, firstRetained - 2), firstRetained - 2],
      ] as const) {
        if (engine === a && subscription === behind) continue
        const seen = await readUntil(subscription, (events) => events.at(-1)?.seq === head)
        const [gap, checkpoints, values, ...events] = seen
        expect(gap).toEqual({ type: 'gap', after, first_retained: firstRetained })
        expect(checkpoints).toMatchObject({ method: 'checkpoints', params: { data: { id: 'c3' } } })
        expect(values).toMatchObject({ seq: firstRetained - 1, params: { data: { runs: 3 } } })
        expect(events.map(({ seq }) => seq)).toEqual(rest)
      }
      // At the edge nothing is missing, and one that has seen nothing is owed nothing.
      const edge = await readUntil(open(engine, firstRetained - 1), (events) => events.at(-1)?.seq === head)
      expect(edge.map(({ seq }) => seq)).toEqual(rest)
      const fresh = await readUntil(open(engine), (events) => events.at(-1)?.seq === head)
      expect(fresh.every(({ type }) => type === 'event')).toBe(true)
    }
  },
)

test('by age: old events go when the next run starts, and on a quiet thread by themselves; never those of a run', async () => {
  let ahead = 0
  let rounds = 0
  const memory = sharedMemory({ now: () => Date.now() + ahead })
  const shared: Shared = () => {
    const place = memory()
    const sweep = async () => {
      rounds++
      await place.store.sweep()
    }
    return { ...place, store: { ...place.store, sweep } }
  }
  const actor = counting()
  const engine = instance(shared, actor.agent, { maxAgeMs: 200 })
  const { store } = shared()
  await run(engine, actor, 5)
  ahead = 10_000
  await start(engine, 't')
  actor.emit(custom('long'))
  while ((await store.inspect('t')).head < 9) await new Promise((resolve) => setTimeout(resolve, 5))
  // Stores drop what they keep together when all of it is old.
  const { firstRetained } = await store.inspect('t')
  expect(firstRetained).toBeGreaterThan(1)
  expect(firstRetained).toBeLessThanOrEqual(8)
  // The run is old now, and so are its events, but it has not ended. Rounds go by.
  ahead = 20_000
  for (const before = rounds; rounds < before + 4; ) await new Promise((resolve) => setTimeout(resolve, 5))
  expect((await store.inspect('t')).firstRetained).toBe(firstRetained)
  actor.finish()
  while ((await store.inspect('t')).firstRetained <= 10)
    await new Promise((resolve) => setTimeout(resolve, 5))
  expect(await store.inspect('t')).toMatchObject({ head: 10, firstRetained: 11 })
  const [checkpoints, values] = await readUntil(open(engine), (events) => events.length === 2)
  expect(checkpoints?.method).toBe('checkpoints')
  expect(values?.params.data).toEqual({ runs: 2 })
})

test('whatever the bound: a reader that comes and goes is told of each gap, and gets the rest once and in order', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.nat({ max: 12 }),
      fc.array(fc.record({ events: fc.nat({ max: 20 }), reads: fc.nat({ max: 3 }) }), {
        minLength: 1,
        maxLength: 6,
      }),
      async (maxEvents, rounds) => {
        const actor = counting()
        const engine = engineOf({ a: actor.agent }, { ...sharedMemory()(), retention: { maxEvents } })
        let at = 0
        for (const { events, reads } of rounds) {
          await run(engine, actor, events)
          const subscription = open(engine, at)
          for (let read = 0; read < reads && at < (await engine.head('t')); read++) {
            const seen = await readUntil(subscription, (batch) => batch.length > 0)
            for (const event of seen) {
              if (event.type === 'gap') {
                expect(event).toMatchObject({ after: at })
                at = (event as unknown as { first_retained: number }).first_retained - 1
              } else if (!event.event_id.startsWith('synth:')) expect(event.seq).toBe(++at)
            }
          }
          subscription.cancel()
        }
        expect((await transcript(engine, 't')).length).toBeGreaterThan(0)
        await engine.close()
      },
    ),
    { numRuns: 60 },
  )
})

test('bounds that are none are refused', () => {
  for (const bound of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY])
    for (const retention of [{ maxEvents: bound }, { maxAgeMs: bound }])
      expect(() => engineOf({ a: puppet().agent }, { retention })).toThrow('whole number')
})
