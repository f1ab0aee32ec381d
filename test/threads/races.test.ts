import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Agent, AgentInputError, memoryStore, type Store } from '../../src/index.ts'
import { isRoot, isTerminal, type WireEvent } from '../kit/events.ts'
import { serveAgents } from '../kit/host.ts'
import { custom } from '../kit/puppet.ts'
import { turns } from '../kit/wait.ts'

/** The memory store made as slow as a database: it works at once and answers some turns later. */
function slow(delays: readonly number[]): Store {
  const inner = memoryStore()
  let calls = 0
  const late =
    <Args extends unknown[], Result>(method: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      const delay = delays[calls++ % delays.length]!
      await turns(delay % 2)
      const settled = method(...args)
      settled.catch(() => {})
      await turns(delay)
      return settled
    }
  return {
    ...inner,
    commit: late(inner.commit),
    get: late(inner.get),
    inspect: late(inner.inspect),
    read: late(inner.read),
  }
}

/** An agent that ends by itself after some turns. It takes updates whose values are not `bad`. */
const brief = (length: number): Agent => ({
  resumable: false,
  async *stream({ signal }) {
    for (let at = 0; at < length; at++) {
      yield custom(at)
      await turns(1)
      signal.throwIfAborted()
    }
  },
  getState: async ({ threadId }) => ({
    values: {},
    next: [],
    tasks: [],
    metadata: {},
    createdAt: null,
    checkpoint: { threadId, checkpointId: 'c', checkpointNs: '', checkpointMap: null },
    parentCheckpoint: null,
  }),
  async *getHistory() {},
  async updateState(_, { values }) {
    await turns(2)
    if (values === 'bad') throw new AgentInputError('bad')
    return { checkpointId: 'c' }
  },
})

const action = fc.oneof(
  fc.record({
    do: fc.constant('start' as const),
    multitaskStrategy: fc.constantFrom('enqueue', 'interrupt', 'rollback', 'reject'),
  }),
  fc.record({
    do: fc.constant('cancel' as const),
    which: fc.nat(),
    action: fc.constantFrom('interrupt', 'rollback'),
  }),
  fc.record({ do: fc.constant('write' as const), values: fc.constantFrom('good', 'bad') }),
  fc.record({ do: fc.constant('turns' as const), count: fc.nat({ max: 6 }) }),
  fc.record({ do: fc.constant('delete' as const) }),
)

test('whatever happens at once on a thread, runs go one at a time and each ends once, and none is stuck or lost', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(action, { minLength: 2, maxLength: 14 }),
      fc.array(fc.nat({ max: 3 }), { minLength: 3, maxLength: 8 }),
      fc.nat({ max: 4 }),
      async (actions, delays, length) => {
        const host = await serveAgents({ agents: { a: brief(length) }, store: slow(delays) })
        const thread = host.thread()
        const runs: string[] = [await thread.start()]
        const under: Promise<unknown>[] = []
        for (const step of actions) {
          if (step.do === 'turns') await turns(step.count)
          else if (step.do === 'start') {
            const { multitaskStrategy } = step
            const started = thread.command('run.start', { input: {}, multitaskStrategy })
            under.push(started.then(({ result }) => result && runs.push(result.run_id)))
          } else if (step.do === 'cancel') {
            const run = runs[step.which % runs.length]!
            under.push(thread.post(`/runs/${run}/cancel?action=${step.action}`))
          } else if (step.do === 'delete') under.push(thread.request('DELETE', ''))
          else under.push(thread.post('/state', { values: step.values }))
        }
        await Promise.all(under)
        const last = await thread.start()
        for (const run of [...runs, last]) {
          const stream = await thread.stream({ channels: ['lifecycle'], since: 0 })
          const ended = stream.until((events) =>
            events.some((event) => isTerminal(event) && event.params.data.run_id === run),
          )
          // A run that was dropped while it waited has no events, but cancelling it waits for its end.
          await (run === last ? ended : thread.post(`/runs/${run}/cancel?wait=1`))
          ended.catch(() => {})
          stream.close()
        }
        const all = await (await thread.stream({ since: 0 })).until((events) =>
          events.some((event) => isTerminal(event) && event.params.data.run_id === last),
        )
        expect(runsOf(all)).not.toContain('bad')
        expect((await thread.get('')).body.status).toBe('idle')
        await host.server.close()
      },
    ),
    { numRuns: 25 },
  )
})

test('queued runs start in the order in which they were accepted, however fast the others end', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat({ max: 3 }), { minLength: 3, maxLength: 8 }),
      fc.nat({ max: 3 }),
      async (delays, length) => {
        const host = await serveAgents({ agents: { a: brief(length) }, store: slow(delays) })
        const thread = host.thread()
        const runs: string[] = []
        for (let at = 0; at < 6; at++) runs.push(await thread.start())
        expect(runsOf(await thread.transcript(6))).toEqual(runs)
        await host.server.close()
      },
    ),
    { numRuns: 25 },
  )
})

/** The run ids in the order in which they ran. Checks that each is running and then ends before the next one begins. */
function runsOf(events: readonly WireEvent[]): string[] {
  const ran: string[] = []
  let running: string | undefined
  // The log of a thread that was deleted and created again begins with a gap, and the state may come before the first run.
  const logged = events.filter(({ type, event_id }) => type === 'event' && !event_id.startsWith('synth:'))
  for (const event of logged) {
    if (!isRoot(event)) {
      expect(running).toBeDefined()
      continue
    }
    const { run_id, event: state } = event.params.data
    if (state === 'running') {
      expect(running).toBeUndefined()
      expect(ran).not.toContain(run_id)
      running = run_id
    } else {
      expect(running).toBe(run_id)
      ran.push(run_id)
      running = undefined
    }
  }
  expect(running).toBeUndefined()
  return ran
}
