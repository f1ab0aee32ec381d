import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Agent } from '../../src/agents/agent.ts'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { type AgentEngine, type MultitaskStrategy, subscribe } from '../../src/engine/index.ts'
import { threeSteps } from '../fixtures/graphs.ts'
import { ALL_CHANNELS } from '../kit/channels.ts'
import { engineOf, readUntil, start, transcript } from '../kit/engine.ts'
import { isRoot, isTerminal, type WireEvent } from '../kit/events.ts'
import { custom, puppet } from '../kit/puppet.ts'
import { SHARED, type Shared, sharedMemory } from '../kit/shared.ts'
import { turns } from '../kit/wait.ts'

const ROUNDS = Number(process.env.TWO_INSTANCES_ROUNDS ?? 15)

/** An agent that records its runs and expects that they never overlap. */
function census() {
  const ran: string[] = []
  let present = 0
  let most = 0
  const agent: Agent = {
    ...puppet().agent,
    async *stream({ runId, signal }) {
      ran.push(runId)
      most = Math.max(most, ++present)
      try {
        for (let at = 0; at < 3; at++) {
          yield custom(at)
          await turns(1)
          signal.throwIfAborted()
        }
      } finally {
        present--
      }
    },
  }
  return { agent, ran, most: () => most }
}

function pair(shared: Shared, agent: Agent, options: object = {}): readonly [AgentEngine, AgentEngine] {
  const make = () => {
    // Longer than any stall of the machine: no lease is to be lost here.
    const engine = engineOf({ a: agent }, { ...shared(), leaseTtlMs: 30_000, ...options })
    onTestFinished(() => engine.close())
    return engine
  }
  return [make(), make()]
}

/** The runs of a log in order, each with its end. Checks that they follow one another. */
function runsOf(events: readonly WireEvent[]): Map<string, unknown> {
  const runs = new Map<string, unknown>()
  let running: unknown
  for (const { params } of events.filter(isRoot)) {
    const { run_id, event } = params.data
    if (event === 'running') {
      expect(running).toBeUndefined()
      expect(runs.has(String(run_id))).toBe(false)
      running = run_id
    } else {
      expect(run_id).toBe(running)
      running = undefined
    }
    runs.set(String(run_id), event)
  }
  return runs
}

const settle = async (engine: AgentEngine, runs: readonly string[]) => {
  for (const runId of runs) await engine.wait({ threadId: 't', runId })
}

describe.each(Object.entries(SHARED))('fifty starts at once from two instances over %s', (_, make) => {
  const startAll = async (
    engines: readonly [AgentEngine, AgentEngine],
    multitaskStrategy: MultitaskStrategy,
  ) => {
    const started = await Promise.allSettled(
      Array.from({ length: 50 }, (_, at) => start(engines[at % 2]!, 't', { at }, { multitaskStrategy })),
    )
    const accepted = started.flatMap((result) => (result.status === 'fulfilled' ? [result.value.runId] : []))
    const refused = started.flatMap((result) => (result.status === 'rejected' ? [result.reason.code] : []))
    await settle(engines[0], accepted)
    return { accepted, refused }
  }

  test('enqueue: each runs once, one at a time', async () => {
    const { agent, ran, most } = census()
    const engines = pair(make(), agent)
    const { accepted } = await startAll(engines, 'enqueue')
    expect(accepted).toHaveLength(50)
    expect([...ran].sort()).toEqual([...accepted].sort())
    expect(most()).toBe(1)
    const runs = runsOf(await transcript(engines[1], 't', 50))
    expect([...runs]).toEqual(ran.map((runId) => [runId, 'completed']))
  })

  test('reject: a refused start changes nothing, and an accepted one runs once', async () => {
    const { agent, ran, most } = census()
    const engines = pair(make(), agent)
    const { accepted, refused } = await startAll(engines, 'reject')
    expect(accepted.length + refused.length).toBe(50)
    expect(new Set(refused)).toEqual(new Set(['thread_busy']))
    expect([...ran].sort()).toEqual([...accepted].sort())
    expect(most()).toBe(1)
    const runs = runsOf(await transcript(engines[1], 't', accepted.length))
    expect(new Set(runs.values())).toEqual(new Set(['completed']))
  })

  test.each(['interrupt', 'rollback'] as const)(
    '%s: each run ends, one at a time, and the last one completes',
    async (strategy) => {
      const { agent, ran, most } = census()
      const engines = pair(make(), agent)
      const { accepted } = await startAll(engines, strategy)
      expect(accepted).toHaveLength(50)
      expect(most()).toBe(1)
      expect(new Set(ran).size).toBe(ran.length)
      const runs = runsOf(await transcript(engines[1], 't', ran.length))
      expect([...runs.keys()]).toEqual(ran)
      expect([...runs.values()].at(-1)).toBe('completed')
      expect((await engines[0].findThread({ threadId: 't' }))?.status).toBe('idle')
    },
  )

  test('queued runs start in the order in which they were accepted', async () => {
    const { agent } = census()
    const engines = pair(make(), agent)
    const accepted: string[] = []
    for (let at = 0; at < 20; at++) accepted.push((await start(engines[at % 2]!, 't')).runId)
    await settle(engines[1], accepted)
    expect([...runsOf(await transcript(engines[0], 't', 20)).keys()]).toEqual(accepted)
  })
})

