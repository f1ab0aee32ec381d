import { START, StateGraph, StateSchema } from '@langchain/langgraph'
import { Client } from '@langchain/langgraph-sdk'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Agent } from '../../src/agents/agent.ts'
import { defineAgent } from '../../src/agents/function/define-agent.ts'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { approval, calculator, chat, nestedApproval, threeSteps } from '../fixtures/graphs.ts'
import { dataOf, type Json, rootStates } from '../kit/events.ts'
import { serveAgents } from '../kit/host.ts'
import { puppet } from '../kit/puppet.ts'

/** docs/protocol.md §7. */

async function serve(agents: Readonly<Record<string, Parameters<typeof langgraph>[0]>>) {
  const host = await serveAgents({
    agents: Object.fromEntries(Object.entries(agents).map(([id, graph]) => [id, langgraph(graph)])),
  })
  const client = new Client({ apiUrl: host.origin, apiKey: null, callerOptions: { maxRetries: 0 } })
  return { host, client, thread: host.thread() }
}

const asking = defineAgent({
  async run({ interrupt, message }) {
    await message(`You said ${String(await interrupt('go?'))}.`)
  },
})

const idOf = (state: Json): string => state.checkpoint.checkpoint_id

describe('the state of a thread', () => {
  test('has the shape of the SDK', async () => {
    const { client, thread } = await serve({ a: approval() })
    await thread.start({ notes: ['in'] })
    await thread.idle()
    const state = await client.threads.getState(thread.id)
    const checkpoint = {
      thread_id: thread.id,
      checkpoint_id: expect.any(String),
      checkpoint_ns: '',
      checkpoint_map: null,
    }
    expect(state).toEqual({
      values: { notes: ['in'] },
      next: ['ask'],
      tasks: [
        {
          id: expect.any(String),
          name: 'ask',
          error: null,
          interrupts: [{ id: expect.any(String), value: { question: 'go?' } }],
          path: ['__pregel_pull', 'ask'],
          checkpoint: null,
          state: null,
          result: null,
        },
      ],
      metadata: expect.objectContaining({ source: 'loop', step: 0, thread_id: thread.id }),
      created_at: expect.stringMatching(/^\d{4}-.*Z$/),
      checkpoint,
      parent_checkpoint: checkpoint,
    })
  })

  test('is readable at a checkpoint, by its id and by its address', async () => {
    const { client, thread } = await serve({ a: threeSteps() })
    await thread.start()
    await thread.idle()
    for (const state of await client.threads.getHistory(thread.id)) {
      expect(await client.threads.getState(thread.id, idOf(state))).toEqual(state)
      expect(await client.threads.getState(thread.id, state.checkpoint)).toEqual(state)
    }
    await expect(client.threads.getState(thread.id, 'none')).rejects.toMatchObject({ status: 404 })
    await expect(
      client.threads.getState(thread.id, { checkpoint_ns: '', checkpoint_id: 'none' } as never),
    ).rejects.toMatchObject({ status: 404 })
    expect((await thread.post('/state/checkpoint', { checkpoint: { checkpoint_id: 7 } })).status).toBe(400)
  })

  test('lists subgraphs by their address or with their state', async () => {
    const { client, thread } = await serve({ a: nestedApproval() })
    await thread.start()
    await thread.idle()
    const plain = (await client.threads.getState(thread.id)).tasks[0] as Json
    expect(plain.checkpoint.checkpoint_ns).toMatch(/^sub:/)
    expect(plain.state).toBeNull()
    const full = (await client.threads.getState(thread.id, undefined, { subgraphs: true })).tasks[0] as Json
    expect(full.state).toMatchObject({ values: { notes: ['inner'] }, next: ['ask'] })
    const { checkpoint_ns } = plain.checkpoint
    const { body } = await thread.post('/state/checkpoint', { checkpoint: { checkpoint_ns } })
    expect(body).toMatchObject({ values: { notes: ['inner'] }, checkpoint: { checkpoint_ns } })
  })

  test('has the address of a paused subgraph without a checkpoint id, and takes it back as it is', async () => {
    const { client, thread } = await serve({ a: nestedApproval() })
    await thread.start()
    const [task] = (await thread.idle()).tasks
    const { checkpoint } = task
    expect(checkpoint).toEqual({ thread_id: thread.id, checkpoint_ns: `sub:${task.id}` })
    expect(await client.threads.getState(thread.id, checkpoint)).toMatchObject({
      values: { notes: ['inner'] },
      checkpoint: { checkpoint_id: expect.stringMatching(/./) },
    })
    const [newest] = await client.threads.getHistory(thread.id, { checkpoint })
    expect(newest!.values).toEqual({ notes: ['inner'] })
    const { body: written } = await thread.post('/state', { checkpoint, values: { notes: ['edited'] } })
    expect(written).toMatchObject({ values: { notes: ['inner', 'edited'] }, checkpoint })
  })
})

