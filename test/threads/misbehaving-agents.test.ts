import { expect, test } from 'vitest'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import type { Agent, AgentEvent, AgentTask, LifecycleData } from '../../src/index.ts'
import { inOrder, toolAgent } from '../fixtures/graphs.ts'
import { dataOf, isTerminal, rootStates } from '../kit/events.ts'
import { serveAgents } from '../kit/host.ts'
import { custom } from '../kit/puppet.ts'
import { aborted, gate } from '../kit/wait.ts'

type Stream = (task: AgentTask) => AsyncIterable<AgentEvent>

const agentOf = (stream: Stream): Agent => ({
  resumable: false,
  stream,
  getState: async () => undefined,
  async *getHistory() {},
  updateState: async () => ({ checkpointId: 'none' }),
})

/** An agent that misbehaves in its first run of a thread and behaves in the next. */
const firstTime = (bad: Stream): Agent => {
  let runs = 0
  return agentOf((task) => (runs++ === 0 ? bad(task) : one(custom('well'))))
}

async function* one(event: AgentEvent) {
  yield event
}

const broken = (fields: object) => ({ [Symbol.asyncIterator]: () => fields }) as AsyncIterable<AgentEvent>

const failing: Readonly<
  Record<string, { readonly stream: Stream; readonly error: unknown; readonly sent: unknown[] }>
> = {
  'throws before it gives its events': {
    stream: () => {
      throw new Error('no stream')
    },
    error: 'no stream',
    sent: [],
  },
  'gives no events at all': {
    stream: () => undefined as unknown as AsyncIterable<AgentEvent>,
    error: expect.any(String),
    sent: [],
  },
  'throws at once': {
    // biome-ignore lint/correctness/useYield: its fault is that it never yields
    async *stream() {
      throw new Error('kaput')
    },
    error: 'kaput',
    sent: [],
  },
  'throws midway': {
    async *stream() {
      yield custom(1)
      yield custom(2)
      throw new Error('kaput')
    },
    error: 'kaput',
    sent: [1, 2],
  },
  'throws a string': {
    async *stream() {
      yield custom(1)
      throw 'just text'
    },
    error: 'just text',
    sent: [1],
  },
  'throws undefined': {
    async *stream() {
      yield custom(1)
      throw undefined
    },
    error: 'The agent failed without a message.',
    sent: [1],
  },
  'throws a frozen object': {
    async *stream() {
      yield custom(1)
      throw Object.freeze({ secret: 'x' })
    },
    error: 'The agent failed without a message.',
    sent: [1],
  },
  'throws synchronously from next': {
    stream: () =>
      broken({
        next() {
          throw new Error('no next')
        },
      }),
    error: 'no next',
    sent: [],
  },
  'throws synchronously from return': {
    stream: () =>
      broken({
        next: () => Promise.reject(new Error('kaput')),
        return() {
          throw new Error('no return')
        },
      }),
    error: 'kaput',
    sent: [],
  },
  'yields a BigInt': {
    async *stream() {
      yield custom(1)
      yield custom(2n)
      yield custom(3)
    },
    error: expect.stringMatching(/BigInt/),
    sent: [1],
  },
  'yields a cycle': {
    async *stream() {
      const round: { self?: object } = {}
      round.self = round
      yield custom(1)
      yield custom(round)
    },
    error: expect.stringMatching(/circular/),
    sent: [1],
  },
  'yields no event': {
    async *stream() {
      yield custom(1)
      yield undefined as unknown as AgentEvent
    },
    error: expect.any(String),
    sent: [1],
  },
}

for (const [name, { stream, error, sent }] of Object.entries(failing)) {
  test(`an agent that ${name} ends in one failed event that says why, and the thread stays usable`, async () => {
    const host = await serveAgents({ agents: { a: firstTime(stream) } })
    const thread = host.thread()
    await thread.start()
    const events = await thread.transcript()
    expect(rootStates(events)).toEqual(['running', 'failed'])
    expect(events.at(-1)!.params.data.error).toEqual(error)
    expect(dataOf(events, 'custom').map(({ payload }) => payload)).toEqual(sent)
    expect((await thread.get('')).body).toMatchObject({ status: 'error', error })
    await thread.start()
    const after = await thread.transcript(2)
    expect(rootStates(after)).toEqual(['running', 'failed', 'running', 'completed'])
    expect((await thread.get('')).body).toMatchObject({ status: 'idle', error: null })
  })
}

test('root lifecycle events that an agent yields itself are left out', async () => {
  const lie = (event: LifecycleData['event']): AgentEvent => ({
    method: 'lifecycle',
    namespace: [],
    data: { event },
  })
  const host = await serveAgents({
    agents: {
      a: agentOf(async function* () {
        yield lie('completed')
        yield custom(1)
        yield lie('failed')
      }),
    },
  })
  const thread = host.thread()
  await thread.start()
  const events = await thread.transcript()
  expect(rootStates(events)).toEqual(['running', 'completed'])
  expect(dataOf(events, 'custom')).toHaveLength(1)
})

const never = new Promise<never>(() => {})

