import { setTimeout as sleep } from 'node:timers/promises'
import { Annotation, StateGraph } from '@langchain/langgraph'
import { expect, onTestFinished, test } from 'vitest'
import type { Agent } from '../../src/agents/agent.ts'
import { defineAgent } from '../../src/agents/function/define-agent.ts'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { headOf, subscribe } from '../../src/engine/index.ts'
import { UnavailableError } from '../../src/storage/errors.ts'
import { memoryCheckpointer } from '../../src/storage/memory/checkpointer.ts'
import { memoryStore } from '../../src/storage/memory/store.ts'
import type { Store } from '../../src/storage/store/store.ts'
import { ALL_CHANNELS } from '../kit/channels.ts'
import { engineOf, readUntil, start, transcript } from '../kit/engine.ts'
import { isTerminal, rootStates } from '../kit/events.ts'
import { custom, puppet } from '../kit/puppet.ts'
import { killable, SHARED, sharedMemory } from '../kit/shared.ts'
import { aborted, eventually, gate } from '../kit/wait.ts'

const LEASE_MS = 200

/** Instances over one store. A killed instance no longer reaches the store. */
function cluster() {
  const shared = memoryStore()
  const checkpointer = memoryCheckpointer()
  return (agent: Agent, leaseTtlMs = LEASE_MS) => {
    let dead = false
    const store: Store = new Proxy(shared, {
      get(target, key: keyof Store) {
        if (key === 'capabilities') return { ...target.capabilities, shared: true }
        const member = target[key] as unknown
        if (typeof member !== 'function') return member
        return (...args: unknown[]) => {
          if (dead) throw new UnavailableError('The network is gone.', { written: 'no' })
          return (member as (...args: unknown[]) => unknown).apply(target, args)
        }
      },
    })
    const engine = engineOf(
      { a: agent },
      { store, checkpointer, leaseTtlMs, cancelGraceMs: 5, onError: () => {} },
    )
    onTestFinished(() => engine.close())
    const kill = () => {
      dead = true
    }
    return { engine, kill }
  }
}

test('a run whose process is lost ends in exactly one failed event that says so', async () => {
  const actors = { a: puppet(), b: puppet() }
  const join = cluster()
  const a = join(actors.a.agent)
  const b = join(actors.b.agent)
  await start(a.engine, 't')
  actors.a.emit(custom('before'))
  const queued = await start(b.engine, 't')
  a.kill()
  actors.b.finish()
  const events = await transcript(b.engine, 't', 2)
  expect(rootStates(events)).toEqual(['running', 'failed', 'running', 'completed'])
  expect(events.find(isTerminal)?.params.data.error).toContain('Send your message again')
  expect(actors.b.tasks.map(({ runId }) => runId)).toEqual([queued.runId])
  actors.a.emit(custom('zombie'))
  actors.a.finish()
  await sleep(10)
  expect((await b.engine.findThread({ threadId: 't' }))?.status).toBe('idle')
  expect(await headOf(b.engine, { threadId: 't' })).toBe(events.length)
})

test('a resumable run continues in another process from its last checkpoint under its own id', async () => {
  const { opened: atWork, open: firstAtWork } = gate()
  const calls: string[] = []
  const State = Annotation.Root({
    log: Annotation<string[]>({ reducer: (x, y) => x.concat(y), default: () => [] }),
  })
  const graphOf = (name: 'a' | 'b') =>
    new StateGraph(State)
      .addNode('first', () => {
        calls.push(`first on ${name}`)
        return { log: ['first'] }
      })
      .addNode('second', async (_state, config) => {
        calls.push(`second on ${name}`)
        if (name === 'b') return { log: ['second'] }
        firstAtWork()
        return new Promise<never>((_, reject) => {
          config.signal?.addEventListener('abort', () => reject(new Error('aborted')))
        })
      })
      .addEdge('__start__', 'first')
      .addEdge('first', 'second')
      .compile()
  const join = cluster()
  // Long enough for a busy machine, which loads LangGraph meanwhile.
  const a = join(langgraph(graphOf('a')), 1_500)
  const { runId } = await start(a.engine, 't', { log: ['input'] })
  await atWork
  // The first step is saved once its events are in the log, while the second one is at work.
  const stepOf = async () =>
    (await a.engine.readState((await a.engine.findThread({ threadId: 't' }))!))?.metadata.step
  await eventually(async () => (await stepOf()) === 1)
  // It joins only now, because a busy machine may renew the lease of the first one late.
  const b = join(langgraph(graphOf('b')))
  a.kill()
  const events = await transcript(b.engine, 't')
  expect(rootStates(events)).toEqual(['running', 'completed'])
  expect(events.at(-1)?.params.data.run_id).toBe(runId)
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i + 1))
  expect(calls.at(-1)).toBe('second on b')
  expect(calls).not.toContain('first on b')
  const thread = await b.engine.findThread({ threadId: 't' })
  expect((await b.engine.readState(thread!))?.values.log).toEqual(['input', 'first', 'second'])
})

