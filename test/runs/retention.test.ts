import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import type { Agent } from '../../src/agents/agent.ts'
import { type AgentEngine, headOf, subscribe } from '../../src/engine/index.ts'
import { ALL_CHANNELS } from '../kit/channels.ts'
import { engineOf, readUntil, start, transcript } from '../kit/engine.ts'
import { custom, puppet } from '../kit/puppet.ts'
import { type Place, SHARED, sharedMemory } from '../kit/shared.ts'
import { eventually } from '../kit/wait.ts'

/** An agent whose state says how many runs it has had. */
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

function instance(place: Place, agent: Agent): AgentEngine {
  const engine = engineOf({ a: agent }, { ...place, sweepMs: 30 })
  onTestFinished(() => engine.close())
  return engine
}

const open = (engine: AgentEngine, since?: number) =>
  subscribe(engine, { threadId: 't', filter: { channels: ALL_CHANNELS }, since })

/** Runs an agent to its end, with so many custom events. */
async function run(engine: AgentEngine, actor: ReturnType<typeof puppet>, events: number): Promise<void> {
  for (let at = 0; at < events; at++) actor.emit(custom(at))
  actor.finish()
  const { runId } = await start(engine, 't')
  await engine.wait({ threadId: 't', runId })
}

test.each(Object.entries(SHARED))(
  'over %s: any instance sends a client behind the first retained event a gap, the state and then all there is',
  async (_, make) => {
    const actor = counting()
    const shared = make({ maxThreadBytes: 4_000 })
    const { store } = shared()
    const a = instance(shared(), actor.agent)
    const b = instance(shared(), actor.agent)
    await run(a, actor, 30)
    await run(a, actor, 30)
    await run(a, actor, 30)
    await store.sweep()
    const { firstRetained, head } = await store.inspect('t')
    expect(firstRetained).toBeGreaterThan(10)
    const rest = Array.from({ length: head - firstRetained + 1 }, (_, i) => firstRetained + i)
    for (const engine of [a, b]) {
      for (const after of [3, firstRetained - 2]) {
        const seen = await readUntil(open(engine, after), (events) => events.at(-1)?.seq === head)
        const [gap, checkpoints, values, ...events] = seen
        expect(gap).toEqual({ type: 'gap', after, first_retained: firstRetained })
        expect(checkpoints).toMatchObject({ method: 'checkpoints', params: { data: { id: 'c3' } } })
        expect(values).toMatchObject({ seq: firstRetained - 1, params: { data: { runs: 3 } } })
        expect(events.map(({ seq }) => seq)).toEqual(rest)
      }
      // A cursor right before the first retained event misses nothing, and a client without a cursor needs no gap.
      const edge = await readUntil(open(engine, firstRetained - 1), (events) => events.at(-1)?.seq === head)
      expect(edge.map(({ seq }) => seq)).toEqual(rest)
      const fresh = await readUntil(open(engine), (events) => events.at(-1)?.seq === head)
      expect(fresh.every(({ type }) => type === 'event')).toBe(true)
    }
  },
)

test.each(Object.entries(SHARED))(
  'over %s: a subscriber whose next events were dropped gets a gap as well, and misses nothing after it',
  async (_, make) => {
    const actor = counting()
    const shared = make({ maxThreadBytes: 4_000 })
    const { store } = shared()
    const engine = instance(shared(), actor.agent)
    await run(instance(shared(), actor.agent), actor, 30)
    const behind = open(engine, 3)
    await behind.ready()
    await run(engine, actor, 60)
    await store.sweep()
    const { head } = await store.inspect('t')
    const seen = await readUntil(behind, (events) => events.at(-1)?.seq === head)
    expect(seen[0]).toEqual({ type: 'gap', after: 3, first_retained: expect.any(Number) })
    expect(follow(seen, 3)).toBe(head)
  },
)

test.each(Object.entries(SHARED))(
  'over %s: a subscriber gets a gap for a single event that was dropped, and none where nothing was',
  async (_, make) => {
    const actor = counting()
    const { store, checkpointer } = make()()
    const engine = instance({ store, checkpointer }, actor.agent)
    await run(engine, actor, 8)
    const { head } = await store.inspect('t')
    const at = [3, 4, 5]
    const subscriptions = at.map((after) => open(engine, after))
    await Promise.all(subscriptions.map((subscription) => subscription.ready()))
    await store.trim('t', { keepLast: head - 4 })
    const [before, ...after] = await Promise.all(
      subscriptions.map((subscription) => readUntil(subscription, (events) => events.at(-1)?.seq === head)),
    )
    expect(before![0]).toEqual({ type: 'gap', after: 3, first_retained: 5 })
    expect(before!.map(({ seq, method }) => method && seq).slice(1, 4)).toEqual([4, 4, 5])
    for (const [i, seen] of after.entries())
      expect(seen.map(({ type, seq }) => `${type} ${seq}`)).toEqual(
        Array.from({ length: head - at[i + 1]! }, (_, n) => `event ${at[i + 1]! + n + 1}`),
      )
  },
)

test('maintenance drops the old events of a quiet thread, and never those of a run in progress', async () => {
  let ahead = 0
  let rounds = 0
  const place = sharedMemory({ maxAgeMs: 200, now: () => Date.now() + ahead })()
  const sweep = async () => {
    rounds++
    await place.store.sweep()
  }
  const actor = counting()
  const engine = instance({ ...place, store: { ...place.store, sweep } }, actor.agent)
  const inspect = () => place.store.inspect('t')
  await run(engine, actor, 5)
  ahead = 10_000
  await eventually(async () => (await inspect()).firstRetained === 8)
  await start(engine, 't')
  actor.emit(custom('long'))
  await eventually(async () => (await inspect()).head === 9)
  // The run and its events are old now, but it has not ended. Some sweeps pass.
  ahead = 20_000
  const before = rounds
  await eventually(async () => rounds >= before + 4)
  expect((await inspect()).firstRetained).toBe(8)
  actor.finish()
  await eventually(async () => (await inspect()).firstRetained === 11)
  expect(await inspect()).toMatchObject({ head: 10, firstRetained: 11 })
  const [checkpoints, values] = await readUntil(open(engine), (events) => events.length === 2)
  expect(checkpoints?.method).toBe('checkpoints')
  expect(values?.params.data).toEqual({ runs: 2 })
})

/** The cursor of a client after these events, which expects that only a gap moves it past an event. */
function follow(seen: Awaited<ReturnType<typeof readUntil>>, at: number): number {
  let stands = at
  for (const event of seen) {
    if (event.type === 'gap') {
      expect(event).toMatchObject({ after: stands })
      stands = (event as unknown as { first_retained: number }).first_retained - 1
    } else if (!event.event_id.startsWith('synth:')) expect(event.seq).toBe(++stands)
  }
  return stands
}

test('whatever the bound is, a reader that comes and goes gets each gap, and the rest once and in order', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.nat({ max: 3_000 }),
      fc.array(fc.record({ events: fc.nat({ max: 20 }), reads: fc.nat({ max: 3 }) }), {
        minLength: 1,
        maxLength: 6,
      }),
      async (maxThreadBytes, rounds) => {
        const actor = counting()
        const engine = engineOf({ a: actor.agent }, sharedMemory({ maxThreadBytes })())
        let at = 0
        for (const { events, reads } of rounds) {
          await run(engine, actor, events)
          const subscription = open(engine, at)
          for (let read = 0; read < reads && at < (await headOf(engine, { threadId: 't' })); read++) {
            const seen = await readUntil(subscription, (batch) => batch.length > 0)
            at = follow(seen, at)
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