describe('writing state', () => {
  test('creates a new thread, which waits at the model and runs as any other', async () => {
    const { client, host, thread } = await serve({ a: calculator() })
    const written: Json = await client.threads.updateState(thread.id, {
      values: { messages: [] },
      asNode: '__start__',
    })
    expect(written).toMatchObject({
      values: { messages: [] },
      next: ['model_request'],
      checkpoint: { thread_id: thread.id },
      configurable: { thread_id: thread.id, checkpoint_id: idOf(written) },
    })
    expect(await client.threads.getState(thread.id)).toMatchObject({
      values: { messages: [] },
      next: ['model_request'],
    })
    expect((await thread.get('')).body).toMatchObject({ status: 'idle', thread_id: thread.id })
    await thread.start({ messages: [{ type: 'human', content: 'Q', id: 'h1' }] })
    const { values } = await thread.idle()
    expect(values.messages.map(({ type }: Json) => type)).toEqual(['human', 'ai', 'tool', 'ai'])
    const bare = host.thread()
    await client.threads.updateState(bare.id, { values: { messages: [] } })
    expect((await client.threads.getState(bare.id)).next).toEqual(['model_request'])
  })

  test('leaves a new thread free for any assistant at its first run', async () => {
    const { client, thread } = await serve({ a: calculator(), b: chat() })
    await client.threads.updateState(thread.id, { values: { messages: [] }, asNode: '__start__' })
    await thread.start({ messages: [{ type: 'human', content: 'Q', id: 'h1' }] }, { assistant_id: 'b' })
    expect((await thread.idle()).values.messages).toHaveLength(2)
  })

  test('writes messages of an agent as its model, and others as the node that wrote last', async () => {
    const { client, thread } = await serve({ a: calculator() })
    await thread.start({ messages: [{ type: 'human', content: 'Q', id: 'h1' }] })
    const { values } = await thread.idle()
    const written: Json = await client.threads.updateState(thread.id, {
      values: { messages: [{ type: 'ai', content: 'Corrected.', id: 'ai-9' }] },
    })
    expect(written.values.messages).toHaveLength(values.messages.length + 1)
    expect(written).toMatchObject({ next: [], metadata: { source: 'update' } })
  })

  test('onto a checkpoint makes a fork from which the next run continues', async () => {
    const { client, thread } = await serve({ a: threeSteps() })
    await thread.start()
    await thread.idle()
    const history = await client.threads.getHistory(thread.id)
    const one = history.find(({ metadata }) => metadata?.step === 1)!
    for (const at of [{ checkpointId: idOf(one) }, { checkpoint: one.checkpoint }]) {
      const written: Json = await client.threads.updateState(thread.id, {
        values: { notes: ['edited'] },
        asNode: 'one',
        ...at,
      } as never)
      expect(written).toMatchObject({
        values: { notes: ['one', 'edited'] },
        next: ['two'],
        parent_checkpoint: { checkpoint_id: idOf(one) },
      })
    }
    await thread.start(null)
    expect((await thread.idle()).values.notes).toEqual(['one', 'edited', 'two', 'three'])
  })

  test('of a paused subgraph keeps the question open, and the run goes on from what was written', async () => {
    const { client, thread } = await serve({ a: nestedApproval() })
    await thread.start()
    const { tasks } = await thread.idle()
    await client.threads.updateState(thread.id, {
      checkpoint: tasks[0].checkpoint,
      values: { notes: ['edited'] },
    })
    expect((await thread.get('')).body).toMatchObject({
      status: 'interrupted',
      interrupts: { [tasks[0].id]: tasks[0].interrupts },
    })
    // The subgraph has a new checkpoint, at which LangGraph gives the question another id.
    await thread.ok('input.respond', { interrupt_id: tasks[0].interrupts[0].id, response: 'yes' })
    expect(await thread.idle()).toMatchObject({
      values: { notes: ['inner', 'edited', 'answer: yes', 'after'] },
      next: [],
    })
  })

  test('removes the questions that it steps over', async () => {
    const { client, thread } = await serve({ a: approval() })
    await thread.start()
    const [asked] = dataOf(await thread.transcript(), 'input.requested')
    await client.threads.updateState(thread.id, { values: { notes: ['by hand'] }, asNode: 'ask' })
    expect((await thread.get('')).body).toMatchObject({ status: 'idle', interrupts: {} })
    expect(await thread.refused('input.respond', { interrupt_id: asked.interrupt_id, response: 1 })).toBe(
      'no_such_interrupt',
    )
    const replay = await (await thread.stream()).until((events) => rootStates(events).length === 2)
    expect(dataOf(replay, 'input.requested')).toEqual([])
    await thread.start(null)
    expect((await thread.idle()).values.notes).toEqual(['by hand', 'after'])
  })

  test('is refused with 409 during a run, and changes nothing', async () => {
    const actor = puppet()
    const host = await serveAgents({ agents: { a: actor.agent } })
    const thread = host.thread()
    await thread.start()
    const before = (await thread.get('')).body
    const { status, body } = await thread.post('/state', { values: {} })
    expect({ status, body }).toEqual({
      status: 409,
      body: { error: 'thread_busy', message: expect.any(String) },
    })
    expect((await thread.get('')).body).toEqual(before)
  })

  test('is refused with what a StateSchema says about the values', async () => {
    const graph = new StateGraph(new StateSchema({ count: z.number() }))
      .addNode('keep', () => ({}))
      .addEdge(START, 'keep')
      .compile()
    const { thread } = await serve({ a: graph })
    const { status, body } = await thread.post('/state', { values: { count: 'many' } })
    expect({ status, message: body.message }).toEqual({
      status: 422,
      message: expect.stringMatching(/^Validation failed for field "count": .*expected number/),
    })
  })

  test.each([
    ['a node that is not there', { values: { notes: ['x'] }, as_node: 'nowhere' }, 422],
    ['what every object has for a node', { values: { notes: ['x'] }, as_node: '__proto__' }, 422],
    ['values of a wrong type', { values: { messages: 42 } }, 422],
    ['a checkpoint that is not there', { values: { notes: ['x'] }, checkpoint_id: '1ef-none' }, 404],
    ['an address of a wrong type', { values: {}, checkpoint_id: 7 }, 400],
    ['as_node of a wrong type', { values: {}, as_node: 7 }, 400],
    ['no object', 'text', 400],
  ])('what cannot be written leaves no thread behind: %s', async (_, body, expected) => {
    const { thread } = await serve({ a: chat() })
    const { status, body: answer } = await thread.post('/state', body)
    expect({ status, answer }).toMatchObject({
      status: expected,
      answer: { error: expect.any(String), message: expect.any(String) },
    })
    expect((await thread.get('')).status).toBe(404)
    await thread.start({ messages: [{ type: 'human', content: 'Q' }] })
    expect(await thread.idle()).toMatchObject({ next: [] })
  })
})