test('a cancel on one instance stops a run on another', async () => {
  const actors = { a: puppet(), b: puppet() }
  const join = cluster()
  const a = join(actors.a.agent)
  const b = join(actors.b.agent)
  const { runId } = await start(a.engine, 't')
  await b.engine.cancel({ threadId: 't', runId, action: 'interrupt' })
  expect(rootStates(await transcript(b.engine, 't'))).toEqual(['running', 'interrupted'])
})

test('a thread whose take-over never ends does not hold up the other threads of a lost process', async () => {
  const ids = Array.from({ length: 20 }, (_, i) => `t${i}`)
  const saver = memoryCheckpointer()
  const stuckSaver = Object.assign(Object.create(saver), {
    getTuple: (config: Parameters<typeof saver.getTuple>[0]) =>
      config.configurable?.thread_id === 't0' ? new Promise<never>(() => {}) : saver.getTuple(config),
  })
  const survivor = puppet({ resumable: true, checkpointer: stuckSaver })
  const join = cluster()
  const a = join(puppet({ resumable: true }).agent)
  for (const threadId of ids) await start(a.engine, threadId)
  join(survivor.agent)
  a.kill()
  await eventually(() => survivor.tasks.length === ids.length - 1, {
    timeoutMs: 200_000,
    what: 'The survivor',
  })
  expect(survivor.tasks.map(({ threadId }) => threadId).sort()).toEqual(ids.slice(1).sort())
})

test('a run that no process survives is given up after three attempts', async () => {
  const join = cluster()
  const attempts: (() => void)[] = []
  const deadly: Agent = {
    ...puppet().agent,
    resumable: true,
    async *stream(task) {
      attempts.shift()?.()
      yield custom('begun')
      await new Promise((_, reject) => task.signal.addEventListener('abort', reject))
    },
  }
  const begun = () =>
    new Promise<void>((resolve) => {
      attempts.push(resolve)
    })
  for (let i = 0; i < 3; i++) {
    const attempt = begun()
    const { engine, kill } = join(deadly)
    if (i === 0) await start(engine, 't')
    await attempt
    kill()
  }
  const last = join(deadly)
  const events = await transcript(last.engine, 't')
  expect(rootStates(events)).toEqual(['running', 'failed'])
})

test('a closing server waits for runs for a while, and hands over those that another server can continue', async () => {
  const join = cluster()
  const actors = { a: puppet({ resumable: true }), b: puppet({ resumable: true }) }
  const a = join(actors.a.agent)
  await start(a.engine, 't')
  actors.a.emit(custom('on a'))
  const b = join(actors.b.agent)
  await eventually(async () => (await headOf(b.engine, { threadId: 't' })) >= 2)
  await a.engine.close()
  actors.b.emit(custom('on b'))
  actors.b.finish()
  const events = await transcript(b.engine, 't')
  expect(rootStates(events)).toEqual(['running', 'completed'])
  expect(events.filter(({ method }) => method === 'custom').map(({ params }) => params.data.payload)).toEqual(
    ['on a', 'on b'],
  )

  const patient = puppet()
  const engine = engineOf({ a: patient.agent }, { drainMs: 10_000 })
  await start(engine, 'u')
  const subscription = subscribe(engine, { threadId: 'u', filter: { channels: ALL_CHANNELS } })
  const closed = engine.close()
  patient.finish()
  await closed
  expect(rootStates(await readUntil(subscription, (seen) => seen.some(isTerminal)))).toEqual([
    'running',
    'completed',
  ])
})

test('events survive an unavailable store, and a commit whose answer was lost is not done twice', async () => {
  const shared = memoryStore()
  let mode = 'up' as 'up' | 'away' | 'answer lost'
  const isUp = () => mode === 'up'
  let refused = 0
  const store: Store = {
    ...shared,
    capabilities: { ...shared.capabilities, shared: true },
    async commit(partition, change) {
      const appends = change.ops.some(({ op }) => op === 'append')
      if (!appends || mode === 'up') return shared.commit(partition, change)
      if (mode === 'answer lost') await shared.commit(partition, change)
      if (++refused === 3) mode = 'up'
      throw new UnavailableError('away', { written: mode === 'away' ? 'no' : 'unknown' })
    },
  }
  const actor = puppet()
  const engine = engineOf({ a: actor.agent }, { store })
  await start(engine, 't')
  mode = 'away'
  actor.emit(custom(1), custom(2))
  await eventually(isUp)
  refused = 2
  mode = 'answer lost'
  actor.emit(custom(3), custom(4))
  await eventually(isUp)
  actor.finish()
  const events = await transcript(engine, 't')
  expect(events.filter(({ method }) => method === 'custom').map(({ params }) => params.data.payload)).toEqual(
    [1, 2, 3, 4],
  )
  expect(rootStates(events)).toEqual(['running', 'completed'])
  await engine.close()
})

