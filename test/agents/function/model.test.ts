import { Client } from '@langchain/langgraph-sdk'
import { StreamController } from '@langchain/langgraph-sdk/stream'
import { expect, onTestFinished, test } from 'vitest'
import { defineAgent } from '../../../src/agents/function/define-agent.ts'
import type { Message } from '../../../src/messages/index.ts'
import type { AgentEvent } from '../../../src/messages/thread-events/index.ts'
import { anthropicMessages, gemini, openaiChat } from '../../../src/models/formats/index.ts'
import { memorySink, startLlmRun } from '../../../src/models/tracing/index.ts'
import { frozen } from '../../formats/helpers.ts'
import { serveAgents } from '../../kit/host.ts'
import { untilStore } from '../../kit/stream-store.ts'
import { answers, input, newThread, run, stateOf, taskOf } from '../run.ts'

const delta = (delta: object, finish_reason: string | null = null) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  model: 'gpt-4o',
  choices: [{ index: 0, delta, finish_reason }],
})
const chat = frozen([
  delta({ role: 'assistant', content: '' }),
  ...['Two ', 'sums', '.'].map((content) => delta({ content })),
  delta({
    tool_calls: [{ index: 0, id: 'call_a', type: 'function', function: { name: 'add', arguments: '' } }],
  }),
  delta({ tool_calls: [{ index: 0, function: { arguments: '{"a":1,' } }] }),
  delta({
    tool_calls: [{ index: 1, id: 'call_b', type: 'function', function: { name: 'add', arguments: '{' } }],
  }),
  delta({ tool_calls: [{ index: 0, function: { arguments: '"b":2}' } }] }),
  delta({ tool_calls: [{ index: 1, function: { arguments: '"a":3,"b":4}' } }] }),
  delta({}, 'tool_calls'),
  {
    id: 'chatcmpl-1',
    choices: [],
    usage: { prompt_tokens: 9, completion_tokens: 4, prompt_tokens_details: { cached_tokens: 5 } },
  },
])
const thought = frozen([
  {
    type: 'message_start',
    message: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude',
      content: [],
      usage: { input_tokens: 4, output_tokens: 1 },
    },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: '', signature: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'Easy: ' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: '3 and 7.' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'sig' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: '3 and ' } },
  { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: '7.' } },
  { type: 'content_block_stop', index: 1 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 8 } },
  { type: 'message_stop' },
])

async function* from(chunks: readonly unknown[]) {
  yield* chunks
}

const streamOf = (chunks: readonly unknown[]) =>
  new ReadableStream<unknown>({
    start(to) {
      for (const chunk of chunks) to.enqueue(chunk)
      to.close()
    },
  })

const calls = ({ content }: Message) => content.flatMap((block) => (block.type === 'toolCall' ? [block] : []))

const adder = (replies: Message[]) =>
  defineAgent({
    async run({ model, tool }) {
      const first = await model(from(chat), openaiChat)
      replies.push(first)
      for (const { id, name, args } of calls(first))
        await tool(name, args, () => Number(args.a) + Number(args.b), { toolCallId: id! })
      replies.push(await model(from(thought), anthropicMessages))
    },
  })

test('a model call gives the message with its tool calls, reasoning and usage', async () => {
  const replies: Message[] = []
  const thread = newThread()
  const agent = adder(replies)
  const events = await run(agent, thread, input({ messages: [{ role: 'user', content: 'add' }] }))
  const [first, second] = replies
  expect(first!.content).toEqual([
    { type: 'text', text: 'Two sums.' },
    { type: 'toolCall', id: 'call_a', name: 'add', args: { a: 1, b: 2 } },
    { type: 'toolCall', id: 'call_b', name: 'add', args: { a: 3, b: 4 } },
  ])
  expect(first).toMatchObject({
    finishReason: 'toolCalls',
    usage: { inputTokens: 9, outputTokens: 4, totalTokens: 13, inputDetails: { cache_read: 5 } },
    metadata: { id: 'chatcmpl-1', model: 'gpt-4o' },
  })
  expect(second).toMatchObject({
    content: [
      { type: 'reasoning', text: 'Easy: 3 and 7.', extras: { signature: 'sig' } },
      { type: 'text', text: '3 and 7.' },
    ],
    finishReason: 'stop',
    usage: { inputTokens: 4, outputTokens: 8, totalTokens: 12 },
  })
  const { values } = await stateOf(agent, thread)
  const messages = (values as { messages: { type: string; id: string; usage_metadata?: object }[] }).messages
  expect(messages.map(({ type }) => type)).toEqual(['human', 'ai', 'tool', 'tool', 'ai'])
  expect(messages[1]).toMatchObject({ id: first!.id, usage_metadata: { input_tokens: 9, total_tokens: 13 } })
  const sent = events
    .filter(({ method }) => method === 'messages')
    .map(({ data }) => data as { event: string })
  expect(sent.filter(({ event }) => event === 'message-start')).toHaveLength(2)
  expect(sent.filter(({ event }) => event === 'message-finish')).toHaveLength(2)
})