const action = fc.record({
  by: fc.constantFrom(0, 1),
  do: fc.constantFrom('interrupt', 'rollback', 'cancel interrupt', 'cancel rollback'),
  after: fc.nat({ max: 40 }),
})

test('whatever stops a run, the state is that of the runs that were not undone, and nothing is written late', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 1, maxLength: 6 }), async (actions) => {
      const place = sharedMemory()
      const graph = threeSteps(() => turns(3))
      const engines = pair(place, langgraph(graph))
      const names = new Map<string, string>()
      const undone = new Set<string>()
      const begin = async (by: number, rest: object = {}) => {
        const name = `run ${names.size}`
        const { runId } = await start(engines[by]!, 't', { notes: [name] }, rest)
        names.set(runId, name)
        return runId
      }
      let current = await begin(0)
      for (const { by, do: what, after } of actions) {
        await turns(after)
        const before = current
        if (what === 'interrupt' || what === 'rollback')
          current = await begin(by, { multitaskStrategy: what })
        else {
          await engines[by]!.cancel({
            threadId: 't',
            runId: current,
            action: what === 'cancel rollback' ? 'rollback' : 'interrupt',
          })
          current = await begin(1 - by)
        }
        if (what.endsWith('rollback')) undone.add(before)
      }
      await settle(engines[0], [...names.keys()])
      const runs = runsOf(await untilEnded(engines[1], current))
      const read = async () =>
        ((await engines[0].readState((await engines[0].findThread({ threadId: 't' }))!))?.values.notes ??
          []) as string[]
      const notes = await read()
      let rest = notes
      for (const [runId, end] of runs) {
        const whole = [names.get(runId)!, 'one', 'two', 'three']
        // A rollback that came after the run's end has undone nothing.
        if (end === 'interrupted' && undone.has(runId)) continue
        const length = end === 'completed' ? 4 : prefix(rest, whole)
        expect(rest.slice(0, length)).toEqual(whole.slice(0, length))
        rest = rest.slice(length)
      }
      expect(rest).toEqual([])
      await turns(20)
      expect(await read()).toEqual(notes)
      for (const engine of engines) await engine.close()
    }),
    { numRuns: ROUNDS },
  )
})

/** The log until the end of a run. */
async function untilEnded(engine: AgentEngine, runId: string): Promise<WireEvent[]> {
  const all = subscribe(engine, { threadId: 't', filter: { channels: ALL_CHANNELS }, since: 0 })
  const ended = (event: WireEvent) => isTerminal(event) && event.params.data.run_id === runId
  return readUntil(all, (events) => events.some(ended)).finally(all.cancel)
}

function prefix(notes: readonly string[], whole: readonly string[]): number {
  let at = 0
  while (at < whole.length && notes[at] === whole[at]) at++
  return at
}

describe.each(Object.entries(SHARED))('a cancel from another instance over %s', (_, make) => {
  // A lease of a minute is renewed after twenty seconds, so that only the store's notification can be in time.
  const patient = { leaseTtlMs: 60_000, cancelGraceMs: 5 }

  test.each(['cancel', 'start'] as const)(
    'by a %s stops the run without waiting for its next renewal',
    async (by) => {
      const actor = puppet()
      const [a, b] = pair(make(), actor.agent, patient)
      const { runId } = await start(a, 't')
      actor.emit(custom('before'))
      const joined = subscribe(b, { threadId: 't', filter: { channels: ALL_CHANNELS }, since: 0 })
      onTestFinished(() => joined.cancel())
      await readUntil(joined, (events) => events.some(({ method }) => method === 'custom'))
      const asked = Date.now()
      if (by === 'cancel') await b.cancel({ threadId: 't', runId, action: 'interrupt' })
      else await start(b, 't', {}, { multitaskStrategy: 'interrupt' })
      await readUntil(joined, (events) => events.some(isTerminal))
      expect(Date.now() - asked).toBeLessThan(19_000)
      actor.finish()
    },
  )
})
