import { setTimeout as sleep } from 'node:timers/promises'
import { AIMessage, AIMessageChunk } from '@langchain/core/messages'
import { ChatGenerationChunk } from '@langchain/core/outputs'
import { tool } from '@langchain/core/tools'
import { FakeListChatModel } from '@langchain/core/utils/testing'
import { Annotation, interrupt, MessagesAnnotation, Send, START, StateGraph } from '@langchain/langgraph'
import { ToolNode } from '@langchain/langgraph/prebuilt'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Agent } from '../../src/agents/agent.ts'
import { type AgentContext, defineAgent, type MessageWriter } from '../../src/agents/function/define-agent.ts'
import { runToolCalls } from '../../src/agents/function/tool-calls.ts'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { type AgentEngine, headOf } from '../../src/engine/index.ts'
import { textOf } from '../../src/messages/index.ts'
import { openStorage } from '../../src/storage/open.ts'
import { BACKENDS } from '../kit/backends.ts'
import { engineOf, start, transcript } from '../kit/engine.ts'
import { isTerminal } from '../kit/events.ts'

interface Flat {
  readonly type: string
  readonly id: string
  readonly content: unknown
  readonly response_metadata?: { readonly finish_reason?: string }
  readonly tool_calls?: readonly unknown[]
}

const threadId = 't'
const ask = (content: string) => ({ messages: [{ type: 'human', content, id: `human ${content}` }] })
const word = (text: string) => (event: { method: string; data: unknown }) =>
  event.method === 'messages' && JSON.stringify(event.data).includes(text)

async function stateOf(engine: AgentEngine) {
  const thread = await engine.findThread({ threadId })
  return (await engine.readState(thread!))!
}

const messagesOf = async (engine: AgentEngine) => (await stateOf(engine)).values.messages as readonly Flat[]
const spoken = async (engine: AgentEngine) =>
  (await messagesOf(engine)).map(({ type, content, response_metadata: metadata }) =>
    [type, content, metadata?.finish_reason]
      .filter((part) => part !== undefined && part !== 'stop')
      .join(': '),
  )

/** Starts a run and cancels it at the first event for which `at` holds. */
async function cancelAt(
  engine: AgentEngine,
  input: unknown,
  at: (event: { method: string; data: unknown }) => boolean,
  action: 'interrupt' | 'rollback' = 'interrupt',
): Promise<string> {
  const after = await headOf(engine, { threadId }).catch(() => 0)
  const { runId } = await start(engine, threadId, input)
  for await (const event of engine.events({ threadId, runId, after }))
    if (event.type !== 'gap' && at(event)) await engine.cancel({ threadId, runId, action })
  await engine.wait({ threadId, runId })
  return runId
}

/** Answers every message with a text, of which the first is endless. */
const slowFunction = (): Agent => {
  let runs = 0
  return defineAgent({
    async run({ messages, message }) {
      const isEndless = runs++ === 0
      const writer = message()
      await writer.reasoning('Let me think.')
      await writer.text('Half an ')
      if (isEndless) {
        await writer.text('answer')
        void writer.toolCall({ name: 'look', args: {} })
        await new Promise(() => {})
      }
      await writer.text(`answer to ${messages.length} messages, the last: ${textOf(messages.at(-1)!)}`)
    },
  })
}

/** A model that streams its words slowly, without an end the first time. */
class SlowModel extends FakeListChatModel {
  constructor() {
    super({ responses: ['Half an answer, without end', 'Whole.'], sleep: 30, emitCustomEvent: false })
  }
}

const slowGraph = (): Agent => {
  const model = new SlowModel()
  return langgraph(
    new StateGraph(MessagesAnnotation)
      .addNode('prepare', () => ({}))
      .addNode('answer', async ({ messages }, config) => ({
        messages: [await model.invoke(messages, config)],
      }))
      .addEdge(START, 'prepare')
      .addEdge('prepare', 'answer')
      .compile(),
  )
}

