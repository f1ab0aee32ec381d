import { randomUUID } from 'node:crypto'
import { MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import {
  createAgent,
  modelFallbackMiddleware,
  modelRetryMiddleware,
  summarizationMiddleware,
} from 'langchain'
import OpenAI from 'openai'
import { describe, expect, test } from 'vitest'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { aiSdk } from '../../src/faces/ai-sdk/index.ts'
import { openAi } from '../../src/faces/openai/index.ts'
import { openChat } from '../ai-sdk/clients.ts'
import { type Attempt, FlakyChatModel } from '../fixtures/flaky.ts'
import { request } from '../kit/client.ts'
import { dataOf, type Json } from '../kit/events.ts'
import { serveAgents } from '../kit/host.ts'

/** The answer is what the state keeps, whatever models have streamed. */

const MAIL = { id: 'call_mail', name: 'send_mail', args: { to: 'all' } }
const HALF: Attempt = { text: 'Half an ', calls: [MAIL], fails: true }
const WHOLE: Attempt = { text: 'The whole answer.' }

type State = typeof MessagesAnnotation.State
const says = (model: { invoke(messages: State['messages']): Promise<unknown> }) => async (state: State) => ({
  messages: [(await model.invoke(state.messages)) as State['messages'][number]],
})
const one = (node: (state: State) => Promise<Partial<State>>, options: object = {}) =>
  new StateGraph(MessagesAnnotation).addNode('model', node, options).addEdge(START, 'model').compile()

/** The graphs are made anew for each run, because their models count. */
const GRAPHS = {
  'a retry policy': () =>
    one(says(new FlakyChatModel(HALF, WHOLE)), { retryPolicy: { maxAttempts: 2, initialInterval: 1 } }),
  'a fallback': () => one(says(new FlakyChatModel(HALF).withFallbacks([new FlakyChatModel(WHOLE)]))),
  'the fallback middleware': () =>
    createAgent({
      model: new FlakyChatModel(HALF),
      tools: [],
      middleware: [modelFallbackMiddleware(new FlakyChatModel(WHOLE))],
    }),
  'the retry middleware': () =>
    createAgent({
      model: new FlakyChatModel(HALF, WHOLE),
      tools: [],
      middleware: [modelRetryMiddleware({ maxRetries: 1, initialDelayMs: 1 })],
    }),
  'a router': () => {
    const router = new FlakyChatModel({ text: '{"to": "model"}', calls: [MAIL] })
    return new StateGraph(MessagesAnnotation)
      .addNode('router', async ({ messages }) => {
        await router.invoke(messages)
        return {}
      })
      .addNode('model', says(new FlakyChatModel(WHOLE)))
      .addEdge(START, 'router')
      .addEdge('router', 'model')
      .compile()
  },
}
const fails = () => one(says(new FlakyChatModel(HALF)))
const calls = () => one(says(new FlakyChatModel({ text: 'I send it.', calls: [MAIL] })))

const TOOLS = [{ name: 'send_mail', description: 'Sends a mail.' }]

const functions = TOOLS.map((tool) => ({ type: 'function' as const, function: tool }))
async function serveOne(graph: () => object) {
  const host = await serveAgents({
    agents: { agent: langgraph(graph() as never) },
    faces: [openAi(), aiSdk({ clientTools: functions })],
  })
  const client = new OpenAI({ baseURL: `${host.origin}/v1`, apiKey: 'key', maxRetries: 0 })
  return { ...host, client }
}

const messages = [{ role: 'user' as const, content: 'hi' }]

describe.each(Object.entries(GRAPHS))('%s', (_, graph) => {
  test('a chat completion has the text of the state, and no call that is not in it', async () => {
    const { client } = await serveOne(graph)
    const { choices } = await client.chat.completions.create({ model: 'agent', messages, tools: functions })
    expect(choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'The whole answer.' } })
    expect(choices[0]!.message.tool_calls).toBeUndefined()
  })

  test('a streamed chat completion has no call that is not in the state', async () => {
    const { client } = await serveOne(graph)
    const stream = client.chat.completions.stream({ model: 'agent', messages, tools: functions })
    const { choices } = await stream.finalChatCompletion()
    expect(choices[0]!.finish_reason).toBe('stop')
    expect(choices[0]!.message.tool_calls ?? []).toEqual([])
    expect(choices[0]!.message.content).toMatch(/The whole answer\.$/)
  })

  test.each([false, true])('a response has one message, streamed: %s', async (stream) => {
    const { client } = await serveOne(graph)
    const params = {
      model: 'agent',
      input: 'hi',
      tools: functions.map(({ function: tool }) => ({
        type: 'function',
        strict: false,
        parameters: {},
        ...tool,
      })),
    }
    let response: Json = await client.responses.create({ ...params, stream } as never)
    if (stream)
      for await (const event of response as AsyncIterable<Json>) if (event.response) response = event.response
    expect(response).toMatchObject({ status: 'completed' })
    expect(response.output.map(({ type }: Json) => type)).toEqual(['message'])
    expect(response.output[0].content[0].text).toBe('The whole answer.')
  })

  test('a page of the AI SDK runs no call that is not in the state, and reads the same answer again', async () => {
    const { origin } = await serveOne(graph)
    const ran: string[] = []
    const onToolCall = ({ toolCall }: Json) => void ran.push(toolCall.toolName)
    const { chat } = openChat({ origin, body: { assistantId: 'agent' }, init: { onToolCall } })
    await chat.sendMessage({ text: 'hi' })
    expect(chat.error).toBeUndefined()
    expect(ran).toEqual([])
    expect((chat.lastMessage!.parts as readonly Json[]).findLast(({ type }) => type === 'text').text).toBe(
      'The whole answer.',
    )
    const { body } = await request(origin, 'GET', '/api/chat/chat-1')
    const told = (body.messages ?? body).at(-1).parts.filter(({ type }: Json) => type === 'text')
    expect(told.map(({ text }: Json) => text)).toEqual(['The whole answer.'])
  })

  test('each message of the protocol ends', async () => {
    const { thread } = await serveOne(graph)
    const client = thread()
    await client.start({ messages }, { assistant_id: 'agent' })
    const events = await client.transcript()
    const told = dataOf(events, 'messages').map(({ event }) => event)
    const starts = told.filter((event) => event === 'message-start')
    expect(starts).toHaveLength(2)
    expect(told.filter((event) => event === 'message-finish' || event === 'error')).toHaveLength(2)
    // The same for a client that comes later.
    const later = dataOf(await client.transcript(), 'messages').map(({ event }) => event)
    expect(later).toEqual(told)
  })
})

