import { type AIMessage, type BaseMessage, ToolMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import {
  Annotation,
  DeltaChannel,
  interrupt,
  MessagesAnnotation,
  messagesDeltaReducer,
  Send,
  START,
  StateGraph,
} from '@langchain/langgraph'
import { ToolNode } from '@langchain/langgraph/prebuilt'
import { Client } from '@langchain/langgraph-sdk'
import { createAgent, humanInTheLoopMiddleware } from 'langchain'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { runToolCalls } from '../../src/agents/function/tool-calls.ts'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { type Agent, defineAgent, type Message } from '../../src/index.ts'
import { openStorage } from '../../src/storage/open.ts'
import { add } from '../fixtures/graphs.ts'
import { refuseUnanswered, strict } from '../fixtures/strict.ts'
import { sqlite } from '../kit/backends.ts'
import type { Json } from '../kit/events.ts'
import { serveAgents } from '../kit/host.ts'

/**
 * A call without a result, wherever it comes from, does not end a thread: the next input finds it answered. The models refuse dead
 * histories as providers do.
 */

const asked = (messages: readonly BaseMessage[]) =>
  messages.findLast((message) => message.getType() === 'human')!.text

/** Says `Alive.`, or calls its tools, each with the id that it has in every turn, if the last question says so. */
const model = strict((messages) => {
  const question = asked(messages)
  const isAnswered = messages.at(-1)!.getType() === 'tool'
  if (!question.startsWith('call') || isAnswered) return { text: 'Alive.' }
  const ids = question.split(' ').filter((word) => word !== 'call' && word !== 'throw')
  return { toolCalls: ids.map((id) => ({ id, name: 'add', args: { a: 2, b: 3 } })) }
})

const hasCalls = (messages: readonly BaseMessage[]) =>
  ((messages.at(-1) as AIMessage).tool_calls?.length ?? 0) > 0

/** A graph of a model, a node that throws if the question says `throw`, and the tools. */
const loop = (state = MessagesAnnotation) =>
  new StateGraph(state)
    .addNode('model', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
    .addNode('gate', ({ messages }) => {
      if (asked(messages).includes('throw')) throw new Error('the gate is closed')
      return {}
    })
    .addNode('tools', new ToolNode([add]))
    .addEdge(START, 'model')
    .addConditionalEdges('model', ({ messages }) => (hasCalls(messages) ? 'gate' : '__end__'))
    .addEdge('gate', 'tools')
    .addEdge('tools', 'model')

const fragile = tool(
  ({ a }) => {
    if (a === 2) throw new Error('the tool is broken')
    return 'fine'
  },
  { name: 'add', description: 'Adds.', schema: z.object({ a: z.number(), b: z.number() }) },
)

/** Two tools at the same time: the first returns, the second asks. */
const parallel = new StateGraph(MessagesAnnotation)
  .addNode('model', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
  .addNode('tool', ({ id }: { id: string }) => {
    const content = id === 'asks' ? String(interrupt('go?')) : 'the sum'
    return { messages: [new ToolMessage({ content, tool_call_id: id, name: 'add' })] }
  })
  .addEdge(START, 'model')
  .addConditionalEdges(
    'model',
    ({ messages }) => {
      const { tool_calls: calls = [] } = messages.at(-1) as AIMessage
      return calls.length > 0 ? calls.map(({ id }) => new Send('tool', { id })) : '__end__'
    },
    ['tool', '__end__'],
  )
  .addEdge('tool', 'model')
  .compile()

/** A graph whose input has no messages: its first node writes them. */
const Question = Annotation.Root({ question: Annotation<string> })
const questions = new StateGraph({
  stateSchema: Annotation.Root({ ...MessagesAnnotation.spec, question: Annotation<string> }),
  input: Question,
} as never)
  .addNode('ask', (({ question }: Json) => ({ messages: [{ role: 'user', content: question }] })) as never)
  .addNode('model', (async ({ messages }: Json) => ({ messages: [await model.invoke(messages)] })) as never)
  .addNode('gate', () => {
    throw new Error('the gate is closed')
  })
  .addEdge(START as never, 'ask' as never)
  .addEdge('ask' as never, 'model' as never)
  .addConditionalEdges(
    'model' as never,
    (({ messages }: Json) => (hasCalls(messages) ? 'gate' : '__end__')) as never,
  )
  .compile()

/** A graph that ends with the calls, because the page runs its tools. */
const pageTools = new StateGraph(MessagesAnnotation)
  .addNode('model', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
  .addEdge(START, 'model')
  .compile()

const graphs = {
  throws: loop().compile(),
  breaks: new StateGraph(MessagesAnnotation)
    .addNode('model', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
    .addNode('tools', new ToolNode([fragile], { handleToolErrors: false }))
    .addEdge(START, 'model')
    .addConditionalEdges('model', ({ messages }) => (hasCalls(messages) ? 'tools' : '__end__'))
    .addEdge('tools', 'model')
    .compile(),
  approves: createAgent({
    model,
    tools: [add],
    middleware: [humanInTheLoopMiddleware({ interruptOn: { add: true } })],
  }),
  parallel,
  questions,
  pageTools,
  appends: loop(
    Annotation.Root({
      messages: Annotation<BaseMessage[]>({
        reducer: (before, after) => before.concat(after),
        default: () => [],
      }),
    }) as never,
  ).compile(),
  delta: loop(
    Annotation.Root({
      messages: () => new DeltaChannel(messagesDeltaReducer as never, { snapshotFrequency: 3 }),
    } as never) as never,
  ).compile(),
}

/** Calls, and throws before they have a result; or asks. */
const throwing = defineAgent({
  async run({ messages, message, tool }) {
    refuseUnanswered(messages)
    const question = (messages.at(-1)!.content[0] as { text: string }).text
    if (!question.startsWith('call')) return void (await message('Alive.'))
    const writer = message()
    for (const id of question.split(' ').slice(1)) await writer.toolCall({ id, name: 'add', args: {} })
    await writer.end()
    if (question.includes('done')) await tool('add', {}, () => 'the sum', { toolCallId: 'done' })
    throw new Error('the gate is closed')
  },
})

const approving = defineAgent({
  async run(context) {
    refuseUnanswered(context.messages)
    const question = (context.messages.at(-1)!.content[0] as { text: string }).text
    if (!question.startsWith('call')) return void (await context.message('Alive.'))
    const writer = context.message()
    for (const id of question.split(' ').slice(1)) await writer.toolCall({ id, name: 'add', args: {} })
    const reply = await writer.end()
    await runToolCalls(context, reply, { tools: { add: () => 5 }, approve: ['add'] })
    await context.message('Done.')
  },
})

/** Writes a call whose arguments were cut off, and throws before it is answered. */
const cutting = defineAgent({
  async run({ messages, message, setState }) {
    refuseUnanswered(messages)
    if (messages.length > 1) return void (await message('Alive.'))
    const content: Message['content'] = [
      { type: 'invalidToolCall', id: 'cut', name: 'add', args: '{"a": 1', error: 'It was cut off.' },
    ]
    await setState({ messages: [{ role: 'assistant', id: 'reply', content }] })
    throw new Error('the gate is closed')
  },
})

const agents: Readonly<Record<string, Agent>> = {
  ...Object.fromEntries(Object.entries(graphs).map(([name, graph]) => [name, langgraph(graph as never)])),
  throwing,
  approving,
  cutting,
}

const STORAGES = [
  { name: 'memory', create: async () => ({ url: 'memory:', remove: async () => {} }) },
  { name: 'SQLite', create: sqlite.create },
]

const says = (content: string) => ({ messages: [{ role: 'user', content }] })

describe.each(STORAGES)('over $name', ({ create }) => {
  async function open(assistantId: string) {
    const database = await create()
    const storage = await openStorage(database.url)
    await storage.setup()
    onTestFinished(async () => {
      await storage.close()
      await database.remove()
    })
    const { origin } = await serveAgents({ agents, ...storage })
    const client = new Client({ apiUrl: origin, apiKey: null, callerOptions: { maxRetries: 0 } })
    const { thread_id: threadId } = await client.threads.create()
    return {
      threadId,
      client,
      /** Sends an input, and gives the messages after it. */
      async send(input: Json, options: object = {}): Promise<readonly Json[]> {
        const stream = client.runs.stream(threadId, assistantId, {
          input,
          streamMode: ['values', 'messages-tuple'],
          ...options,
        } as never)
        let streamed: readonly Json[] = []
        for await (const { event, data } of stream as AsyncIterable<Json>)
          if (event === 'values' && data.messages) streamed = data.messages
        const { values } = await client.threads.getState<Json>(threadId)
        // What is read live is what the state has.
        expect(streamed.map(({ id }) => id)).toEqual(values.messages.map(({ id }: Json) => id))
        return values.messages
      },
      texts: async () => {
        const { values } = await client.threads.getState<Json>(threadId)
        return (values.messages as readonly Json[]).map(spoken)
      },
    }
  }

  const spoken = ({ type, content, tool_calls, tool_call_id, status }: Json): string => {
    if (type === 'tool') return `${tool_call_id}: ${status === 'error' ? 'error' : content}`
    return tool_calls?.length > 0 ? `[${tool_calls.map(({ id }: Json) => id)}]` : content
  }

  const FAILING = [
    ['throws', 'a node between the model and its tools throws', 'call a throw'],
    ['breaks', 'the tools throw', 'call a'],
    ['appends', 'the reducer only appends', 'call a throw'],
    ['delta', 'the messages are in a delta channel', 'call a throw'],
    ['throwing', 'a function throws', 'call a'],
  ] as const

  test.each(FAILING)('%s: %s, and the thread takes the next message', async (agent, _, question) => {
    const { send, texts } = await open(agent)
    await send(says(question)).catch(() => {})
    const calls = ['a']
    const opened = [question, `[${calls}]`]
    expect(await texts()).toEqual(opened)
    const messages = await send(says('and now?'))
    const closed = [...opened, ...calls.map((id) => `${id}: error`), 'and now?', 'Alive.']
    expect(messages.map(spoken)).toEqual(closed)
    expect(messages[2]).toMatchObject({ type: 'tool', name: 'add', status: 'error', id: expect.any(String) })
    // The model uses the same id again.
    await send(says(question)).catch(() => {})
    await send(says('still?'))
    expect(await texts()).toEqual([
      ...closed,
      ...opened,
      ...calls.map((id) => `${id}: error`),
      'still?',
      'Alive.',
    ])
  })

  test.each(['approves', 'approving'])('%s: an approval that is left open', async (agent) => {
    const { send, texts, client, threadId } = await open(agent)
    await send(says('call a b'))
    expect((await client.threads.get(threadId)).status).toBe('interrupted')
    await send(says('never mind'))
    expect(await texts()).toEqual(['call a b', '[a,b]', 'a: error', 'b: error', 'never mind', 'Alive.'])
    expect(await client.threads.get(threadId)).toMatchObject({ status: 'idle', interrupts: {} })
  })

  test('a tool that has ended beside one that asks keeps its result', async () => {
    const { send, texts } = await open('parallel')
    await send(says('call done asks'))
    await send(says('never mind'))
    expect(await texts()).toEqual([
      'call done asks',
      '[done,asks]',
      'done: the sum',
      'asks: error',
      'never mind',
      'Alive.',
    ])
  })

  test('a tool of a function that has ended before a failure keeps its result', async () => {
    const { send, texts } = await open('throwing')
    await send(says('call done other')).catch(() => {})
    await send(says('never mind'))
    expect(await texts()).toEqual([
      'call done other',
      '[done,other]',
      'done: the sum',
      'other: error',
      'never mind',
      'Alive.',
    ])
  })

  test('an input without messages', async () => {
    const { send, texts } = await open('questions')
    await send({ question: 'call a' }).catch(() => {})
    await send({ question: 'and now?' })
    expect(await texts()).toEqual(['call a', '[a]', 'a: error', 'and now?', 'Alive.'])
  })

  test('calls of an id that comes twice are answered in order', async () => {
    const { send, texts } = await open('pageTools')
    await send(says('call a a'))
    await send({
      messages: [
        { role: 'tool', tool_call_id: 'a', content: '5' },
        { role: 'user', content: 'and the other?' },
      ],
    })
    expect(await texts()).toEqual(['call a a', '[a,a]', 'a: error', 'a: 5', 'and the other?', 'Alive.'])
  })

  test('a call with arguments that were cut off', async () => {
    const { send } = await open('cutting')
    await send(says('go')).catch(() => {})
    const messages = await send(says('and now?'))
    expect(messages.map(({ type }) => type)).toEqual(['human', 'ai', 'tool', 'human', 'ai'])
    expect(messages[2]).toMatchObject({ tool_call_id: 'cut', status: 'error' })
  })

  test('results that the input brings are the only ones', async () => {
    const { send, texts } = await open('pageTools')
    await send(says('call a b'))
    await send({
      messages: [
        { role: 'tool', tool_call_id: 'b', content: '2' },
        { role: 'tool', tool_call_id: 'a', content: '1' },
      ],
    })
    expect(await texts()).toEqual(['call a b', '[a,b]', 'b: 2', 'a: 1', 'Alive.'])
  })

  test('an input that removes the message with the calls', async () => {
    const { send, texts, client, threadId } = await open('throws')
    await send(says('call a throw')).catch(() => {})
    const { values } = await client.threads.getState<Json>(threadId)
    await send({
      messages: [
        { type: 'remove', id: values.messages.at(-1).id, content: '' },
        { role: 'user', content: 'and now?' },
      ],
    })
    expect(await texts()).toEqual(['call a throw', 'and now?', 'Alive.'])
  })

  test('a run without input repeats the tools, and nothing is written for it', async () => {
    const { send, texts } = await open('breaks')
    await send(says('call a')).catch(() => {})
    await send(null).catch(() => {})
    expect(await texts()).toEqual(['call a', '[a]'])
  })

  test('answers to a question are the results', async () => {
    const { send, texts } = await open('approves')
    await send(says('call a'))
    await send(null, { command: { resume: { decisions: [{ type: 'approve' }] } }, input: undefined })
    expect(await texts()).toEqual(['call a', '[a]', 'a: 5', 'Alive.'])
  })

  test('the history has the results in the checkpoint of the input, and a fork before it does not', async () => {
    const { send, texts, client, threadId } = await open('throws')
    await send(says('call a throw')).catch(() => {})
    await send(says('and now?'))
    const history = await client.threads.getHistory<Json>(threadId)
    const told = history
      .toReversed()
      .map(({ values, metadata }) => [metadata!.source, ...values.messages.map(spoken)])
    const before = ['call a throw', '[a]']
    expect(told.slice(-4)).toEqual([
      ['loop', ...before],
      ['input', ...before, 'a: error'],
      ['loop', ...before, 'a: error', 'and now?'],
      ['loop', ...before, 'a: error', 'and now?', 'Alive.'],
    ])
    // A fork of the checkpoint with the open call meets it again.
    const { checkpoint_id: checkpointId } = history.at(-told.length + told.length - 4)!.checkpoint
    await send(says('another way?'), { checkpointId })
    expect(await texts()).toEqual([...before, 'a: error', 'another way?', 'Alive.'])
  })
})