describe.each([
  ['a function', slowFunction, 'answer"', 'Half an answer'],
  ['a graph', slowGraph, '"f"', 'Half'],
])('the partial answer of %s', (_, agentOf, cutAt, text) => {
  test('stands in the state, marked, and in the last values of the run', async () => {
    const engine = engineOf({ a: agentOf() })
    await cancelAt(engine, ask('one'), word(cutAt))
    const [human, partial] = await messagesOf(engine)
    expect(human).toMatchObject({ type: 'human', content: 'one' })
    expect(partial).toMatchObject({
      type: 'ai',
      response_metadata: { finish_reason: 'cancelled' },
      tool_calls: [],
    })
    expect(partial!.content).toMatch(new RegExp(`^${text}`))
    const events = await transcript(engine, threadId)
    const ids = events.flatMap(({ method, params }) =>
      method === 'messages' ? [(params.data as { id?: string }).id ?? []].flat() : [],
    )
    expect(ids.at(-1)).toBe(partial!.id)
    const ends = events.filter(({ method }) => method === 'messages').slice(-2)
    expect(ends.map(({ params }) => params.data)).toMatchObject([
      { event: 'content-block-finish' },
      { event: 'message-finish', responseMetadata: { finish_reason: 'cancelled' } },
    ])
    const last = events.slice(-3)
    expect(last.map(({ method }) => method)).toEqual(['checkpoints', 'values', 'lifecycle'])
    expect(isTerminal(last[2]!)).toBe(true)
    const state = await stateOf(engine)
    expect(last[0]!.params.data).toMatchObject({ id: state.checkpoint.checkpointId })
    expect((last[1]!.params.data as { messages: unknown }).messages).toEqual(state.values.messages)
    await engine.close()
  })

  test('comes before the next message of the user', async () => {
    const engine = engineOf({ a: agentOf() })
    await cancelAt(engine, ask('one'), word(cutAt))
    const [, partial] = await messagesOf(engine)
    const { runId } = await start(engine, threadId, ask('two'))
    await engine.wait({ threadId, runId })
    const messages = await messagesOf(engine)
    expect(messages.map(({ type }) => type)).toEqual(['human', 'ai', 'human', 'ai'])
    expect(messages[1]).toEqual(partial)
    expect((await stateOf(engine)).next).toEqual([])
    await engine.close()
  })

  test('gives way to the whole one where the run goes on', async () => {
    const engine = engineOf({ a: agentOf() })
    await cancelAt(engine, ask('one'), word(cutAt))
    const before = (await stateOf(engine)).next
    expect(before).toHaveLength(1)
    const { runId } = await start(engine, threadId, null)
    expect(await engine.wait({ threadId, runId })).toMatchObject({ status: 'success' })
    const lines = await spoken(engine)
    expect(lines).toHaveLength(2)
    expect(lines[1]).not.toContain('cancelled')
    expect((await stateOf(engine)).next).toEqual([])
    await engine.close()
  })

  test('is not kept by a rollback', async () => {
    const engine = engineOf({ a: agentOf() })
    await cancelAt(engine, ask('one'), word(cutAt), 'rollback')
    expect((await stateOf(engine))?.values ?? {}).toEqual({})
    await engine.close()
  })

  test('is kept when the server closes', async () => {
    const engine = engineOf({ a: agentOf() })
    const { runId } = await start(engine, threadId, ask('one'))
    for await (const event of engine.events({ threadId, runId }))
      if (event.type !== 'gap' && word(cutAt)(event)) break
    await engine.close()
    expect((await messagesOf(engine)).at(-1)).toMatchObject({
      response_metadata: { finish_reason: 'cancelled' },
    })
  })
})

/** A node that streams words until it is cancelled. */
const slowNode = async ({ messages }: typeof MessagesAnnotation.State, config: object) => ({
  messages: [await new SlowModel().invoke(messages, config)],
})

/** A model that streams a text, and then the arguments of a call without an end. */
class CallingModel extends FakeListChatModel {
  constructor(readonly text: string) {
    super({ responses: [''] })
  }
  override async *_streamResponseChunks() {
    const chunkOf = (message: AIMessageChunk) => new ChatGenerationChunk({ message, text: '' })
    yield chunkOf(new AIMessageChunk({ content: this.text }))
    const call = { name: 'look', args: '{"at":', id: 'call_1', index: 1 }
    yield chunkOf(new AIMessageChunk({ content: '', tool_call_chunks: [call] }))
    for (;;) {
      await sleep(5)
      yield chunkOf(new AIMessageChunk({ content: '', tool_call_chunks: [{ args: '1', index: 1 }] }))
    }
  }
}

