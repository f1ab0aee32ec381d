import { Annotation, StateGraph } from '@langchain/langgraph'
import { expect, test } from 'vitest'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import type { AgentEngine } from '../../src/engine/index.ts'
import { engineOf, start, transcript } from '../kit/engine.ts'
import { isTerminal, rootStates } from '../kit/events.ts'
import { custom, puppet } from '../kit/puppet.ts'
import { turns } from '../kit/wait.ts'

/** A graph of two nodes that notes its inputs. The second waits until the test opens its gate. */
function gatedGraph() {
  const gates: (() => void)[] = []
  let waiting = () => {}
  const State = Annotation.Root({
    log: Annotation<string[]>({ reducer: (a, b) => a.concat(b), default: () => [] }),
  })
  const graph = new StateGraph(State)
    .addNode('first', () => ({ log: ['first'] }))
    .addNode('second', async (_state, config) => {
      await new Promise<void>((resolve, reject) => {
        gates.push(resolve)
        config.signal?.addEventListener('abort', () => reject(new Error('aborted')))
        waiting()
      })
      return { log: ['second'] }
    })
    .addEdge('__start__', 'first')
    .addEdge('first', 'second')
    .compile()
  return {
    agent: langgraph(graph),
    /** Settles when a run has reached the gate. */
    atGate: () =>
      new Promise<void>((resolve) => {
        if (gates.length > 0) resolve()
        else waiting = resolve
      }),
    open: () => gates.shift()?.(),
  }
}

const stateOf = async (engine: AgentEngine, threadId = 't') => {
  const thread = await engine.findThread({ threadId })
  return thread && (await engine.readState(thread))
}

test('enqueue: runs wait and keep their order', async () => {
  const actor = puppet()
  const engine = engineOf({ a: actor.agent })
  const ids: string[] = []
  for (let i = 0; i < 5; i++) ids.push((await start(engine, 't', { i })).runId)
  expect(actor.tasks).toHaveLength(1)
  for (let i = 0; i < 5; i++) actor.finish()
  const events = await transcript(engine, 't', 5)
  expect(rootStates(events)).toEqual(Array.from({ length: 5 }, () => ['running', 'completed']).flat())
  expect(actor.tasks.map(({ runId }) => runId)).toEqual(ids)
  await engine.close()
})

test('reject: a busy thread refuses, and nothing changes', async () => {
  const actor = puppet()
  const engine = engineOf({ a: actor.agent })
  await start(engine, 't')
  const before = await engine.findThread({ threadId: 't' })
  await expect(start(engine, 't', {}, { multitaskStrategy: 'reject' })).rejects.toMatchObject({
    code: 'thread_busy',
  })
  expect(await engine.findThread({ threadId: 't' })).toEqual(before)
  actor.finish()
  await transcript(engine, 't')
  actor.finish()
  await start(engine, 't', {}, { multitaskStrategy: 'reject' })
  expect(rootStates(await transcript(engine, 't', 2))).toEqual([
    'running',
    'completed',
    'running',
    'completed',
  ])
  await engine.close()
})

test('interrupt: the run in progress stops and keeps its checkpoints, and the next one starts after it', async () => {
  const gated = gatedGraph()
  const engine = engineOf({ a: gated.agent })
  await start(engine, 't', { log: ['one'] })
  await gated.atGate()
  gated.open()
  await start(engine, 't', { log: ['two'] }, { multitaskStrategy: 'interrupt' })
  await transcript(engine, 't', 1)
  await gated.atGate()
  gated.open()
  const events = await transcript(engine, 't', 2)
  expect(rootStates(events)).toEqual(['running', 'interrupted', 'running', 'completed'])
  expect((await stateOf(engine))?.values.log).toEqual(['one', 'first', 'two', 'first', 'second'])
  await engine.close()
})

test('rollback: the run in progress is undone to the state before it', async () => {
  const gated = gatedGraph()
  const engine = engineOf({ a: gated.agent })
  await start(engine, 't', { log: ['one'] })
  await gated.atGate()
  gated.open()
  await transcript(engine, 't')
  const before = await stateOf(engine)

  const undone = await start(engine, 't', { log: ['two'] })
  await gated.atGate()
  expect((await stateOf(engine))?.values.log).toEqual(['one', 'first', 'second', 'two', 'first'])
  await engine.cancel({ threadId: 't', runId: undone.runId, action: 'rollback' })
  await engine.wait({ threadId: 't', runId: undone.runId })
  const restored = await stateOf(engine)
  expect(restored).toEqual(before)

  gated.open()
  await start(engine, 't', { log: ['three'] }, { multitaskStrategy: 'rollback' })
  await gated.atGate()
  gated.open()
  const events = await transcript(engine, 't', 3)
  expect(rootStates(events).slice(2)).toEqual(['running', 'interrupted', 'running', 'completed'])
  expect((await stateOf(engine))?.values.log).toEqual(['one', 'first', 'second', 'three', 'first', 'second'])
  await engine.close()
})

