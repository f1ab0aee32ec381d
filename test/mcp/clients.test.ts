import { interrupt, START, StateGraph } from '@langchain/langgraph'
import { MultiServerMCPClient } from '@langchain/mcp-adapters'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { defineAgent } from '../../src/index.ts'
import { asks, asksAsGraph, asksTwice, echo, graph, notes } from '../a2a/served-agents.ts'
import { calculator, supervised } from '../fixtures/graphs.ts'
import type { Json } from '../kit/events.ts'
import { connect, KINDS, MODERN, rpc, served, textOf, threadOf } from './served.ts'

const Sum = z.object({ a: z.number(), b: z.number() })

/** A graph with schemas of its own. */
const adder = () =>
  langgraph(
    new StateGraph({
      state: z.object({ a: z.number(), b: z.number(), sum: z.number() }),
      input: Sum,
      output: z.object({ sum: z.number() }),
    })
      .addNode('add', ({ a, b }) => ({ sum: a + b }))
      .addEdge(START, 'add')
      .compile({ name: 'Adder', description: 'Adds two numbers.' }),
  )

/** A graph that asks, whose input and output are typed. */
const picker = () =>
  langgraph(
    new StateGraph({
      state: z.object({ colour: z.string() }),
      input: z.object({}),
      output: z.object({ colour: z.string() }),
    })
      .addNode('pick', () => ({ colour: String(interrupt('Which colour?')) }))
      .addEdge(START, 'pick')
      .compile(),
  )

describe.each(KINDS)('the client %s', (kind) => {
  test('is shown each agent as a tool, with what it takes and gives', async () => {
    const { url } = await served({ 'my chat': graph(), adder: adder() })
    const tools = await (await connect(url, kind)).list()
    expect(tools.map(({ name }) => name)).toEqual(['my_chat', 'adder', 'answer_question'])
    const [chat, add] = tools as [Json, Json]
    expect(chat.inputSchema).toMatchObject({
      type: 'object',
      properties: { message: { type: 'string' }, threadId: { type: 'string' } },
      required: ['message'],
    })
    expect(chat.outputSchema).toBeUndefined()
    expect(add).toMatchObject({
      title: 'Adder',
      description: 'Adds two numbers.',
      inputSchema: { properties: { a: { type: 'number' }, b: { type: 'number' } } },
      outputSchema: { properties: { sum: { type: 'number' } } },
    })
  })

  test('gets the answer of an agent, and goes on with its conversation', async () => {
    const { url, server } = await served({ chat: graph() })
    const client = await connect(url, kind)
    const first = await client.call('chat', { message: 'hello' })
    expect(first.content[0]).toEqual({ type: 'text', text: 'You said: hello' })
    expect(textOf(first)).toContain(`threadId "${threadOf(first)}"`)
    const second = await client.call('chat', { message: 'again', threadId: threadOf(first) })
    expect(second.content[0].text).toBe('You said: again')
    const thread = await server.engine.findThread({ threadId: threadOf(first) })
    const { values } = (await server.engine.readState(thread!))!
    expect(values.messages).toHaveLength(4)
  })

  test('gets structured content where the agent says what it gives', async () => {
    const { url } = await served({ adder: adder() })
    const client = await connect(url, kind)
    await client.list()
    const result = await client.call('adder', { a: 2, b: 3 })
    expect(result.structuredContent).toEqual({ sum: 5, threadId: threadOf(result) })
    expect(JSON.parse(result.content[0].text)).toEqual(result.structuredContent)
  })

  test('is told what is wrong in words for its model', async () => {
    const failing = defineAgent({ run: () => Promise.reject(new Error('secret')) })
    const { url } = await served({ chat: graph(), adder: adder(), failing })
    const client = await connect(url, kind)
    expect(await client.call('chat', { message: 7 })).toMatchObject({ isError: true })
    expect(await client.call('adder', { a: 'two' })).toMatchObject({ isError: true })
    expect(await client.call('chat', { message: 'hi', threadId: 'nobody has it' })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('does not exist') }],
    })
    const failed = await client.call('failing', { message: 'hi' })
    expect(failed.isError).toBe(true)
    expect(textOf(failed)).not.toContain('secret')
    await expect(client.call('nothing')).rejects.toThrow('There is no tool')
  })

  test('follows the progress of a call', async () => {
    const { url } = await served({ calculator: langgraph(calculator()) })
    const client = await connect(url, kind)
    const told: Json[] = []
    const result = await client.call(
      'calculator',
      { message: 'add' },
      { onprogress: (one: Json) => told.push(one) },
    )
    expect(result.content[0].text).toBe('It is five.')
    const values = told.map(({ progress }) => progress)
    expect(values).toEqual([...new Set(values)].sort((a, b) => a - b))
    expect(told.map(({ message }) => message)).toContain('Calls add')
  })

  test('without forms is asked in words, and answers with the second tool', async () => {
    const { url } = await served({ asks: asks() })
    const client = await connect(url, kind)
    const asked = await client.call('asks', { message: 'go' })
    expect(asked.isError).toBeFalsy()
    expect(textOf(asked)).toContain('Which colour?')
    const threadId = threadOf(asked)
    const repeated = await client.call('asks', { message: 'hello?', threadId })
    expect(repeated).toMatchObject({ isError: true })
    expect(textOf(repeated)).toContain('Which colour?')
    const answered = await client.call('answer_question', { threadId, answer: 'blue' })
    expect(answered.content[0].text).toBe('It is "blue".')
    expect(await client.call('answer_question', { threadId, answer: 'red' })).toMatchObject({ isError: true })
  })

  test('takes the question of an agent with an output schema', async () => {
    const { url } = await served({ picker: picker() })
    const client = await connect(url, kind)
    await client.list()
    const asked = await client.call('picker')
    expect(textOf(asked)).toContain('Which colour?')
    const answered = await client.call('answer_question', { threadId: threadOf(asked), answer: 'blue' })
    expect(answered.structuredContent).toMatchObject({ colour: 'blue' })
  })

  test('answers several questions one after the other', async () => {
    const { url } = await served({ asks: asksTwice() })
    const client = await connect(url, kind)
    const asked = await client.call('asks', { message: 'go' })
    const threadId = threadOf(asked)
    const [left, right] = [...textOf(asked).matchAll(/"questionId":"([^"]+)"/g)].map(([, id]) => id)
    expect(await client.call('answer_question', { threadId, answer: 'x' })).toMatchObject({ isError: true })
    const half = await client.call('answer_question', { threadId, questionId: left, answer: 'l' })
    expect(textOf(half)).toContain('Right?')
    expect(textOf(half)).not.toContain('Left?')
    const whole = await client.call('answer_question', { threadId, questionId: right, answer: 'r' })
    expect(whole.content[0].text).toBe('right r')
  })
})