test.each([
  ['a text and a call', 'I look. ', ['human: one', 'ai: I look. : cancelled']],
  ['a call alone', '', ['human: one']],
])('of %s, calls of tools are left out', async (_, text, left) => {
  const model = new CallingModel(text)
  const node = async ({ messages }: typeof MessagesAnnotation.State, config: object) => ({
    messages: [await model.invoke(messages, config)],
  })
  const graph = new StateGraph(MessagesAnnotation).addNode('answer', node).addEdge(START, 'answer').compile()
  const engine = engineOf({ a: langgraph(graph) })
  await cancelAt(engine, ask('one'), word('tool_call_chunk'))
  expect(await spoken(engine)).toEqual(left)
  expect((await messagesOf(engine))[1]?.tool_calls ?? []).toEqual([])
  await engine.close()
})

test('a step of which another node has ended, or asks, stays as it is and goes on from there', async () => {
  let ended = 0
  let asked = 0
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('quick', () => {
      ended++
      return {}
    })
    .addNode('asking', () => {
      asked++
      interrupt('Sure?')
      return {}
    })
    .addNode('answer', slowNode)
    .addEdge(START, 'quick')
    .addEdge(START, 'asking')
    .addEdge(START, 'answer')
    .compile()
  const engine = engineOf({ a: langgraph(graph) })
  await cancelAt(engine, ask('one'), word('"f"'))
  const state = await stateOf(engine)
  expect(await spoken(engine)).toEqual(['human: one'])
  expect(state.next.toSorted()).toEqual(
    ['answer', 'asking', 'quick'].filter((name) => state.next.includes(name)),
  )
  const { runId } = await start(engine, threadId, null)
  const { interrupts } = await engine.wait({ threadId, runId })
  expect(interrupts.map(({ value }) => value)).toEqual(['Sure?'])
  expect([ended, asked]).toEqual([1, 2])
  await engine.close()
})

test('a state without messages, and one whose messages a subgraph writes, stay as they were, and the run can go on', async () => {
  const Topic = Annotation.Root({ topic: Annotation<string>, said: Annotation<string> })
  const say = async ({ topic }: typeof Topic.State, config: object) => ({
    said: String((await new SlowModel().invoke(topic, config)).content),
  })
  const plain = new StateGraph(Topic).addNode('say', say).addEdge(START, 'say').compile()
  const inner = new StateGraph(MessagesAnnotation)
    .addNode('answer', slowNode)
    .addEdge(START, 'answer')
    .compile()
  const outer = new StateGraph(MessagesAnnotation).addNode('inner', inner).addEdge(START, 'inner').compile()
  for (const [graph, input] of [
    [plain, { topic: 'x' }],
    [outer, ask('one')],
  ] as const) {
    const engine = engineOf({ a: langgraph(graph) })
    await cancelAt(engine, input, word('"f"'))
    const { values, next } = await stateOf(engine)
    expect([Object.keys(values), next]).toEqual([Object.keys(input), [graph === plain ? 'say' : 'inner']])
    if (graph === outer) expect(values.messages).toHaveLength(1)
    const { runId } = await start(engine, threadId, null)
    expect(await engine.wait({ threadId, runId })).toMatchObject({ status: 'success' })
    await engine.close()
  }
})

test('a node that ignores the cancel does not hold it up', async () => {
  const deaf = async ({ messages }: typeof MessagesAnnotation.State, config: object) => {
    await new SlowModel().invoke(messages, { ...config, signal: new AbortController().signal })
    await new Promise(() => {})
    return {}
  }
  const graph = new StateGraph(MessagesAnnotation).addNode('answer', deaf).addEdge(START, 'answer').compile()
  const engine = engineOf({ a: langgraph(graph) })
  await cancelAt(engine, ask('one'), word('"f"'))
  expect((await messagesOf(engine)).at(-1)).toMatchObject({
    response_metadata: { finish_reason: 'cancelled' },
  })
  await engine.close()
})

/** What a function may do once it hears of its cancel, while it writes a message. */
const REACTIONS: Readonly<
  Record<string, (answer: MessageWriter, context: AgentContext) => Promise<unknown>>