test('rollback of the first run of a thread leaves no state', async () => {
  const gated = gatedGraph()
  const engine = engineOf({ a: gated.agent })
  const { runId } = await start(engine, 't', { log: ['one'] })
  await gated.atGate()
  await engine.cancel({ threadId: 't', runId, action: 'rollback' })
  await engine.wait({ threadId: 't', runId })
  expect(await stateOf(engine)).toBeUndefined()
  expect((await engine.findThread({ threadId: 't' }))?.status).toBe('idle')
  await engine.close()
})

test('interrupt and rollback drop queued runs', async () => {
  const actor = puppet()
  const engine = engineOf({ a: actor.agent })
  await start(engine, 't')
  const waiting = await start(engine, 't')
  const last = await start(engine, 't', {}, { multitaskStrategy: 'interrupt' })
  actor.finish()
  await transcript(engine, 't', 2)
  expect(actor.tasks.map(({ runId }) => runId)).not.toContain(waiting.runId)
  expect(actor.tasks.at(-1)?.runId).toBe(last.runId)
  await engine.wait({ threadId: 't', runId: waiting.runId })
  await engine.close()
})

test('a queued run can be cancelled before it starts, and a run in progress ends interrupted', async () => {
  const actor = puppet()
  const engine = engineOf({ a: actor.agent })
  const running = await start(engine, 't')
  const queued = await start(engine, 't')
  await engine.cancel({ threadId: 't', runId: queued.runId, action: 'interrupt' })
  await engine.cancel({ threadId: 't', runId: running.runId, action: 'interrupt' })
  expect(rootStates(await transcript(engine, 't'))).toEqual(['running', 'interrupted'])
  expect(actor.tasks).toHaveLength(1)
  await engine.cancel({ threadId: 't', runId: running.runId, action: 'interrupt' })
  await expect(engine.cancel({ threadId: 't', runId: 'unknown', action: 'interrupt' })).rejects.toMatchObject(
    { code: 'no_such_run' },
  )
  await engine.close()
})

test('an agent that ignores its signal is left behind, and what it does afterwards is not recorded', async () => {
  let late: (() => void) | undefined
  const deaf = puppet({
    async *stream() {
      yield custom('before')
      await new Promise<void>((resolve) => {
        late = resolve
      })
      yield custom('after')
    },
  })
  const engine = engineOf({ a: deaf.agent, b: puppet().agent }, { cancelGraceMs: 5 })
  const { runId } = await start(engine, 't')
  await turns()
  await engine.cancel({ threadId: 't', runId, action: 'interrupt' })
  const events = await transcript(engine, 't')
  expect(rootStates(events)).toEqual(['running', 'interrupted'])
  late?.()
  await start(engine, 't')
  const again = await transcript(engine, 't', 1)
  expect(again.filter(({ method }) => method === 'custom').map(({ params }) => params.data.payload)).toEqual([
    'before',
  ])
  await engine.close()
})

test('an agent that throws ends in one failed event with its message, and the thread stays usable', async () => {
  const actor = puppet()
  const engine = engineOf({ a: actor.agent })
  await start(engine, 't')
  actor.emit(custom(1))
  actor.fail(new Error('kaput'))
  const events = await transcript(engine, 't')
  expect(events.filter(isTerminal)).toHaveLength(1)
  expect(events.at(-1)?.params.data).toMatchObject({ event: 'failed', error: 'kaput' })
  expect((await engine.findThread({ threadId: 't' }))?.status).toBe('error')
  await start(engine, 't')
  actor.finish()
  expect(rootStates(await transcript(engine, 't', 2)).slice(2)).toEqual(['running', 'completed'])
  await engine.close()
})

test('fifty starts at once on one thread run one at a time, each once', async () => {
  for (const multitaskStrategy of ['enqueue', 'interrupt', 'rollback'] as const) {
    const actor = puppet()
    const engine = engineOf({ a: actor.agent })
    const started = await Promise.all(
      Array.from({ length: 50 }, () => start(engine, 't', {}, { multitaskStrategy })),
    )
    for (let i = 0; i < 50; i++) actor.finish()
    for (const { runId } of started) await engine.wait({ threadId: 't', runId })
    const states = rootStates(await transcript(engine, 't', actor.tasks.length))
    expect(states.filter((_, i) => i % 2 === 0).every((state) => state === 'running')).toBe(true)
    expect(states.filter((_, i) => i % 2 === 1).every((state) => state !== 'running')).toBe(true)
    expect(new Set(actor.tasks.map(({ runId }) => runId)).size).toBe(actor.tasks.length)
    if (multitaskStrategy === 'enqueue') expect(actor.tasks).toHaveLength(50)
    await engine.close()
  }
})