test('a run that fails gives out no call', async () => {
  const { origin, client } = await serveOne(fails)
  const ran: string[] = []
  const onToolCall = ({ toolCall }: Json) => void ran.push(toolCall.toolName)
  const { chat } = openChat({ origin, body: { assistantId: 'agent' }, init: { onToolCall } })
  await chat.sendMessage({ text: 'hi' })
  expect(chat.error?.message).toContain('the model is overloaded')
  expect(ran).toEqual([])
  const stream = client.chat.completions.stream({ model: 'agent', messages, tools: functions })
  let seen = ''
  stream.on('chunk', (chunk) => void (seen += JSON.stringify(chunk)))
  await expect(stream.finalChatCompletion()).rejects.toThrow()
  expect(seen).not.toContain('tool_calls":[')
})

test('a call that the state keeps is given out once', async () => {
  const { origin, client } = await serveOne(calls)
  const ran: string[] = []
  const onToolCall = ({ toolCall }: Json) => void ran.push(toolCall.toolCallId)
  const { chat } = openChat({
    origin,
    id: randomUUID(),
    body: { assistantId: 'agent' },
    init: { onToolCall },
  })
  await chat.sendMessage({ text: 'hi' })
  expect(ran).toEqual(['call_mail'])
  const { choices } = await client.chat.completions.create({ model: 'agent', messages, tools: functions })
  expect(choices[0]).toMatchObject({
    finish_reason: 'tool_calls',
    message: { content: 'I send it.', tool_calls: [{ id: 'call_mail' }] },
  })
})

test('a summary of earlier messages is no message of the user', async () => {
  const { origin, server } = await serveOne(() =>
    createAgent({
      model: new FlakyChatModel(WHOLE),
      tools: [],
      middleware: [
        summarizationMiddleware({
          model: new FlakyChatModel({ text: 'They talked.' }),
          trigger: { messages: 4 },
          keep: { messages: 2 },
        }),
      ],
    }),
  )
  const { chat } = openChat({ origin, body: { assistantId: 'agent' } })
  for (const text of ['one', 'two', 'three']) await chat.sendMessage({ text })
  expect(chat.error).toBeUndefined()
  const state = await server.engine.readState((await server.engine.findThread({ threadId: 'chat-1' }))!)
  expect(JSON.stringify(state!.values.messages)).toContain('They talked.')
  const { body } = await request(origin, 'GET', '/api/chat/chat-1')
  expect(JSON.stringify(body)).not.toContain('They talked.')
  expect(body.at(-1).parts.at(-1).text).toBe('The whole answer.')
})