describe.each(MODERN)('the client %s with forms', (kind) => {
  test.each([
    ['a function', asks],
    ['a graph', asksAsGraph],
  ])('fills in what %s asks for', async (_, agent) => {
    const { url, server } = await served({ asks: agent() })
    const seen: Json[] = []
    const client = await connect(url, kind, {
      fill: (asked) => {
        seen.push(asked)
        return { action: 'accept', content: { answer: 'blue' } }
      },
    })
    const result = await client.call('asks', { message: 'go' })
    expect(result.content[0].text).toBe('It is "blue".')
    expect(seen).toMatchObject([
      { message: 'Which colour?', schema: { properties: { answer: { type: 'string' } } } },
    ])
    expect(await server.engine.listRuns({ threadId: threadOf(result) })).toHaveLength(2)
  })

  test.each([
    [{ action: 'accept', content: { decision: 'approve' } }, 'Done.', '5'],
    [{ action: 'accept', content: { decision: 'edit', args: '{"a":4,"b":4}' } }, 'Done.', '8'],
    [{ action: 'accept', content: { decision: 'reject', message: 'no!' } }, 'Done.', 'no!'],
    [{ action: 'decline' }, 'Done.', 'rejected'],
  ])('decides on a call of a tool with %j', async (response, text, found) => {
    const { url, server } = await served({ supervised: langgraph(supervised()) })
    const client = await connect(url, kind, { fill: () => response })
    const result = await client.call('supervised', { message: 'go' })
    expect(result.content[0].text).toBe(text)
    const thread = await server.engine.findThread({ threadId: threadOf(result) })
    const { messages } = (await server.engine.readState(thread!))!.values as { messages: Json[] }
    const tool = messages.find(({ type }) => type === 'tool')
    expect(JSON.stringify(tool.content)).toContain(found)
  })

  test('that cancels leaves the question open', async () => {
    const { url, server } = await served({ asks: asks() })
    const client = await connect(url, kind, { fill: () => ({ action: 'cancel' }) })
    const result = await client.call('asks', { message: 'go' })
    expect(result).toMatchObject({ isError: true })
    expect(textOf(result)).toContain('cancelled')
    const found = await server.engine.findAnswer({ threadId: threadOf(result) })
    expect(found?.record.state).toBe('input-required')
  })

  test('fills in two forms at once', async () => {
    const { url } = await served({ asks: asksTwice() })
    const client = await connect(url, kind, {
      fill: ({ message }) => ({ action: 'accept', content: { answer: message } }),
    })
    expect(textOf(await client.call('asks', { message: 'go' }))).toContain('right Right?')
  })
})