test('a start whose answer was lost is done, and not done twice', async () => {
  const shared = memoryStore()
  let lost = 0
  const store: Store = {
    ...shared,
    capabilities: { ...shared.capabilities, shared: true },
    async commit(partition, change) {
      const committed = await shared.commit(partition, change)
      const starts = change.ops.some((op) => op.op === 'put' && op.collection === 'runs')
      const ends = change.ops.some(({ op }) => op === 'release')
      if (!starts || ends || ++lost > 3) return committed
      throw new UnavailableError('The answer is lost.', { written: 'unknown' })
    },
  }
  const actor = puppet()
  const engine = engineOf({ a: actor.agent }, { store })
  const ids = [await start(engine, 't'), await start(engine, 't')].map(({ runId }) => runId)
  // This stops the run in progress and drops the queued one.
  ids.push((await start(engine, 't', {}, { multitaskStrategy: 'interrupt' })).runId)
  expect(lost).toBe(3)
  actor.finish()
  const events = await transcript(engine, 't', 2)
  expect(rootStates(events)).toEqual(['running', 'interrupted', 'running', 'completed'])
  expect(actor.tasks.map(({ runId }) => runId)).toEqual([ids[0], ids[2]])
  await engine.close()
})

test('the lease of a process that was lost while it wrote a state is released, and the thread is free', async () => {
  const shared = sharedMemory()
  const { place, kill } = killable(shared())
  const updateState = async () => {
    kill()
    return { checkpointId: 'c' }
  }
  const lost = engineOf({ a: puppet({ updateState }).agent }, { ...place, leaseTtlMs: 50, onError: () => {} })
  await expect(lost.writeState({ threadId: 't', values: {} })).rejects.toThrow('gone')
  const { store } = shared()
  expect((await store.inspect('t')).lease).toBeDefined()
  const other = engineOf({ a: puppet().agent }, { ...shared(), leaseTtlMs: 50 })
  await eventually(async () => !(await store.inspect('t')).lease)
  expect(await store.expired()).toEqual([])
  expect(await other.findThread({ threadId: 't' })).toBeUndefined()
  await start(other, 't', {}, { multitaskStrategy: 'reject' })
  await Promise.all([lost.close(), other.close()])
})

test.each(Object.entries(SHARED))(
  'the first checkpoint behind a rollback waits for a store that is away, over %s',
  async (_, make) => {
    const { store: inner, checkpointer } = make()()
    let refusals = 0
    const store: Store = {
      ...inner,
      async commit(partition, change) {
        const restores = change.ops.some((op) => op.op === 'put' && op.collection === 'threads')
        if (restores && refusals > 0) {
          refusals--
          throw new UnavailableError('away', { written: 'no' })
        }
        return inner.commit(partition, change)
      },
    }
    const { opened: written, open: wrote } = gate()
    let runs = 0
    const agent: Agent = {
      ...puppet().agent,
      async *stream({ checkpointer: saver, threadId, runId, signal }) {
        const config = { configurable: { thread_id: threadId, checkpoint_ns: '' } }
        const channels = { channel_values: {}, channel_versions: {}, versions_seen: {} }
        await saver.put(
          config,
          { v: 4, id: runId, ts: '', ...channels },
          { source: 'loop', step: 0, parents: {} },
          {},
        )
        // The run that is rolled back leaves a checkpoint to restore.
        if (++runs === 3) refusals = 3
        yield { method: 'checkpoints', namespace: [], data: { id: runId, step: 0, source: 'loop' } }
        if (runs !== 2) return
        wrote()
        await aborted(signal)
      },
    }
    const engine = engineOf({ a: agent }, { store, checkpointer })
    onTestFinished(() => engine.close())
    await start(engine, 't')
    await transcript(engine, 't', 1)
    await start(engine, 't')
    await written
    const { runId } = await start(engine, 't', {}, { multitaskStrategy: 'rollback' })
    expect((await engine.wait({ threadId: 't', runId })).status).toBe('success')
    expect(refusals).toBe(0)
  },
)

test('an agent whose events cannot be recorded is stopped with the reason, and not as if it was cancelled', async () => {
  const inner = memoryStore()
  const away = new UnavailableError('away', { written: 'no' })
  let isAway = false
  const store: Store = {
    ...inner,
    commit: (...args) => (isAway ? Promise.reject(away) : inner.commit(...args)),
  }
  let reason: unknown
  const agent = defineAgent({
    async run({ signal, custom: write }) {
      isAway = true
      signal.addEventListener('abort', () => {
        reason = signal.reason
        isAway = false
      })
      for (;;) {
        await write('lost')
        await sleep(1)
      }
    },
  })
  const engine = engineOf({ a: agent }, { store, checkpointer: memoryCheckpointer(), onError: () => {} })
  onTestFinished(() => engine.close())
  await start(engine, 't')
  await eventually(() => reason !== undefined)
  expect(reason).toBe(away)
})
