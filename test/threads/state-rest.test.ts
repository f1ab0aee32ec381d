import { Client } from '@langchain/langgraph-sdk'
import { describe, expect, test } from 'vitest'
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

  test.each([
    ['a node that is not there', { values: { notes: ['x'] }, as_node: 'nowhere' }, 422],
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
    { limit: 0 },
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