describe('the history of a thread', () => {
  async function finished() {
    const all = await serve({ a: threeSteps() })
    await all.thread.start()
    await all.thread.idle()
    const { body } = await all.thread.post('/history', {})
    return { ...all, history: body as Json[] }
  }

  test('lists the newest first, and pages with before in each of its forms', async () => {
    const { client, thread, history } = await finished()
    expect(history.map(({ metadata }) => metadata.step)).toEqual([3, 2, 1, 0, -1])
    const id = idOf(history[1])
    const rest = history.slice(2, 4)
    for (const before of [
      id,
      { configurable: { checkpoint_id: id } },
      { configurable: { thread_id: thread.id, checkpoint_ns: '', checkpoint_id: id } },
      { checkpoint_id: id },
      { thread_id: thread.id, checkpoint_ns: '', checkpoint_id: id, checkpoint_map: null },
    ])
      expect((await thread.post('/history', { limit: 2, before })).body).toEqual(rest)
    expect(
      await client.threads.getHistory(thread.id, {
        limit: 2,
        before: { configurable: { checkpoint_id: id } },
      }),
    ).toEqual(rest)
    expect((await thread.get(`/history?limit=2&before=${id}`)).body).toEqual(rest)
    expect((await thread.get('/history')).body).toEqual(history)
    expect((await thread.post('/history', { before: idOf(history[4]) })).body).toEqual([])
  })

  test('can be filtered by metadata', async () => {
    const { client, thread, history } = await finished()
    expect(await client.threads.getHistory(thread.id, { metadata: { source: 'input' } })).toEqual(
      history.slice(4),
    )
    expect(await client.threads.getHistory(thread.id, { metadata: { step: 1 } })).toEqual([history[2]])
    expect(await client.threads.getHistory(thread.id, { metadata: { step: 99 } })).toEqual([])
  })

  test('can be filtered by the metadata and the ids of runs', async () => {
    const host = await serveAgents({ agents: { graph: langgraph(nestedApproval()), fn: asking } })
    const client = new Client({ apiUrl: host.origin, apiKey: null, callerOptions: { maxRetries: 0 } })
    for (const assistant_id of ['graph', 'fn']) {
      const thread = host.thread(assistant_id)
      const steps = async (metadata: Json) =>
        (await client.threads.getHistory(thread.id, { metadata, limit: 100 })).map(
          (state) => state.checkpoint.checkpoint_id,
        )
      const metadata = { turn: 1, step: 'mine', source: 'mine', run_id: 'mine', thread_id: 'mine' }
      const first = await thread.start({}, { assistant_id, metadata, config: { metadata: { user: 'u' } } })
      const before = await thread.idle()
      const { checkpoint } = before
      expect(before.metadata).toMatchObject({
        turn: 1,
        user: 'u',
        run_id: first,
        thread_id: thread.id,
        graph_id: assistant_id,
        assistant_id,
        step: expect.any(Number),
      })
      const ofFirst = await steps({ turn: 1 })
      expect(ofFirst).toContain(checkpoint.checkpoint_id)
      expect(await steps({ run_id: first })).toEqual(ofFirst)
      const [{ id }] = before.tasks.flatMap((task: Json) => task.interrupts)
      const { run_id } = await thread.ok('input.respond', { interrupt_id: id, response: 'yes' })
      await thread.idle()
      const ofSecond = await steps({ run_id })
      expect(ofSecond.length).toBeGreaterThan(0)
      expect(await steps({ run_id, turn: 1 })).toEqual([])
      expect(await steps({ graph_id: assistant_id, assistant_id })).toEqual([...ofSecond, ...ofFirst])
      expect(await steps({ step: 'mine' })).toEqual([])
      expect(await steps({ run_id: 'mine' })).toEqual([])
    }
  })

  test('has the ids of the run in the checkpoints of subgraphs', async () => {
    const { client, thread } = await serve({ a: nestedApproval() })
    const run_id = await thread.start({}, { metadata: { turn: 1 } })
    const [{ checkpoint }] = (await thread.idle()).tasks
    const history = await client.threads.getHistory(thread.id, { checkpoint, metadata: { run_id, turn: 1 } })
    expect(history).toHaveLength(3)
  })

  test('can be limited to a namespace', async () => {
    const { client, thread } = await serve({ a: nestedApproval() })
    await thread.start()
    const { tasks } = await thread.idle()
    const { checkpoint_ns } = tasks[0].checkpoint
    const [newest, ...older] = await client.threads.getHistory(thread.id, {
      checkpoint: { checkpoint_ns } as never,
    })
    expect(newest).toMatchObject({ values: { notes: ['inner'] }, checkpoint: { checkpoint_ns } })
    expect(older.length).toBeGreaterThan(0)
    expect(
      await client.threads.getHistory(thread.id, { checkpoint: { checkpoint_ns: 'nowhere:1' } as never }),
    ).toEqual([])
  })

  test.each([
    { limit: -1 },
    { limit: 1_001 },
    { limit: '5' },
    { before: 7 },
    { before: {} },
    { metadata: 'x' },
    { checkpoint: 'x' },
  ])('what is no query is 400: %j', async (query) => {
    const { thread } = await finished()
    expect((await thread.post('/history', query)).body.error).toBe('invalid_argument')
  })

  test('is 404 for a missing thread, and empty for one without a checkpoint', async () => {
    const { client, thread } = await serve({ a: chat() })
    expect((await thread.post('/history', {})).status).toBe(404)
    expect((await thread.get('/history')).status).toBe(404)
    await client.threads.create({ threadId: thread.id })
    expect((await thread.post('/history', {})).body).toEqual([])
  })
})

