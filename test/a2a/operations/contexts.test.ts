import { AIMessage } from '@langchain/core/messages'
import { type LangGraphRunnableConfig, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { describe, expect, test } from 'vitest'
import { langgraph } from '../../../src/agents/langgraph/langgraph.ts'
import { type Agent, defineAgent, memoryStore, type Store } from '../../../src/index.ts'
import type { Json } from '../../kit/events.ts'
import { answerOf, byToken, clientOf, serve, stateOf, threads, turnsOf, VERSIONS } from '../served.ts'
import { echo, graph } from '../served-agents.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const A_UUID = '0b0c9ad4-5a4e-4c8e-9a3b-0f6f3f0d9c11'

describe.each(VERSIONS)('version %s', (version) => {
  test('without a context each message has one of its own, which is a thread', async () => {
    const { server } = serve({ graph: graph() })
    const client = clientOf(server, { assistant: 'graph', version })
    const { result: one } = await client.send({ text: 'x', messageId: 'm' })
    const { result: two } = await client.send({ text: 'x', messageId: 'n' })
    expect(one.contextId).toMatch(UUID)
    expect(two.contextId).not.toBe(one.contextId)
    const { values } = await threads(server, `/${one.contextId}/state`)
    expect(values.messages.map(({ type }: Json) => type)).toEqual(['human', 'ai'])
  })

  test.each([
    A_UUID,
    A_UUID.toUpperCase(),
    'session-42',
    'x'.repeat(512),
    ':',
    'a:b:c',
    '::x:',
    ' ',
    '\u0000',
    '\r\n\ndata: x\n\n',
    '\u2028\u0085\u007f',
    '\ud800',
    'Grüße 👋 \u202e',
    '../../etc/passwd',
    '%2e%2e',
    '__proto__',
    'constructor',
    'prototype',
    'toString',
    'null',
  ])('the context %j has a conversation that goes on', async (contextId) => {
    const { server, errors } = serve({ graph: graph() })
    const client = clientOf(server, { assistant: 'graph', version })
    const { result: one, error } = await client.send({ text: 'one', contextId })
    expect(error).toBeUndefined()
    expect(one.contextId).toBe(contextId)
    expect(stateOf(one)).toBe('completed')
    const { result: two } = await client.send({ text: 'two', contextId })
    expect((await client.get(one.id)).result).toEqual(one)
    expect((await client.get(two.id, { contextId })).result).toEqual(two)
    const run = two.id.slice(contextId.length + 1)
    expect(run).toMatch(UUID)
    if (version === '0.3') expect((await client.get(run, { contextId })).result).toEqual(two)
    const { result: list } = await clientOf(server, { assistant: 'graph' }).list({ contextId })
    expect(list.tasks.map(({ id }: Json) => id)).toEqual([two.id, one.id])
    const [thread] = await threads(server, '/search', {})
    const { values } = await threads(server, `/${encodeURIComponent(thread.thread_id)}/state`)
    expect(values.messages).toHaveLength(4)
    expect(errors).toEqual([])
  })

  test('a context that is too long is refused, and nothing is kept of it', async () => {
    const { server, written } = serve({ echo: echo() })
    const client = clientOf(server, { assistant: 'echo', version })
    for (const contextId of ['x'.repeat(513), 'y'.repeat(1_000_000)]) {
      const { error, text } = await client.send({ text: 'x', contextId })
      expect(error.code).toBe(-32602)
      expect(error.message).toContain('contextId')
      expect(text.length).toBeLessThan(1_000)
    }
    expect(written()).toBe(0)
  })

  test('two assistants that are given one context work at once, apart, and are traced under it', async () => {
    const seen: Record<string, Json> = {}
    const agents = { a: traced('a', seen), b: traced('b', seen), g: tracedGraph(seen) }
    for (const contextId of [A_UUID, 'session-42']) {
      const { server, errors } = serve(agents)
      const clients = Object.keys(agents).map((assistant) => clientOf(server, { assistant, version }))
      const first = await Promise.all(clients.map((client) => client.send({ text: 'one', contextId })))
      const second = await Promise.all(clients.map((client) => client.send({ text: 'two', contextId })))
      for (const { result } of first) expect(turnsOf(result)).toEqual(['user: one', 'agent: 1 messages'])
      for (const { result } of second) expect(turnsOf(result)).toEqual(['user: two', 'agent: 3 messages'])
      for (const { result } of [...first, ...second]) expect(result.contextId).toBe(contextId)
      expect(seen).toMatchObject({
        a: { thread_id: contextId },
        b: { thread_id: contextId },
        g: { thread_id: contextId },
      })
      const [ofA, ofB] = first
      const foreign = await clients[1]!.get(ofA!.result.id)
      expect(foreign.error.code).toBe(-32001)
      expect((await clients[1]!.get(ofB!.result.id)).result.id).toBe(ofB!.result.id)
      expect(errors).toEqual([])
    }
  })

  test('both assistants work where the thread was made for neither of them', async () => {
    const { server } = serve({ a: echo(), b: echo() })
    await threads(server, '', { thread_id: A_UUID })
    const clients = ['a', 'b'].map((assistant) => clientOf(server, { assistant, version }))
    const sent = await Promise.all(clients.map((client) => client.send({ text: 'x', contextId: A_UUID })))
    expect(sent.map(({ result }) => stateOf(result))).toEqual(['completed', 'completed'])
  })

  test.each([A_UUID, 'session-42', 'Grüße'])(
    'a thread goes on over A2A by its id %j, and the reverse',
    async (id) => {
      const { server, engine } = serve({ graph: graph(), other: echo() }, { defaultAgent: 'graph' })
      const started = await engine.start({
        threadId: id,
        assistantId: 'graph',
        input: { messages: [{ type: 'human', content: 'over threads', id: 't1' }] },
      })
      await engine.wait({ threadId: id, runId: started.runId })
      const client = clientOf(server, { assistant: 'graph', version })
      const { result: task } = await client.send({ text: 'over A2A', contextId: id })
      expect(turnsOf(task)).toEqual(['user: over A2A', 'agent: You said: over A2A'])
      const state = () => threads(server, `/${encodeURIComponent(id)}/state`)
      expect((await state()).values.messages).toHaveLength(4)
      const more = await engine.start({
        threadId: id,
        input: { messages: [{ type: 'human', content: 'and back', id: 't2' }] },
      })
      await engine.wait({ threadId: id, runId: more.runId })
      expect((await state()).values.messages).toHaveLength(6)
      expect((await client.get(task.id)).result).toEqual(task)
      const { result: byRun } = await client.get(`${id}:${started.runId}`)
      expect(stateOf(byRun)).toBe('completed')
      expect(answerOf(byRun)).toBe('You said: over threads')
      expect(
        (await clientOf(server, { assistant: 'other', version }).get(`${id}:${started.runId}`)).error.code,
      ).toBe(-32001)
    },
  )

  test("another caller's context is a conversation of one's own", async () => {
    const { server, errors } = serve({ graph: graph() }, { authenticate: byToken })
    for (const contextId of [A_UUID, 'session-42']) {
      const ann = clientOf(server, { assistant: 'graph', version, token: 'ann' })
      const bob = clientOf(server, { assistant: 'graph', version, token: 'bob' })
      const { result: hers } = await ann.send({ text: 'my secret', contextId, messageId: 'm' })
      const { result: his } = await bob.send({ text: 'hello', contextId, messageId: 'm' })
      const { result: more } = await bob.send({ text: 'again', contextId })
      expect([his.contextId, stateOf(his)]).toEqual([contextId, 'completed'])
      expect(turnsOf(more)).toEqual(['user: again', 'agent: You said: again'])
      expect(JSON.stringify([his, more])).not.toContain('secret')
      expect((await bob.get(his.id)).result).toEqual(his)
      const foreign = await bob.get(hers.id)
      const unknown = await bob.get(`${contextId}:${A_UUID}`)
      expect(foreign.error.code).toBe(-32001)
      expect(foreign.text.replaceAll(hers.id, 'ID')).toBe(
        unknown.text.replaceAll(`${contextId}:${A_UUID}`, 'ID'),
      )
      expect((await ann.get(hers.id)).result).toEqual(hers)
      const list = await clientOf(server, { assistant: 'graph', token: 'bob' }).list({ contextId })
      expect(list.result.tasks.map(({ id }: Json) => id)).toEqual([more.id, his.id])
    }
    expect(errors).toEqual([])
  })

  test('a context keeps its conversation when a thread gets its id', async () => {
    const { server, engine } = serve({ echo: echo() })
    const client = clientOf(server, { assistant: 'echo', version })
    const { result: task } = await client.send({ text: 'one', contextId: 'session-42' })
    const input = { messages: [{ type: 'human', content: 'other', id: 'h' }] }
    const { runId } = await engine.start({ threadId: 'session-42', input })
    await engine.wait({ threadId: 'session-42', runId })
    expect((await client.get(task.id)).result).toEqual(task)
    const { result: again } = await client.send({ text: 'two', contextId: 'session-42' })
    const { result: list } = await clientOf(server, { assistant: 'echo' }).list({ contextId: 'session-42' })
    expect(list.tasks.map(({ id }: Json) => id)).toEqual([again.id, task.id])
  })

  test("another caller's task costs as much as one that is not there", async () => {
    const inner = memoryStore()
    const reads: string[] = []
    const store: Store = {
      ...inner,
      get: (partition, collection, id) => {
        reads.push(collection)
        return inner.get(partition, collection, id)
      },
    }
    const { server } = serve({ echo: echo() }, { authenticate: byToken, store })
    const bob = clientOf(server, { assistant: 'echo', version, token: 'bob' })
    for (const contextId of [A_UUID, 'session-42']) {
      const ann = clientOf(server, { assistant: 'echo', version, token: 'ann' })
      const { result: hers } = await ann.send({ text: 'x', contextId })
      const readsOf = async (id: string) => {
        reads.length = 0
        expect((await bob.get(id)).error.code).toBe(-32001)
        return [...reads]
      }
      const unknown = await readsOf(`${contextId.replace('4', '5')}:${A_UUID}`)
      expect(await readsOf(hers.id)).toEqual(unknown)
    }
  })

  test('metadata.thread_id groups traces, and is the context where the message has none', async () => {
    const seen: Record<string, Json> = {}
    const { server } = serve({ a: traced('a', seen), g: tracedGraph(seen) })
    for (const [assistant, at] of [
      ['a', 'outerMetadata'],
      ['a', 'metadata'],
      ['g', 'outerMetadata'],
      ['g', 'metadata'],
    ] as const) {
      const client = clientOf(server, { assistant, version })
      const threadId = `trace-${assistant}-${at}`
      const { result: absent } = await client.send({ text: 'x', [at]: { thread_id: threadId, more: 1 } })
      expect(absent.contextId).toBe(threadId)
      expect(seen[assistant].thread_id).toBe(threadId)
      const { result: given } = await client.send({
        text: 'x',
        contextId: 'given',
        [at]: { thread_id: threadId },
      })
      expect(given.contextId).toBe('given')
      expect(seen[assistant].thread_id).toBe(threadId)
      await client.send({ text: 'x', contextId: 'given' })
      expect(seen[assistant].thread_id).toBe('given')
    }
    const client = clientOf(server, { assistant: 'a', version })
    await client.send({
      text: 'x',
      metadata: { topic: 'weather', thread_id: 'inner' },
      outerMetadata: { thread_id: 'outer' },
    })
    expect(seen.a).toMatchObject({ thread_id: 'outer', topic: 'weather' })
  })

  test.each([7, null, '', {}, [], 'x'.repeat(10_000)])(
    'a metadata.thread_id that is no id of a context is ignored: %j',
    async (thread_id) => {
      const { server } = serve({ echo: echo() })
      const client = clientOf(server, { assistant: 'echo', version })
      for (const metadata of [{ metadata: { thread_id } }, { outerMetadata: { thread_id } }]) {
        const { result } = await client.send({ text: 'x', ...metadata })
        expect(stateOf(result)).toBe('completed')
        expect(result.contextId).toMatch(UUID)
      }
    },
  )
})

const traced = (name: string, seen: Record<string, Json>): Agent =>
  defineAgent({
    async run({ messages, message, config }: Json) {
      seen[name] = config.metadata
      await message(`${messages.length} messages`)
    },
  })

const tracedGraph = (seen: Record<string, Json>): Agent =>
  langgraph(
    new StateGraph(MessagesAnnotation)
      .addNode('say', ({ messages }, config: LangGraphRunnableConfig) => {
        seen.g = config.metadata
        return { messages: [new AIMessage(`${messages.length} messages`)] }
      })
      .addEdge(START, 'say')
      .compile(),
  )