test("LangGraph's client shows tokens while they stream", async () => {
  let more = () => {}
  const agent = defineAgent({
    async run({ model }) {
      await model(
        (async function* () {
          for (const [at, chunk] of thought.entries()) {
            if (at === 3 || at === 8) await new Promise<void>((resolve) => (more = resolve))
            yield chunk
          }
        })(),
        anthropicMessages,
      )
    },
  })
  const { origin } = await serveAgents({ agents: { agent }, authenticate: () => ({ id: 'me' }) })
  const client = new Client({ apiUrl: origin, callerOptions: { maxRetries: 0 } })
  const controller = new StreamController({ assistantId: 'agent', client, threadId: 'tokens' })
  onTestFinished(() => controller.dispose())
  await controller.hydrate('tokens')
  void controller.submit({ messages: [{ type: 'human', content: 'add', id: crypto.randomUUID() }] })
  const seen = (text: string) =>
    untilStore(controller.rootStore, ({ messages }) =>
      JSON.stringify(messages.at(-1)?.content ?? '').includes(text),
    )
  await seen('Easy: ')
  more()
  const half = await seen('3 and ')
  expect(JSON.stringify(half.messages.at(-1)!.content)).toContain('Easy: 3 and 7.')
  more()
  const done = await untilStore(
    controller.rootStore,
    ({ isLoading, messages }) => !isLoading && messages.length === 2,
  )
  expect(done.messages.at(-1)!.text).toBe('3 and 7.')
  expect(done.messages.at(-1)).toMatchObject({ usage_metadata: { input_tokens: 4, output_tokens: 8 } })
})

test('tool calls without ids get ids that stay the same', async () => {
  const chunks = [
    {
      candidates: [
        {
          content: {
            role: 'model',
            parts: [
              { functionCall: { name: 'f', args: { x: 1 } } },
              { functionCall: { name: 'g', args: {} } },
            ],
          },
          finishReason: 'STOP',
        },
      ],
    },
  ]
  let reply: Message | undefined
  const agent = defineAgent({
    async run({ model, tool }) {
      reply = await model(streamOf(chunks), gemini)
      for (const { id, name, args } of calls(reply)) await tool(name, args, () => 'ok', { toolCallId: id! })
    },
  })
  const thread = newThread()
  await run(agent, thread, input({}))
  const ids = calls(reply!).map(({ id }) => id)
  expect(new Set(ids).size).toBe(2)
  for (const id of ids) expect(id).toBeTypeOf('string')
  const { values } = await stateOf(agent, thread)
  const { messages } = values as {
    messages: { type: string; tool_call_id?: string; tool_calls?: { id: string }[] }[]
  }
  expect(messages.map(({ type }) => type)).toEqual(['ai', 'tool', 'tool'])
  expect(messages[0]!.tool_calls!.map(({ id }) => id)).toEqual(ids)
})

test('a message from before an interrupt is not sent again, and parallel messages have different nodes', async () => {
  const agent = defineAgent({
    async run({ model, interrupt }) {
      await Promise.all([model(from(thought), anthropicMessages), model(from(chat), openaiChat)])
      await interrupt('Sure?')
      await model(from(thought), anthropicMessages)
    },
  })
  const thread = newThread()
  const starts = (events: readonly AgentEvent[]) =>
    events.filter(({ data }) => (data as { event?: string }).event === 'message-start')
  const asking = await run(agent, thread, input({}))
  expect(new Set(starts(asking).map(({ node }) => node)).size).toBe(2)
  const question = asking.find(({ method }) => method === 'input.requested')!
  const { interrupt_id } = question.data as { interrupt_id: string }
  const resumed = await run(agent, thread, answers({ [interrupt_id]: 'yes' }))
  expect(starts(resumed)).toHaveLength(1)
  const { values } = await stateOf(agent, thread)
  expect((values as { messages: unknown[] }).messages).toHaveLength(3)
})

