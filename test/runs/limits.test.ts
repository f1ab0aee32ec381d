import { describe, expect, onTestFinished, test } from 'vitest'
import type { Agent, AgentTask } from '../../src/agents/agent.ts'
import { defineAgent } from '../../src/agents/function/define-agent.ts'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { createAgentEngine, type RunLimits } from '../../src/index.ts'
import { endless } from '../fixtures/graphs.ts'
import { engineOf, start, transcript } from '../kit/engine.ts'
import { rootStates } from '../kit/events.ts'
import { serveAgents } from '../kit/host.ts'
import { custom, puppet } from '../kit/puppet.ts'
import { SHARED, sharedMemory } from '../kit/shared.ts'
import { eventually, turns } from '../kit/wait.ts'

/** An agent whose runs go on until they are let go. */
function held() {
  const running = new Map<string, () => void>()
  const order: string[] = []
  let most = 0
  const agent: Agent = {
    ...puppet().agent,
    async *stream({ threadId, signal }: AgentTask) {
      order.push(threadId)
      await new Promise<void>((resolve) => {
        running.set(threadId, resolve)
        most = Math.max(most, running.size)
        signal.addEventListener('abort', () => resolve())
      })
      running.delete(threadId)
      yield custom('done')
    },
  }
  return {
    agent,
    running,
    order,
    most: () => most,
    letGo: (threadId: string) => running.get(threadId)!(),
  }
}

const endOf = async (engine: ReturnType<typeof engineOf>, threadId: string, runId: string) =>
  (await engine.wait({ threadId, runId })).status

describe.each(Object.entries(SHARED))('runs at once over %s', (_, shared) => {
  const engineWith = (agent: Agent, limits: RunLimits) => {
    const engine = engineOf({ a: agent }, { ...shared()(), limits })
    onTestFinished(() => engine.close())
    return engine
  }

  test('are bounded; further ones wait in the order in which they came, whatever their strategy is', async () => {
    const { agent, running, order, most, letGo } = held()
    const engine = engineWith(agent, { runs: 2 })
    const ids = ['t1', 't2', 't3', 't4', 't5']
    const started = []
    for (const [at, id] of ids.entries())
      started.push(await start(engine, id, {}, at === 3 ? { multitaskStrategy: 'reject' } : {}))
    await turns(5)
    expect([...running.keys()]).toEqual(['t1', 't2'])
    expect(await engine.measure()).toMatchObject({ running: 2, queued: 3 })
    for (const [at, id] of ids.entries()) {
      await eventually(() => running.has(id))
      letGo(id)
      expect(await endOf(engine, id, started[at]!.runId)).toBe('success')
    }
    expect(order).toEqual(ids)
    expect(most()).toBe(2)
  })

  test('leave no thread idle on which an accepted run waits, be it for a place or behind another run', async () => {
    const { agent, running, letGo } = held()
    const engine = engineWith(agent, { runs: 1 })
    const statusOf = async (threadId: string) => (await engine.findThread({ threadId }))?.status
    const started = [await start(engine, 't1'), await start(engine, 't2'), await start(engine, 't1')]
    await eventually(() => running.has('t1'))
    expect([await statusOf('t1'), await statusOf('t2')]).toEqual(['busy', 'busy'])
    letGo('t1')
    // The second run of the first thread waits behind the one of the second thread.
    await eventually(() => running.has('t2'))
    expect(await statusOf('t1')).toBe('busy')
    letGo('t2')
    await eventually(() => running.has('t1'))
    expect(await statusOf('t1')).toBe('busy')
    letGo('t1')
    for (const [at, { runId }] of started.entries())
      expect(await endOf(engine, at === 1 ? 't2' : 't1', runId)).toBe('success')
    expect([await statusOf('t1'), await statusOf('t2')]).toEqual(['idle', 'idle'])
  })

  test('are bounded for each owner, and one owner does not hold up another', async () => {
    const { agent, running, letGo } = held()
    const engine = engineWith(agent, { runs: 3, runsPerOwner: 2 })
    const as = (id: string) => ({ principal: { id } })
    for (const id of ['a1', 'a2', 'a3', 'a4']) await start(engine, id, {}, as('ann'))
    await start(engine, 'b1', {}, as('bob'))
    await eventually(() => running.size === 3)
    expect([...running.keys()]).toEqual(['a1', 'a2', 'b1'])
    letGo('b1')
    await turns(10)
    expect([...running.keys()]).toEqual(['a1', 'a2'])
    letGo('a2')
    await eventually(() => running.has('a3'))
    expect(running.size).toBe(2)
    for (const id of ['a1', 'a3']) letGo(id)
    await eventually(() => running.has('a4'))
    letGo('a4')
  })

  test('go to threads in turn: a thread with a queue does not keep its place', async () => {
    const { agent, running, order, letGo } = held()
    const engine = engineWith(agent, { runs: 1 })
    for (const id of ['t1', 't1', 't1', 't2']) await start(engine, id)
    for (let at = 0; at < 4; at++) {
      await eventually(() => running.size === 1)
      const [id] = running.keys()
      letGo(id!)
      await eventually(() => !running.has(id!) || order.length === at + 2)
    }
    expect(order).toEqual(['t1', 't1', 't2', 't1'])
  })

  test('are given to runs that wait when a claim fails', async () => {
    const { agent, running, letGo } = held()
    const place = shared()()
    let fails = () => {}
    const hold = new Promise<never>((_, reject) => (fails = () => reject(new Error('refused'))))
    const checkpointer = {
      ...place.checkpointer,
      getTuple: (config: Parameters<typeof place.checkpointer.getTuple>[0]) =>
        config.configurable?.thread_id === 'bad' ? hold : place.checkpointer.getTuple(config),
    }
    const engine = engineOf({ a: agent }, { store: place.store, checkpointer, limits: { runs: 1 } })
    onTestFinished(() => engine.close())
    const refused = expect(start(engine, 'bad')).rejects.toThrow('refused')
    await turns(5)
    await start(engine, 'good')
    expect(running.size).toBe(0)
    fails()
    await refused
    await eventually(() => running.has('good'), { timeoutMs: 200_000 })
    letGo('good')
  })

  test('are given back by failed, cancelled and refused runs', async () => {
    const { agent, running, order, letGo } = held()
    const engine = engineWith(
      {
        ...agent,
        validateInput(input) {
          if (input === 'bad') throw new TypeError('bad')
        },
        async *stream(task) {
          if (task.start.kind === 'input' && task.start.value === 'fail') throw new Error('kaput')
          yield* agent.stream(task)
        },
      },
      { runs: 1 },
    )
    await expect(start(engine, 'x', 'bad')).rejects.toThrow('bad')
    await expect(start(engine, 'x', {}, { checkpointId: 'none' })).rejects.toMatchObject({
      code: 'no_such_checkpoint',
    })
    const failed = await start(engine, 'f', 'fail')
    expect(await endOf(engine, 'f', failed.runId)).toBe('error')
    const cancelled = await start(engine, 'c')
    const dropped = await start(engine, 'd')
    await engine.cancel({ threadId: 'd', runId: dropped.runId })
    await engine.cancel({ threadId: 'c', runId: cancelled.runId })
    expect(await endOf(engine, 'c', cancelled.runId)).toBe('interrupted')
    expect(await endOf(engine, 'd', dropped.runId)).toBe('interrupted')
    // Many at once, of which all but one lose the race for the thread.
    const raced = await Promise.all(Array.from({ length: 8 }, () => start(engine, 'r')))
    for (const at of raced.keys()) {
      await eventually(() => order.filter((id) => id === 'r').length === at + 1)
      letGo('r')
    }
    const last = await start(engine, 'l')
    await eventually(() => running.has('l'))
    letGo('l')
    expect(await endOf(engine, 'l', last.runId)).toBe('success')
  })
})