describe('a long history', () => {
  const SNAPSHOT = {
    next: [],
    tasks: [],
    metadata: {},
    createdAt: '',
    checkpoint: { threadId: 't', checkpointId: 'c', checkpointNs: '', checkpointMap: null },
    parentCheckpoint: null,
  }

  /** A thread whose history has so many states of 1 MB; the state at `failing` cannot be read. */
  async function long(count: number, failing?: number) {
    const counts = { read: 0 }
    const agent: Agent = {
      ...puppet().agent,
      async *getHistory() {
        for (let i = 0; i < count; i++) {
          if (i === failing) throw new Error('postgres://app:secret@db')
          counts.read++
          yield { ...SNAPSHOT, values: { i, text: 'x'.repeat(1_000_000) } }
        }
      },
    }
    const host = await serveAgents({ agents: { a: agent } })
    const thread = host.thread()
    await host.server.fetch(
      new Request(`${host.origin}/threads`, {
        method: 'POST',
        body: JSON.stringify({ thread_id: thread.id }),
      }),
    )
    return { host, thread, counts }
  }

  test('is read while it is sent', async () => {
    const { host, thread, counts } = await long(50)
    const get = new Request(`${host.origin}/threads/${thread.id}/history?limit=50`)
    const response = await host.server.fetch(get)
    const reader = response.body!.getReader()
    await reader.read()
    await reader.read()
    expect(counts.read).toBeLessThan(5)
    await reader.cancel()
    const whole = await fetch(get.url)
    expect(((await whole.json()) as Json[]).map(({ values }) => values.i)).toEqual([...Array(50).keys()])
  })

  test('is no whole answer where it fails midway', async () => {
    const { host, thread } = await long(10, 5)
    const response = await fetch(`${host.origin}/threads/${thread.id}/history`)
    await expect(response.text()).rejects.toThrow()
    expect(host.errors.splice(0)).toMatchObject([{ message: 'postgres://app:secret@db' }])
  })

  test('is an error where it fails at once', async () => {
    const { host, thread } = await long(10, 0)
    expect((await thread.get('/history')).status).toBe(500)
    expect(host.errors.splice(0)).toHaveLength(1)
  })
})

test.each([{}, [{}], 5, null])(
  'the state of a thread whose input no reducer takes can be read: messages %j',
  async (messages) => {
    const host = await serveAgents({ agents: { chat: langgraph(chat()) } })
    const thread = host.thread()
    await thread.ok('run.start', { assistant_id: 'chat', input: { messages } })
    await thread.transcript()
    const { status, body } = await thread.get('/state')
    expect([status, body.values]).toEqual([200, {}])
    expect((await thread.get('')).body.status).toBe('error')
  },
)
