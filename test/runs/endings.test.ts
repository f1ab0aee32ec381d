import { expect, onTestFinished, test } from 'vitest'
import type { Agent } from '../../src/agents/agent.ts'
import type { AgentEngineOptions } from '../../src/index.ts'
import { memoryCheckpointer } from '../../src/storage/memory/checkpointer.ts'
import { memoryStore } from '../../src/storage/memory/store.ts'
import type { Store } from '../../src/storage/store/store.ts'
import { engineOf, start, transcript } from '../kit/engine.ts'
import { rootStates } from '../kit/events.ts'
import { custom, puppet } from '../kit/puppet.ts'
import { killable, type Place, sharedMemory } from '../kit/shared.ts'
import { aborted, eventually, gate } from '../kit/wait.ts'

const LEASE_MS = 100

/** An agent that writes one checkpoint in each run. Its first runs then wait for a cancel, and call `stopped` when it comes. */
function writer({ waits = 0, stopped = (): unknown => undefined } = {}): Agent {
  let runs = 0
  return {
    ...puppet().agent,
    async *stream({ checkpointer, threadId, runId, signal }) {
      const isFirst = runs++ < waits
      const config = { configurable: { thread_id: threadId, checkpoint_ns: '' } }
      const channels = { channel_values: {}, channel_versions: {}, versions_seen: {} }
      const checkpoint = { v: 4, id: runId, ts: '', ...channels }
      await checkpointer.put(config, checkpoint, { source: 'loop', step: 0, parents: {} }, {})
      yield custom('written')
      if (!isFirst) return
      await aborted(signal)
      await stopped()
    },
  }
}

function instance(agent: Agent, place: Place, options: Partial<AgentEngineOptions> = {}) {
  const engine = engineOf({ a: agent }, { ...place, leaseTtlMs: LEASE_MS, onError: () => {}, ...options })
  onTestFinished(() => engine.close())
  return engine
}

/** A store whose answers, and calls that renew the lease, are held back from `freeze` on until `resume`, as in a suspended process. */
function suspendable(inner: Store, stopsAt: (collection: string) => boolean = () => true) {
  const { opened, open: resume } = gate()
  let frozen = false
  let isStopped = false
  const store: Store = {
    ...inner,
    async get(partition, collection, id) {
      const found = await inner.get(partition, collection, id)
      if (frozen && stopsAt(collection)) {
        isStopped = true
        await opened
      }
      return found
    },
    async commit(partition, change) {
      if (frozen && change.ops.some(({ op }) => op === 'renew')) await opened
      return inner.commit(partition, change)
    },
  }
  const freeze = () => {
    frozen = true
  }
  return { store, freeze, resume, isStopped: () => isStopped }
}

const newestOf = async ({ checkpointer }: Place) =>
  (await checkpointer.getTuple({ configurable: { thread_id: 't', checkpoint_ns: '' } }))?.checkpoint.id

test('a process that was suspended in a rollback deletes nothing of what a later run wrote', async () => {
  const shared = sharedMemory()
  const place = shared()
  const { store, freeze, resume } = suspendable(place.store)
  const fenced: string[] = []
  const suspended = instance(
    writer({ waits: 1, stopped: freeze }),
    { ...place, store },
    { observe: ({ type }) => fenced.push(type) },
  )
  const first = await start(suspended, 't')
  await eventually(async () => (await newestOf(place)) === first.runId)
  const other = instance(writer(), shared())
  await other.cancel({ threadId: 't', runId: first.runId, action: 'rollback' })
  await other.wait({ threadId: 't', runId: first.runId })
  expect(await newestOf(place)).toBeUndefined()
  const second = await start(other, 't')
  await other.wait({ threadId: 't', ...second })
  resume()
  await eventually(() => fenced.includes('run.fenced'))
  expect(await newestOf(place)).toBe(second.runId)
})

test('a process that was suspended in a take-over deletes nothing of what a later run wrote', async () => {
  const shared = sharedMemory()
  const place = shared()
  const { place: doomed, kill } = killable(shared())
  const { opened: never } = gate()
  const lost = instance(writer({ waits: 1, stopped: () => never }), doomed, { cancelGraceMs: 1_500 })
  const first = await start(lost, 't')
  await eventually(async () => (await newestOf(place)) === first.runId)
  await lost.cancel({ threadId: 't', runId: first.runId, action: 'rollback' })
  kill()
  const { store, freeze, resume, isStopped } = suspendable(place.store, (collection) => collection === 'runs')
  freeze()
  instance(puppet().agent, { ...place, store })
  await eventually(isStopped)
  const heir = instance(writer(), shared())
  await heir.wait({ threadId: 't', runId: first.runId })
  const second = await start(heir, 't')
  await heir.wait({ threadId: 't', ...second })
  resume()
  const third = await start(heir, 't')
  await heir.wait({ threadId: 't', ...third })
  await new Promise((resolve) => setTimeout(resolve, 2 * LEASE_MS))
  expect(await newestOf(place)).toBe(third.runId)
  expect(rootStates(await transcript(heir, 't', 3))).toEqual([
    'running',
    'interrupted',
    'running',
    'completed',
    'running',
    'completed',
  ])
})

