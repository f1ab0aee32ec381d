import { expect, test } from 'vitest'
import type { Agent } from '../../src/agents/agent.ts'
import { subscribe } from '../../src/engine/index.ts'
import type { AgentEvent } from '../../src/messages/thread-events/index.ts'
import { memoryStore } from '../../src/storage/memory/store.ts'
import type { Store } from '../../src/storage/store/store.ts'
import { ALL_CHANNELS } from '../kit/channels.ts'
import { engineOf, start, transcript } from '../kit/engine.ts'
import { custom } from '../kit/puppet.ts'
import { eventually, gate, turns } from '../kit/wait.ts'

/** An agent that gives its events as fast as they are taken, and counts them. */
function eager(count: number, event: (i: number) => AgentEvent) {
  const agent: Agent & { given: number } = {
    given: 0,
    resumable: false,
    async *stream() {
      for (let i = 0; i < count; i++) {
        agent.given++
        yield event(i)
      }
    },
    getState: async () => undefined,
    async *getHistory() {},
    updateState: async () => ({ checkpointId: 'none' }),
  }
  return agent
}

/** A store that writes no event of an agent before it is opened, and notes how many bytes of events each commit has. */
function slowStore(capabilities: Partial<Store['capabilities']> = {}, isOpen = false, onWrite = () => {}) {
  const inner = memoryStore()
  const { open, opened } = gate()
  if (isOpen) open()
  const sizes: number[] = []
  const store: Store = {
    ...inner,
    capabilities: { ...inner.capabilities, ...capabilities },
    async commit(partition, change) {
      const events = change.ops.flatMap((op) => (op.op === 'append' ? op.events : []))
      if (change.ops.length === 1 && events.length > 0) {
        await opened
        onWrite()
        sizes.push(events.reduce((sum, { data }) => sum + data.length, 0))
      }
      return inner.commit(partition, change)
    },
  }
  return { store, open, sizes }
}

const SMALL = 5_000
const BIG = 100
const KB = 'x'.repeat(1_000)

const bursts = {
  'many small events': { agent: () => eager(SMALL, custom), total: SMALL, ahead: 1_002 },
  'few big events': { agent: () => eager(BIG, () => custom(KB.repeat(100))), total: BIG, ahead: 13 },
}

test.each(Object.entries(bursts))(
  'an agent that gives %s waits for a store that is behind',
  async (_, burst) => {
    const agent = burst.agent()
    const { store, open, sizes } = slowStore()
    const engine = engineOf({ a: agent }, { store })
    // Without a reader the first events are gathered, too.
    const reader = subscribe(engine, { threadId: 't', filter: { channels: ALL_CHANNELS } })
    await start(engine, 't')
    for (let before = -1; before !== agent.given; await turns(5)) before = agent.given
    expect(agent.given).toBeLessThanOrEqual(burst.ahead)
    expect(agent.given).toBeGreaterThan(burst.ahead / 2)
    open()
    reader.cancel()
    const log = await transcript(engine, 't')
    expect(log.filter(({ method }) => method === 'custom')).toHaveLength(burst.total)
    expect(Math.max(...sizes)).toBeLessThan(1.2 * 1024 * 1024)
  },
)

test('the wait ends with the run when the store fails', async () => {
  const agent = eager(SMALL, custom)
  const { store } = slowStore({}, true)
  const engine = engineOf(
    { a: agent },
    {
      store: {
        ...store,
        async commit(partition, change) {
          const isEvents = change.ops.length === 1 && change.ops[0]!.op === 'append'
          await turns(3)
          if (isEvents) throw new Error('The disk is full.')
          return store.commit(partition, change)
        },
      },
      onError: () => {},
    },
  )
  const { runId } = await start(engine, 't')
  expect(await engine.wait({ threadId: 't', runId })).toMatchObject({ status: 'error' })
  expect(agent.given).toBeLessThan(SMALL)
})

test('each write of a store that answers at once has a turn of the event loop to itself', async () => {
  const event: AgentEvent = {
    method: 'checkpoints',
    namespace: [],
    data: { id: 'c', step: 0, source: 'loop' },
  }
  const writes: number[] = []
  let ended = false
  let turn = 0
  const { store } = slowStore({ coalesceMs: 10 }, true, () => writes.push(turn))
  const engine = engineOf({ a: eager(SMALL, () => event) }, { store })
  const turning = (async () => {
    for (; !ended; turn++) await turns()
  })()
  const { runId } = await start(engine, 't')
  await engine.wait({ threadId: 't', runId })
  ended = true
  await turning
  expect(writes.length).toBeGreaterThan(2)
  expect(new Set(writes).size).toBe(writes.length)
})

test('the end of a run and a full queue do not wait until the events of a pause are gathered', async () => {
  const { store } = slowStore({ coalesceMs: 60_000 }, true)
  const engine = engineOf({ a: eager(SMALL, custom) }, { store })
  const { runId } = await start(engine, 't')
  let status = ''
  void engine.wait({ threadId: 't', runId }).then((result) => {
    status = result.status
  })
  await eventually(() => status === 'success', { timeoutMs: 200_000 })
})