test('a repeated answer starts no second run, and gives the result of the first', async () => {
  const at = await served({ asks: asks() })
  const asked = (await rpc(at, 'tools/call', { name: 'asks', arguments: { message: 'go' } })).result
  const [key] = Object.keys(asked.inputRequests)
  const answer = (value: string) =>
    rpc(at, 'tools/call', {
      name: 'asks',
      arguments: { message: 'go' },
      requestState: asked.requestState,
      inputResponses: { [key!]: { action: 'accept', content: { answer: value } } },
    })
  const first = (await answer('blue')).result
  const second = (await answer('red')).result
  expect([first, second].map(({ content }) => content[0].text)).toEqual(['It is "blue".', 'It is "blue".'])
  expect(await at.server.engine.listRuns({ threadId: threadOf(first) })).toHaveLength(2)
})

test.each([
  ['that was changed', (state: string) => `${state}x`],
  ['that is none', () => 'x'],
  ['that is of another thread', (state: string) => `t${state}`],
])('a state %s is refused, and nothing runs', async (_, change) => {
  const at = await served({ asks: asks() })
  const asked = (await rpc(at, 'tools/call', { name: 'asks', arguments: { message: 'go' } })).result
  const { error } = await rpc(at, 'tools/call', {
    name: 'asks',
    arguments: { message: 'go' },
    requestState: change(asked.requestState),
  })
  expect(error.code).toBe(-32602)
  const threads = []
  for await (const { status } of at.server.engine.listThreads()) threads.push(status)
  expect(threads).toEqual(['interrupted'])
})

test('an answer that does not fit its form is asked for again', async () => {
  const at = await served({ asks: asks() })
  const asked = (await rpc(at, 'tools/call', { name: 'asks', arguments: { message: 'go' } })).result
  const [key] = Object.keys(asked.inputRequests)
  const { requestState } = asked
  for (const response of [
    { action: 'accept', content: {} },
    { action: 'accept', content: { answer: 7 } },
    {},
    7,
  ]) {
    const again = await rpc(at, 'tools/call', {
      name: 'asks',
      arguments: { message: 'go' },
      requestState,
      inputResponses: { [key!]: response },
    })
    expect(again.result).toMatchObject({ resultType: 'input_required', requestState })
  }
})

test('the agents of a server are tools of a LangChain agent', async () => {
  const { url } = await served({ chat: echo(), adder: adder(), notes: notes() })
  const client = new MultiServerMCPClient({ mcpServers: { ours: { url: String(url), transport: 'http' } } })
  onTestFinished(() => client.close())
  const tools = await client.getTools()
  expect(tools.map(({ name }) => name)).toEqual(['chat', 'adder', 'notes', 'answer_question'])
  const [chat, add] = tools
  expect(JSON.stringify(await chat!.invoke({ message: 'hello' }))).toContain('You said: hello')
  expect(JSON.stringify(await add!.invoke({ a: 1, b: 2 }))).toContain('sum')
})

test('an option names the agents that are tools, and what they take', async () => {
  const { url } = await served(
    { one: graph(), two: adder() },
    { agents: ['one'], input: 'schema', threads: false, answers: false },
  )
  const client = await connect(url, 'auto')
  const tools = await client.list()
  expect(tools.map(({ name }) => name)).toEqual(['one'])
  // An annotation has the names of its channels, and no types.
  expect(tools[0].inputSchema).toEqual({
    type: 'object',
    properties: { messages: { type: ['string', 'number', 'boolean', 'object', 'array'] } },
  })
  const result = await client.call('one', { messages: [{ role: 'user', content: 'hello' }] })
  expect(textOf(result)).toBe('You said: hello')
  expect(await client.call('answer_question', {}).catch(String)).toContain('There is no tool')
})

test('ids that differ only in what no name may have are tools of different names', async () => {
  const { url } = await served({ 'a b': echo(), 'a/b': echo(), answer_question: echo() })
  const tools = await (await connect(url, 'auto')).list()
  expect(tools.map(({ name }) => name)).toEqual(['a_b', 'a_b_2', 'answer_question_2', 'answer_question'])
})
