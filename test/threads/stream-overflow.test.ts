import { describe, expect, test } from 'vitest'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { subscribe } from '../../src/engine/index.ts'
import { memoryCheckpointer, memoryStore } from '../../src/index.ts'
import { approval, threeSteps } from '../fixtures/graphs.ts'
import { ALL_CHANNELS } from '../kit/channels.ts'
import { engineOf, readUntil, start } from '../kit/engine.ts'
import {
  dataOf,
  isTerminal as hasEnded,
  isRoot,
  isTerminal,
  rootStates,
  type WireEvent,
} from '../kit/events.ts'
import { serveAgents } from '../kit/host.ts'
import { custom, puppet } from '../kit/puppet.ts'

const ended = (runs: number) => (events: readonly WireEvent[]) => events.filter(isTerminal).length === runs

describe('a thread whose log has dropped its first events', () => {
  const big = 'x'.repeat(2_000)

  /** A thread whose log keeps only the last events of many. */
  async function overflown() {
    const actor = puppet()
    const host = await serveAgents({
      agents: { a: actor.agent },
      store: memoryStore({ maxThreadBytes: 100_000 }),
    })
    const thread = host.thread()
    await thread.start()
    const live = await thread.stream()
    for (let at = 0; at < 200; at++) {
      actor.emit(custom(`${at} ${big}`))
      await live.until((events) => dataOf(events, 'custom').length === at + 1)
    }
    return { actor, host, thread, live }
  }

  test('a cursor before the first retained event gets a gap frame that says what is missing, and then all there is', async () => {
    const { actor, thread, live } = await overflown()
    const stream = await thread.stream({ since: 3 })
    actor.finish()
    const [gap, ...events] = await stream.until((seen) => seen.length > 1 && isTerminal(seen.at(-1)!))
    const all = await live.until(ended(1))
    const first = events[0]!.seq
    expect(gap).toEqual({ type: 'gap', after: 3, first_retained: first })
    expect(first).toBeGreaterThan(4)
    expect(events).toEqual(all.filter(({ seq }) => seq >= first))
    expect(stream.frames[0]).toMatchObject({ id: undefined, event: 'gap' })
  })

  test('a cursor within the retained events gets no gap', async () => {
    const { thread, live } = await overflown()
    const since = live.events.at(-3)!.seq
    const stream = await thread.stream({ since })
    expect(await stream.until((events) => events.length === 2)).toEqual(live.events.slice(-2))
  })

  test('a subscriber without a cursor gets no gap, and all there is', async () => {
    const { actor, thread, live } = await overflown()
    const stream = await thread.stream()
    actor.finish()
    const events = await stream.until(ended(1))
    expect(events.every(({ type }) => type === 'event')).toBe(true)
    expect(events).toEqual((await live.until(ended(1))).slice(-events.length))
  })

  test('the root state comes as synthesized checkpoints and values events before the rest', async () => {
    const checkpointer = memoryCheckpointer()
    const store = memoryStore({ maxThreadBytes: 30_000 })
    const host = await serveAgents({ agents: { a: langgraph(threeSteps()) }, checkpointer, store })
    const thread = host.thread()
    await thread.start({ notes: ['x'.repeat(9_000)] })
    const state = await thread.idle()
    for (const cursor of [{}, { since: 1 }]) {
      const stream = await thread.stream(cursor)
      const events = (await stream.until(ended(1))).filter(({ type }) => type === 'event')
      const [checkpoints, values, next] = events
      const { checkpoint_id } = state.checkpoint
      expect(checkpoints).toMatchObject({
        event_id: `synth:${checkpoint_id}:checkpoints`,
        method: 'checkpoints',
        params: {
          namespace: [],
          data: {
            id: checkpoint_id,
            parent_id: state.parent_checkpoint.checkpoint_id,
            step: 3,
            source: 'loop',
          },
        },
      })
      expect(values).toMatchObject({
        event_id: `synth:${checkpoint_id}:values`,
        method: 'values',
        params: { namespace: [], data: state.values },
      })
      expect(values!.seq).toBe(next!.seq - 1)
      // A client must not reconnect with these ids.
      expect(stream.frames.filter(({ event }) => event === 'values')[0]!.id).toBeUndefined()
      stream.close()
    }
    const narrow = await thread.stream({ channels: ['lifecycle', 'values'], namespaces: [['nowhere']] })
    const lifecycles = await thread.stream({ channels: ['lifecycle'] })
    await lifecycles.until(ended(1))
    expect(narrow.events).toEqual([])
    expect(lifecycles.events.every(({ method }) => method === 'lifecycle')).toBe(true)
  })

  test('a server that starts anew over an old checkpointer sends the state from there', async () => {
    const checkpointer = memoryCheckpointer()
    const agents = { a: langgraph(approval()) }
    const old = await serveAgents({ agents, checkpointer })
    await old.thread('t').start({ notes: ['kept'] })
    await old.thread('t').idle()
    const host = await serveAgents({ agents, checkpointer })
    const stream = await host.thread('t').stream()
    const events = await stream.until((seen) => seen.length === 2)
    expect(events.map(({ method }) => method)).toEqual(['checkpoints', 'values'])
    expect(events[1]!.params.data).toEqual({ notes: ['kept'] })
    await host.thread('t').start(null)
    const after = await stream.until(ended(1))
    expect(rootStates(after)).toEqual(['running', 'interrupted'])
    const seqs = after.map(({ seq }) => seq)
    expect(seqs).toEqual([...seqs].sort((a, b) => a - b))
    expect(after.find(isRoot)!.seq).toBeGreaterThan(events[1]!.seq)
  })
})

test('a reader that retention overtakes gets a gap, the state and all there is, live lifecycle events as well', async () => {
  const actor = puppet({
    getState: async () => ({
      values: { text: 'now' },
      next: [],
      tasks: [],
      metadata: { step: 7, source: 'loop' },
      createdAt: null,
      checkpoint: { threadId: 't', checkpointId: 'c7', checkpointNs: '', checkpointMap: null },
      parentCheckpoint: null,
    }),
  })
  const engine = engineOf({ a: actor.agent }, { store: memoryStore({ maxThreadBytes: 100_000 }) })
  await start(engine, 't')
  const filter = { channels: ALL_CHANNELS }
  const stalled = subscribe(engine, { threadId: 't', filter })
  const [running] = await readUntil(stalled, (events) => events.length > 0)
  const reader = subscribe(engine, { threadId: 't', filter })
  actor.finish()
  await readUntil(reader, (events) => events.some(hasEnded))
  await start(engine, 't')
  const { seq } = (await readUntil(reader, (events) => events.length > 0))[0]!
  for (let at = 0; at < 150; at++) {
    actor.emit(custom(`${at} ${'x'.repeat(2_000)}`))
    await readUntil(reader, (events) => events.length > 0)
  }
  actor.finish()
  const [gap, checkpoints, values, ...events] = await readUntil(stalled, (seen) => seen.some(hasEnded))
  expect(gap).toMatchObject({ type: 'gap', after: running!.seq, first_retained: events[0]!.seq })
  expect(events[0]!.seq).toBeGreaterThan(seq)
  expect(checkpoints).toMatchObject({ method: 'checkpoints', params: { data: { id: 'c7', step: 7 } } })
  expect(values).toMatchObject({
    method: 'values',
    seq: events[0]!.seq - 1,
    params: { data: { text: 'now' } },
  })
  expect(events.map((event) => event.seq)).toEqual(events.map((_, at) => events[0]!.seq + at))
  expect(events.at(-1)!.params.data).toMatchObject({ event: 'completed' })
  await engine.close()
})