test('a run that waits for a place is started by another instance that has one', async () => {
  const shared = sharedMemory()
  const full = held()
  const free = held()
  const options = { leaseTtlMs: 300, limits: { runs: 1 } }
  const one = engineOf({ a: full.agent }, { ...shared(), ...options })
  const other = engineOf({ a: free.agent }, { ...shared(), ...options })
  onTestFinished(async () => void (await Promise.all([one.close(), other.close()])))
  await start(one, 't1')
  const { runId } = await start(one, 't2')
  await eventually(() => free.running.has('t2'))
  free.letGo('t2')
  expect(await endOf(one, 't2', runId)).toBe('success')
  expect([...full.running.keys()]).toEqual(['t1'])
})

test('a thread takes as many runs behind the one in progress as it may', async () => {
  const { agent, running } = held()
  const engine = engineOf({ a: agent }, { limits: { queuedRuns: 2 } })
  onTestFinished(() => engine.close())
  for (let at = 0; at < 3; at++) await start(engine, 't')
  await eventually(() => running.size === 1)
  await expect(start(engine, 't')).rejects.toMatchObject({
    code: 'thread_busy',
    message: expect.stringContaining('2 runs are waiting'),
  })
})

describe('the time of a run', () => {
  const AGENTS: Readonly<Record<string, (stopped: (reason: unknown) => void) => Agent>> = {
    'of a function': (stopped) =>
      defineAgent({
        async run({ signal, custom: send }) {
          try {
            for (;;) {
              await send('still there')
              await turns(1)
            }
          } finally {
            stopped(signal.reason)
          }
        },
      }),
    'of a graph': (stopped) => {
      // A graph that never waits for anything would leave no timer its turn.
      const graph = endless(() => turns(1))
      return {
        ...langgraph(graph.withConfig({ recursionLimit: 1e9 }) as never),
        async *stream(task) {
          task.signal.addEventListener('abort', () => stopped(task.signal.reason))
          yield* langgraph(graph.withConfig({ recursionLimit: 1e9 }) as never).stream(task)
        },
      }
    },
    'of an agent that ignores its signal': (stopped) => ({
      ...puppet().agent,
      async *stream({ signal }) {
        signal.addEventListener('abort', () => stopped(signal.reason))
        yield custom(1)
        await new Promise(() => {})
      },
    }),
  }
  test.each(Object.entries(AGENTS))(
    '%s is bounded: it is stopped and fails with a clear message',
    async (_, make) => {
      const reasons: unknown[] = []
      const errors: unknown[] = []
      const engine = engineOf(
        { a: make((reason) => reasons.push(reason)) },
        {
          limits: { runMs: 100 },
          cancelGraceMs: 50,
          errorMessage: undefined,
          onError: (error) => errors.push(error),
        },
      )
      const { runId } = await start(engine, 't', { notes: [] })
      const message = 'The run took longer than 100 ms and was stopped.'
      expect(await engine.wait({ threadId: 't', runId })).toMatchObject({ status: 'error', error: message })
      expect(rootStates(await transcript(engine, 't'))).toEqual(['running', 'failed'])
      expect(await engine.findThread({ threadId: 't' })).toMatchObject({ status: 'error', error: message })
      await eventually(() => reasons.length > 0)
      expect(reasons[0]).toMatchObject({ code: 'limit_exceeded' })
      expect(errors).toMatchObject([{ code: 'limit_exceeded' }])
      await engine.close()
    },
  )

  test('does not count for a run that ends before, nor for one without a bound', async () => {
    for (const runMs of [60, Number.POSITIVE_INFINITY, 2 ** 40]) {
      const { agent, running, letGo } = held()
      const engine = engineOf({ a: agent }, { limits: { runMs } })
      const { runId } = await start(engine, 't')
      await eventually(() => running.size === 1)
      letGo('t')
      expect(await endOf(engine, 't', runId)).toBe('success')
      const next = await start(engine, 't')
      await eventually(() => running.size === 1)
      letGo('t')
      expect(await endOf(engine, 't', next.runId)).toBe('success')
      await engine.close()
    }
  })
})