> = {
  'fails at once': (_, { signal }) => sleep(60_000, undefined, { signal }),
  'ends its message': (answer, { signal }) =>
    sleep(60_000, undefined, { signal }).finally(() => answer.end()),
  returns: (_, { signal }) => sleep(60_000, undefined, { signal }).catch(() => {}),
  'changes its state': (_, { signal, setState }) =>
    sleep(60_000, undefined, { signal }).catch(() => setState({ late: true })),
}

test.each(Object.entries(REACTIONS))(
  'a function that goes on with an answer and %s when it is cancelled keeps what it had written by then',
  async (_, react) => {
    const agent = defineAgent({
      async run(context) {
        const answer = context.message()
        await answer.text(await context.interrupt<string>('What shall I say?'))
        await react(answer, context)
      },
    })
    const engine = engineOf({ a: agent })
    const asked = await start(engine, threadId, ask('one'))
    const [question] = (await engine.wait({ threadId, runId: asked.runId })).interrupts
    const after = await headOf(engine, { threadId })
    const { runId } = await engine.respond({ threadId, answers: { [question!.id]: 'Half an answer' } })
    for await (const event of engine.events({ threadId, runId, after }))
      if (event.type !== 'gap' && word('Half')(event)) await engine.cancel({ threadId, runId })
    expect(await spoken(engine)).toEqual(['human: one', 'ai: Half an answer: cancelled'])
    expect((await stateOf(engine)).values).not.toHaveProperty('late')
    const ends = (await transcript(engine, threadId, 2)).filter(({ method }) => method === 'messages')
    expect(ends.at(-1)!.params.data).toMatchObject({
      event: 'message-finish',
      responseMetadata: { finish_reason: 'cancelled' },
    })
    await engine.close()
  },
)

/** Calls two tools, of which the first answers and the second does not the first time. Says what it was given. */
const CALLS = [
  { name: 'quick', args: {}, id: 'c1' },
  { name: 'slow', args: {}, id: 'c2' },
] as const

const toolsOf = (made: string[]) => ({
  quick: () => void made.push('quick'),
  slow: () => {
    made.push('slow')
    return made.filter((name) => name === 'slow').length > 1 ? undefined : new Promise<void>(() => {})
  },
})

const callingFunction = (made: string[]): Agent =>
  defineAgent({
    async run(context) {
      if (context.messages.length > 1) return // the next turn
      const writer = context.message()
      await writer.text('I look.')
      for (const call of CALLS) await writer.toolCall(call)
      await runToolCalls(context, await writer.end(), { tools: toolsOf(made) })
      await context.message('Done.')
    },
  })

const callingGraph = (made: string[]): Agent => {
  const run = toolsOf(made)
  const tools = CALLS.map(({ name }) =>
    tool(async () => `${await run[name]()}`, { name, description: name, schema: z.object({}) }),
  )
  const answer = ({ messages }: typeof MessagesAnnotation.State) => {
    if (messages.at(-1)!.type === 'tool') return { messages: [new AIMessage('Done.')] }
    if (made.length > 0) return {}
    return { messages: [new AIMessage({ content: 'I look.', tool_calls: [...CALLS] })] }
  }
  return langgraph(
    new StateGraph(MessagesAnnotation)
      .addNode('answer', answer)
      .addNode('tools', new ToolNode(tools))
      .addEdge(START, 'answer')
      .addConditionalEdges('answer', ({ messages }) =>
        ((messages.at(-1) as AIMessage).tool_calls ?? []).map(
          (call) => new Send('tools', { lg_tool_call: { ...call, type: 'tool_call' } }),
        ),
      )
      .addEdge('tools', 'answer')
      .compile(),
  )
}