test('cancel ends an agent that never ends', async () => {
  const { opened: reached, open: reach } = gate()
  const host = await serveAgents({
    agents: {
      a: firstTime(async function* ({ signal }) {
        yield custom(1)
        reach()
        await new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))))
      }),
    },
  })
  const thread = host.thread()
  const run = await thread.start()
  await reached
  expect((await thread.post(`/runs/${run}/cancel?wait=1`)).status).toBe(204)
  expect(rootStates(await thread.transcript())).toEqual(['running', 'interrupted'])
  await thread.start()
  expect(rootStates(await thread.transcript(2))).toEqual(['running', 'interrupted', 'running', 'completed'])
})

test('cancel ends the run of an agent that ignores its signal after the grace time, and what the agent does later is not recorded', async () => {
  const { opened: reached, open: reach } = gate()
  const { opened: released, open: release } = gate()
  const { opened: left, open: leave } = gate()
  const later: unknown[] = []
  const host = await serveAgents({
    agents: {
      a: firstTime(async function* ({ checkpointer, threadId }) {
        try {
          yield custom('before')
          reach()
          await released
          const config = { configurable: { thread_id: threadId, checkpoint_ns: '' } }
          const checkpoint = {
            v: 4,
            id: 'late',
            ts: '',
            channel_values: {},
            channel_versions: {},
            versions_seen: {},
          }
          await checkpointer
            .put(config, checkpoint, { source: 'loop', step: 0, parents: {} }, {})
            .catch((error) => {
              later.push(error.name)
            })
          yield custom('after')
          later.push('it was asked for more')
        } finally {
          leave()
        }
      }),
    },
  })
  const thread = host.thread()
  const run = await thread.start()
  await reached
  const cancelled = thread.post(`/runs/${run}/cancel?wait=1`)
  await thread.ok('run.start', { input: {} })
  expect((await cancelled).status).toBe(204)
  const events = await thread.transcript(2)
  release()
  await left
  expect(rootStates(events)).toEqual(['running', 'interrupted', 'running', 'completed'])
  expect(later).toEqual(['FencedError'])
  expect(await thread.transcript(2)).toEqual(events)
  expect(dataOf(events, 'custom').map(({ payload }) => payload)).toEqual(['before', 'well'])
})

test('the server can close beside an agent that ignores its signal and its own end', async () => {
  const { opened: reached, open: reach } = gate()
  const host = await serveAgents({
    agents: {
      a: agentOf(async function* () {
        yield custom(1)
        reach()
        await never
      }),
    },
  })
  const thread = host.thread()
  await thread.start()
  await reached
  const stream = await thread.stream()
  await host.server.close()
  expect(await stream.ended).toBe('broken')
  expect(rootStates(stream.events)).toEqual(['running', 'interrupted'])
})

test('nothing that an agent yields after the abort is recorded', async () => {
  const { opened: reached, open: reach } = gate()
  let ended = false
  const host = await serveAgents({
    agents: {
      a: firstTime(async function* ({ signal }) {
        try {
          yield custom('before')
          reach()
          await aborted(signal)
          yield custom('after')
          yield custom('long after')
        } finally {
          ended = true
        }
      }),
    },
  })
  const thread = host.thread()
  const run = await thread.start()
  await reached
  await thread.post(`/runs/${run}/cancel?wait=1`)
  const events = await thread.transcript()
  expect(rootStates(events)).toEqual(['running', 'interrupted'])
  expect(dataOf(events, 'custom').map(({ payload }) => payload)).toEqual(['before'])
  expect(ended).toBe(true)
})

test('an agent that fails because it was cancelled has not failed', async () => {
  const { opened: reached, open: reach } = gate()
  const host = await serveAgents({
    agents: {
      a: agentOf(async function* ({ signal }) {
        yield custom(1)
        reach()
        await aborted(signal)
        throw new Error('I was disturbed')
      }),
    },
  })
  const thread = host.thread()
  const run = await thread.start()
  await reached
  await thread.post(`/runs/${run}/cancel?wait=1`)
  const events = await thread.transcript()
  expect(events.at(-1)!.params.data).toEqual({ event: 'interrupted', graph_name: 'a', run_id: run })
})

test('every event of an agent that is faster than any reader arrives in order', async () => {
  const count = 5_000
  const host = await serveAgents({
    agents: {
      a: agentOf(async function* () {
        for (let at = 0; at < count; at++) yield custom(at)
      }),
    },
  })
  const thread = host.thread()
  await thread.start()
  const stream = await thread.stream()
  const events = await stream.until((seen) => seen.some(isTerminal))
  expect(dataOf(events, 'custom').map(({ payload }) => payload)).toEqual(
    Array.from({ length: count }, (_, at) => at),
  )
})

test('when a tool of createAgent throws, the agent continues or fails, the process lives, and the thread stays usable', async () => {
  const agent = toolAgent(
    inOrder({ toolCalls: [{ id: 'call_broken', name: 'broken', args: {} }] }, { text: 'It is broken.' }),
  )
  const host = await serveAgents({ agents: { a: langgraph(agent) } })
  const thread = host.thread()
  for (const turn of [1, 2]) {
    await thread.start({ messages: [{ type: 'human', content: 'go', id: `h${turn}` }] })
    const events = await thread.transcript(turn)
    expect(rootStates(events)).toHaveLength(2 * turn)
    const [failed] = dataOf(events, 'tools').filter(({ event }) => event === 'tool-error')
    expect(failed).toMatchObject({
      tool_call_id: 'call_broken',
      message: expect.stringMatching(/the tool is broken/),
    })
  }
})