test('the model call is traced', async () => {
  const sink = memorySink()
  const request = { model: 'gpt-4o', messages: [{ role: 'user', content: 'add' }] }
  const agent = defineAgent({
    async run({ model }) {
      const traced = startLlmRun({ name: 'model', request, sinks: [sink] })
      await model(from(chat), openaiChat, { run: traced })
      await traced.delivered()
    },
  })
  await run(agent, newThread(), input({}))
  expect(sink.runs).toHaveLength(1)
  expect(sink.runs[0]).toMatchObject({
    inputs: { messages: [{ role: 'user' }] },
    outputs: { messages: [{ content: [{ text: 'Two sums.' }, { id: 'call_a' }, { id: 'call_b' }] }] },
    events: [{ name: 'new_token' }],
    extra: { metadata: { usage_metadata: { input_tokens: 9 } } },
  })
})

test('a stream that fails rejects, is shown as an error, and adds nothing to the state', async () => {
  const failure = new Error('broken pipe')
  let caught: unknown
  const sink = memorySink()
  const agent = defineAgent({
    async run({ model, message }) {
      const broken = (async function* () {
        yield* chat.slice(0, 3)
        throw failure
      })()
      const traced = startLlmRun({ name: 'model', sinks: [sink] })
      await model(broken, openaiChat, { run: traced }).catch((error: unknown) => (caught = error))
      await message('Sorry.')
    },
  })
  const thread = newThread()
  const events = await run(agent, thread, input({}))
  expect(caught).toBe(failure)
  const sent = events
    .filter(({ method }) => method === 'messages')
    .map(({ data }) => data as { event: string })
  const last = sent.findIndex(({ event }) => event === 'error')
  expect(sent[last]).toEqual({ event: 'error', message: 'broken pipe' })
  expect(sent[last + 1]).toMatchObject({ event: 'message-start' })
  const { values } = await stateOf(agent, thread)
  expect(values).toMatchObject({ messages: [{ type: 'ai', content: 'Sorry.' }] })
  await expect.poll(() => sink.runs[0]?.error).toBe('broken pipe')
  expect(JSON.stringify(sink.runs[0]!.outputs)).toContain('Two ')
})

test('an error that the provider reports in its stream rejects with model_failed', async () => {
  const agent = defineAgent({
    async run({ model }) {
      const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }
      await model(from([...thought.slice(0, 4), error]), anthropicMessages)
    },
  })
  const thread = newThread()
  await expect(run(agent, thread, input({}))).rejects.toMatchObject({
    code: 'model_failed',
    message: 'Overloaded',
  })
})

test('a model call that fails before its stream begins rejects with its error', async () => {
  const agent = defineAgent({
    async run({ model }) {
      await model(Promise.reject(new Error('401')), openaiChat)
    },
  })
  await expect(run(agent, newThread(), input({}))).rejects.toThrow('401')
})

test('a cancelled run cancels the stream of the model', async () => {
  const stop = new AbortController()
  let left = false
  let pulled = 0
  const endless = new ReadableStream({
    pull: (to) => (pulled++ < 3 ? to.enqueue(delta({ content: 'x' })) : new Promise(() => {})),
    cancel() {
      left = true
    },
  })
  const sink = memorySink()
  const agent = defineAgent({
    async run({ model }) {
      await model(endless, openaiChat, { run: startLlmRun({ name: 'model', sinks: [sink] }) })
    },
  })
  const events = agent.stream(taskOf(newThread(), input({}), { signal: stop.signal }))
  await expect(
    (async () => {
      for await (const { data } of events)
        if ((data as { event?: string }).event === 'content-block-delta' && pulled >= 3) stop.abort()
    })(),
  ).rejects.toThrow()
  await expect.poll(() => left).toBe(true)
  await expect.poll(() => sink.runs[0]?.error).toBe('Cancelled.')
})