describe.each([
  ['a function', callingFunction],
  ['a graph', callingGraph],
])('a cancel of %s while a tool runs', (_, agentOf) => {
  const called = async (engine: AgentEngine) =>
    (await messagesOf(engine)).map((message) =>
      [
        message.type,
        (message as { tool_call_id?: string }).tool_call_id,
        message.response_metadata?.finish_reason,
      ]
        .filter((part) => part !== undefined && part !== 'stop')
        .join(' '),
    )
  const startedSlow = (made: string[]) => () => made.includes('slow')

  test('gives the call a result, so that a provider accepts the next turn', async () => {
    const made: string[] = []
    const engine = engineOf({ a: agentOf(made) })
    await cancelAt(engine, ask('one'), startedSlow(made))
    const expected = ['human', 'ai', 'tool c1', 'tool c2 cancelled']
    expect(await called(engine)).toEqual(expected)
    expect((await messagesOf(engine)).at(-1)).toMatchObject({ name: 'slow', status: 'error' })
    const { runId } = await start(engine, threadId, ask('two'))
    await engine.wait({ threadId, runId })
    expect(await called(engine)).toEqual([...expected, 'human'])
    await engine.close()
  })

  test('makes the call again where the run goes on, and only that', async () => {
    const made: string[] = []
    const engine = engineOf({ a: agentOf(made) })
    await cancelAt(engine, ask('one'), startedSlow(made))
    const { runId } = await start(engine, threadId, null)
    expect(await engine.wait({ threadId, runId })).toMatchObject({ status: 'success' })
    expect(made).toEqual(['quick', 'slow', 'slow'])
    expect(await called(engine)).toEqual(['human', 'ai', 'tool c1', 'tool c2', 'ai'])
    await engine.close()
  })
})

describe.each(BACKENDS.filter((backend) => backend.installed()))('over $name', (backend) => {
  test.each([
    ['a function', slowFunction, 'answer"'],
    ['a graph', slowGraph, '"f"'],
  ])('the partial answer of %s is there for another instance', async (_, agentOf, cutAt) => {
    const database = await backend.create()
    const [one, two] = [await openStorage(database.url), await openStorage(database.url)]
    await one.setup()
    const agent = agentOf()
    const engines = [engineOf({ a: agent }, one), engineOf({ a: agent }, two)] as const
    await cancelAt(engines[0], ask('one'), word(cutAt))
    expect((await spoken(engines[1]))[1]).toMatch(/^ai: Half.*: cancelled$/)
    const { runId } = await start(engines[1], threadId, null)
    expect(await engines[1].wait({ threadId, runId })).toMatchObject({ status: 'success' })
    const lines = await spoken(engines[0])
    expect(lines).toHaveLength(2)
    expect(lines[1]).not.toContain('cancelled')
    for (const engine of engines) await engine.close()
    await Promise.all([one.close(), two.close()])
    await database.remove()
  })

  test('a function that another instance runs again after an answer replays its completed calls', async () => {
    const database = await backend.create()
    const [one, two] = [await openStorage(database.url), await openStorage(database.url)]
    await one.setup()
    const made: string[] = []
    const agent = defineAgent({
      async run({ tool, interrupt, message, state }) {
        const found = await tool('find', { n: 1.5, é: [null] }, () => {
          made.push('find')
          return { z: 1, a: [undefined, 'ü'] }
        })
        const answer = await interrupt<{ b: number; a: string }>({ question: 'Sure?', b: 1, a: 2 })
        const done = await tool('do', { found, ...answer }, () => {
          made.push('do')
          return 'done'
        })
        const again = await interrupt<string>({ next: done })
        await message(`${done} ${again} ${JSON.stringify(found)} ${Object.keys(state)}`)
      },
    })
    const engines = [engineOf({ a: agent }, one), engineOf({ a: agent }, two)] as const
    const first = await start(engines[0], threadId, ask('one'))
    const [question] = (await engines[0].wait({ threadId, runId: first.runId })).interrupts
    const second = await engines[1].respond({ threadId, answers: { [question!.id]: { b: 2, a: 'x' } } })
    const [next] = (await engines[1].wait({ threadId, runId: second.runId })).interrupts
    const third = await engines[0].respond({ threadId, answers: { [next!.id]: 'yes' } })
    expect(await engines[0].wait({ threadId, runId: third.runId })).toMatchObject({ status: 'success' })
    expect(made).toEqual(['find', 'do'])
    expect((await spoken(engines[1])).at(-1)).toMatch(/^ai: done yes \{.*"ü"/)
    for (const engine of engines) await engine.close()
    await Promise.all([one.close(), two.close()])
    await database.remove()
  })
})

test('a run that takes too long keeps the text of its answer', async () => {
  const engine = engineOf(
    { a: slowFunction() },
    { limits: { runMs: 150 }, cancelGraceMs: 50, onError: () => {} },
  )
  const { runId } = await start(engine, threadId, ask('go'))
  expect(await engine.wait({ threadId, runId })).toMatchObject({ status: 'error' })
  expect((await spoken(engine)).at(-1)).toMatch(/^ai: Half an answer/)
  await engine.close()
})