test('an event that is too long fails the run with a clear message, and none of it is sent', async () => {
  const { agent, emit } = puppet()
  const engine = engineOf(
    { a: agent },
    { limits: { eventLength: 1_000 }, errorMessage: undefined, onError: () => {} },
  )
  const { runId } = await start(engine, 't')
  emit(custom('x'.repeat(900)), custom('y'.repeat(1_000)), custom('after'))
  const message = expect.stringMatching(
    /^An event of the agent \(custom\) has 1\d\d\d characters of JSON; the limit is 1000\.$/,
  )
  expect(await engine.wait({ threadId: 't', runId })).toMatchObject({ status: 'error', error: message })
  const events = await transcript(engine, 't')
  expect(events.map(({ method }) => method)).toEqual(['lifecycle', 'custom', 'lifecycle'])
  expect(JSON.stringify(events)).not.toContain('yyy')
  await engine.close()
})

describe('the recursion limit', () => {
  const LIMITS: readonly [string, number | undefined, number | undefined, RunLimits, number][] = [
    ['is that of LangGraph where nobody says anything', undefined, undefined, {}, 25],
    ['may be lowered', undefined, 7, {}, 7],
    ['may be raised to that of the server', undefined, 60, {}, 60],
    ['may not be raised above that of the server', undefined, 5_000, {}, 100],
    [
      'may not be raised above that of the server, which may be lower',
      undefined,
      20,
      { recursionLimit: 12 },
      12,
    ],
    ['is that of the graph where the client says nothing', 300, undefined, {}, 300],
    ['of the graph may be lowered', 300, 200, {}, 200],
    ['of the graph may not be raised', 300, 400, { recursionLimit: 1_000 }, 300],
  ]
  test.each(LIMITS)('%s', async (_, own, recursion_limit, limits, expected) => {
    let steps = 0
    const graph = endless(() => void steps++)
    const agent = langgraph((own === undefined ? graph : graph.withConfig({ recursionLimit: own })) as never)
    const host = await serveAgents({ agents: { a: agent }, limits })
    const thread = host.thread()
    await thread.start({ notes: [] }, { config: { recursion_limit } })
    expect(rootStates(await thread.transcript())).toEqual(['running', 'failed'])
    expect(steps).toBe(expected)
  })
})

test('clients set only the keys of configurable that they may', async () => {
  const actor = puppet()
  const host = await serveAgents({
    agents: { a: actor.agent },
    limits: { configurable: ['model', 'thread_id'] },
  })
  const thread = host.thread()
  await thread.start({}, { config: { configurable: { model: 'm', temperature: 2, thread_id: 'x' } } })
  await eventually(() => actor.tasks.length === 1)
  expect(actor.tasks[0]!.config.configurable).toEqual({ model: 'm' })
  actor.finish()
})

test.each([
  [{ runs: 0 }, 'limits.runs must be a number above 0, not 0.'],
  [{ runMs: Number.NaN }, 'limits.runMs must be a number above 0, not NaN.'],
  [{ queuedRuns: '5' }, 'limits.queuedRuns must be a number above 0, not a string.'],
  [{ timeout: 5 }, 'unknown option limits.timeout.'],
])('%j is refused', (limits, message) => {
  expect(() => createAgentEngine({ agents: { a: puppet().agent }, limits: limits as RunLimits })).toThrow(
    message,
  )
})