for (const [how, deleteThread] of Object.entries({
  rejects: () => Promise.reject(new Error('postgres://app:secret@db')),
  throws: () => {
    throw new Error('postgres://app:secret@db')
  },
})) {
  test(`a rollback whose saver ${how} ends as failed, and frees the thread`, async () => {
    const told: unknown[] = []
    const engine = instance(
      writer({ waits: 1 }),
      { store: memoryStore(), checkpointer: { ...memoryCheckpointer(), deleteThread } },
      { onError: (error) => told.push(error) },
    )
    const { runId } = await start(engine, 't')
    await engine.cancel({ threadId: 't', runId, action: 'rollback' })
    const { status, error } = await engine.wait({ threadId: 't', runId })
    expect([status, error]).toEqual(['error', expect.stringMatching(/^The run failed\. Error id: /)])
    expect(String(told)).toContain('secret')
    const next = await start(engine, 't')
    expect(await engine.wait({ threadId: 't', ...next })).toMatchObject({ status: 'success' })
    expect(rootStates(await transcript(engine, 't', 2))).toEqual([
      'running',
      'failed',
      'running',
      'completed',
    ])
    // The thread cannot be deleted now, but the caller learns that.
    await expect(engine.deleteThread({ threadId: 't' })).rejects.toThrow('secret')
  })
}

test('a run whose end cannot be written once is ended by whoever waits for it', async () => {
  const inner = memoryStore()
  let failures = 1
  const store: Store = {
    ...inner,
    async commit(partition, change) {
      if (change.ops.some(({ op }) => op === 'release') && failures-- > 0) throw new Error('disk full')
      return inner.commit(partition, change)
    },
  }
  const actor = puppet()
  const engine = instance(actor.agent, { store, checkpointer: memoryCheckpointer() })
  const run = await start(engine, 't')
  actor.finish()
  expect(await engine.wait({ threadId: 't', ...run })).toMatchObject({ status: 'error' })
  expect(rootStates(await transcript(engine, 't'))).toEqual(['running', 'failed'])
})

test('a run that was accepted while the server closed does not start', async () => {
  const inner = memoryCheckpointer()
  const { opened, open } = gate()
  const getTuple: typeof inner.getTuple = async (...args) => opened.then(() => inner.getTuple(...args))
  const actor = puppet()
  const engine = instance(actor.agent, { store: memoryStore(), checkpointer: { ...inner, getTuple } })
  const refused = expect(start(engine, 't')).rejects.toMatchObject({ code: 'closing' })
  await engine.close()
  open()
  await refused
  expect(actor.tasks).toEqual([])
})

test('a run whose claim was being written when the server closed ends before the close, without its agent', async () => {
  const inner = memoryStore()
  const { opened, open } = gate()
  let claiming = false
  const store: Store = {
    ...inner,
    async commit(partition, change) {
      const committed = await inner.commit(partition, change)
      if (change.ops.some(({ op }) => op === 'claim')) {
        claiming = true
        await opened
      }
      return committed
    },
  }
  const actor = puppet()
  const engine = instance(actor.agent, { store, checkpointer: memoryCheckpointer() })
  const starting = start(engine, 't')
  await eventually(() => claiming)
  const closing = engine.close()
  open()
  await Promise.all([closing, starting])
  expect(actor.tasks).toEqual([])
  expect((await engine.findThread({ threadId: 't' }))?.status).toBe('idle')
})

test('the record of an ended run has no input and no config, however it ended', async () => {
  const { store, checkpointer } = sharedMemory()()
  const secret = 'x'.repeat(1_000)
  const agent: Agent = {
    ...puppet().agent,
    async *stream({ start, signal }) {
      yield custom('running')
      const { how } = (start as { value: { how: string } }).value
      if (how === 'fail') throw new Error('failed')
      if (how === 'wait') await aborted(signal)
    },
  }
  const engine = instance(agent, { store, checkpointer })
  const run = async (how: string, rest: object = {}) => {
    const config = { configurable: { secret } }
    return (await start(engine, 't', { how, secret }, { config, ...rest })).runId
  }
  const ended = async (runId: string) => {
    const { status } = await engine.wait({ threadId: 't', runId })
    return [status, JSON.stringify((await store.get('t', 'runs', runId))!.value).includes(secret)]
  }
  expect(await ended(await run('go on'))).toEqual(['success', false])
  expect(await ended(await run('fail'))).toEqual(['error', false])
  const active = await run('wait')
  const waiting = await run('wait')
  const cancelled = await run('wait')
  await engine.cancel({ threadId: 't', runId: cancelled })
  expect(await ended(cancelled)).toEqual(['interrupted', false])
  const last = await run('wait', { multitaskStrategy: 'rollback' })
  expect(await ended(active)).toEqual(['interrupted', false])
  expect(await ended(waiting)).toEqual(['interrupted', false])
  await engine.cancel({ threadId: 't', runId: last })
  expect(await ended(last)).toEqual(['interrupted', false])
})
