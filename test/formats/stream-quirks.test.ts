import { describe, expect, test } from 'vitest'
import {
  anthropicMessages,
  bedrockConverse,
  cohere,
  type Format,
  gemini,
  geminiInteractions,
  generic,
  langchain,
  ollama,
  openaiChat,
  openaiResponses,
  vercel,
} from '../../src/models/formats/index.ts'
import { streamed, whole } from './helpers.ts'

/** Streams as servers of the providers' shapes really send them, apart from what the providers document. */

const chat = (delta: object, others: object = {}) => ({ choices: [{ index: 0, delta }], ...others })
const piece = (call: object) => chat({ tool_calls: [call] })
const contentOf = (format: Format, chunks: readonly object[]) => streamed(format, chunks).messages[0]!.content

describe('pieces of calls', () => {
  const made = (...calls: object[]) => contentOf(openaiChat, calls.map(piece))

  test('a new id with each piece of one call, which only names it in the first, goes on with the call', () => {
    expect(
      made(
        { index: 0, id: 'a', function: { name: 'f', arguments: '' } },
        { index: 0, id: 'b', function: { arguments: '{"x"' } },
        { index: 0, id: 'c', function: { arguments: ':1}' } },
      ),
    ).toEqual([{ type: 'toolCall', id: 'a', name: 'f', args: { x: 1 } }])
  })

  test('a new id with a name is a new call at the same index', () => {
    expect(
      made(
        { index: 0, id: 'a', function: { name: 'f', arguments: '{}' } },
        { index: 0, id: 'b', function: { name: 'f', arguments: '{"x":1}' } },
      ),
    ).toMatchObject([{ id: 'a' }, { id: 'b', args: { x: 1 } }])
  })

  test('a name comes in pieces before the arguments', () => {
    expect(
      made(
        { index: 0, id: 'a', function: { name: 'get_' } },
        { index: 0, function: { name: 'wea' } },
        { index: 0, id: 'a', function: { name: 'ther', arguments: '' } },
        { index: 0, function: { arguments: '{}' } },
      ),
    ).toEqual([{ type: 'toolCall', id: 'a', name: 'get_weather', args: {} }])
  })

  test('a repeated name is not the rest of a name', () => {
    expect(
      made(
        { index: 0, id: 'a', function: { name: 'f', arguments: '' } },
        { index: 0, id: 'a', function: { name: 'f', arguments: '{}' } },
      ),
    ).toMatchObject([{ id: 'a', name: 'f' }])
  })

  test('a missing index is place 0, as servers that leave out zeros send it', () => {
    expect(
      made(
        { id: 'a', function: { name: 'f' } },
        { index: 1, id: 'b', function: { name: 'g' } },
        { function: { arguments: '{"x":1}' } },
        { index: 1, function: { arguments: '{"y":1}' } },
      ),
    ).toMatchObject([
      { id: 'a', args: { x: 1 } },
      { id: 'b', args: { y: 1 } },
    ])
  })

  test('one id at two indexes is two calls', () => {
    expect(
      made(
        { index: 0, id: 'f:0', function: { name: 'f', arguments: '{"x":1}' } },
        { index: 1, id: 'f:0', function: { name: 'f', arguments: '{"x":2}' } },
      ),
    ).toMatchObject([{ args: { x: 1 } }, { args: { x: 2 } }])
  })

  test('Ollama sends complete calls, which may share an id', () => {
    const call = (x: number) => ({
      message: { tool_calls: [{ id: 'c', function: { name: 'f', arguments: { x } } }] },
    })
    expect(
      contentOf(ollama, [
        { ...call(1), done: false },
        { ...call(2), done: true },
      ]),
    ).toMatchObject([{ args: { x: 1 } }, { args: { x: 2 } }])
  })

  test('indexes that are left out are 0 in Anthropic and Bedrock streams', () => {
    expect(
      contentOf(anthropicMessages, [
        { type: 'content_block_start', content_block: { type: 'tool_use', id: 'a', name: 'f', input: {} } },
        { type: 'content_block_delta', delta: { type: 'input_json_delta', partial_json: '{"x"' } },
        { type: 'content_block_delta', delta: { type: 'input_json_delta', partial_json: ':1}' } },
        { type: 'content_block_stop' },
      ]),
    ).toEqual([{ type: 'toolCall', id: 'a', name: 'f', args: { x: 1 } }])
    expect(
      contentOf(bedrockConverse, [
        { contentBlockStart: { start: { toolUse: { toolUseId: 'a', name: 'f' } } } },
        { contentBlockDelta: { delta: { toolUse: { input: '{"x"' } } } },
        { contentBlockDelta: { delta: { toolUse: { input: ':1}' } } } },
        { contentBlockStop: {} },
      ]),
    ).toEqual([{ type: 'toolCall', id: 'a', name: 'f', args: { x: 1 } }])
    expect(
      contentOf(geminiInteractions, [
        { event_type: 'step.start', step: { type: 'function_call', id: 'a', name: 'f' } },
        { event_type: 'step.delta', delta: { type: 'arguments_delta', arguments: '{"x"' } },
        { event_type: 'step.delta', delta: { type: 'arguments_delta', arguments: ':1}' } },
      ]),
    ).toEqual([{ type: 'toolCall', id: 'a', name: 'f', args: { x: 1 } }])
  })
})

describe('Responses without output_index', () => {
  const message = {
    type: 'message',
    id: 'msg_1',
    role: 'assistant',
    content: [{ type: 'output_text', text: 'Hi' }],
  }
  const thought = {
    type: 'reasoning',
    id: 'rs_1',
    summary: [],
    content: [{ type: 'reasoning_text', text: 'Hm' }],
  }
  // llama.cpp gives calls no `id`, and names them by their `call_id`.
  const call = (id: string, args = '') => ({ type: 'function_call', call_id: id, name: 'f', arguments: args })
  const at = <Fields extends object>(type: string, fields: Fields) => ({
    type: `response.${type}`,
    ...fields,
  })
  const events = [
    at('created', { response: { id: 'resp_1', status: 'in_progress' } }),
    at('output_item.added', { item: { ...thought, content: [] } }),
    at('reasoning_text.delta', { item_id: 'rs_1', delta: 'Hm' }),
    at('output_item.added', { item: { ...message, content: [] } }),
    at('content_part.added', { item_id: 'msg_1', part: { type: 'output_text', text: '' } }),
    at('output_text.delta', { item_id: 'msg_1', delta: 'H' }),
    at('output_text.delta', { item_id: 'msg_1', delta: 'i' }),
    at('output_item.added', { item: call('fc_a') }),
    at('output_item.added', { item: call('fc_b') }),
    at('function_call_arguments.delta', { item_id: 'fc_b', delta: '{"b":' }),
    at('function_call_arguments.delta', { item_id: 'fc_a', delta: '{"a":1}' }),
    at('function_call_arguments.delta', { item_id: 'fc_b', delta: '1}' }),
  ]
  const done = [
    at('output_text.done', { item_id: 'msg_1', text: 'Hi' }),
    ...[thought, message, call('fc_a', '{"a":1}'), call('fc_b', '{"b":1}')].map((item) =>
      at('output_item.done', { item }),
    ),
  ]
  const output = [thought, message, call('fc_a', '{"a":1}'), call('fc_b', '{"b":1}')]
  const end = at('completed', { response: { id: 'resp_1', status: 'completed', output } })
  const expected = [
    { type: 'reasoning', text: 'Hm' },
    { type: 'text', text: 'Hi' },
    { type: 'toolCall', id: 'fc_a', args: { a: 1 } },
    { type: 'toolCall', id: 'fc_b', args: { b: 1 } },
  ]

  test.each([
    ['all events', [...events, ...done, end]],
    ['no items at their end', [...events, end]],
    ['no response at the end', [...events, ...done]],
    ['only pieces', events],
  ])('everything comes once: %s', (_, all) => {
    const { content } = streamed(openaiResponses, all).messages[0]!
    expect(content).toHaveLength(4)
    expect(content).toMatchObject(expected)
  })

  test('the order of the final output is not that of the stream', () => {
    const last = { ...end, response: { ...end.response, output: output.toReversed() } }
    expect(contentOf(openaiResponses, [...events, ...done, last])).toMatchObject(expected)
  })

  test('pieces without any id belong to the message', () => {
    expect(
      contentOf(openaiResponses, [
        at('output_text.delta', { delta: 'Hi' }),
        at('output_item.added', { item: { ...call('c'), id: 'c' } }),
        at('function_call_arguments.delta', { item_id: 'c', delta: '{}' }),
        at('output_item.done', { item: { ...call('c', '{}'), id: 'c' } }),
        at('output_item.done', { item: { ...message, id: undefined } }),
      ]),
    ).toMatchObject([
      { type: 'text', text: 'Hi' },
      { type: 'toolCall', id: 'c' },
    ])
  })
})

describe('usage', () => {
  const zeros = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }
  const counts = { inputTokens: 9, outputTokens: 4, totalTokens: 13 }

  /** The chunks of each format that report 9 input and 4 output tokens, and those that report nothing after. */
  const reports: readonly (readonly [Format, readonly object[], readonly object[]])[] = [
    [
      openaiChat,
      [chat({ content: 'a' }, { usage: { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 } })],
      [chat({}, { usage: {} }), chat({}, { usage: zeros })],
    ],
    [
      anthropicMessages,
      [
        { type: 'message_start', message: { usage: { input_tokens: 9, output_tokens: 1 } } },
        { type: 'message_delta', delta: {}, usage: { output_tokens: 4 } },
      ],
      [
        { type: 'message_delta', delta: {}, usage: { input_tokens: 0, output_tokens: 0 } },
        { type: 'message_delta', delta: {}, usage: {} },
      ],
    ],
    [
      openaiResponses,
      [
        {
          type: 'response.completed',
          response: { status: 'completed', usage: { input_tokens: 9, output_tokens: 4 } },
        },
      ],
      [{ type: 'response.completed', response: { status: 'completed', usage: {} } }],
    ],
    [
      gemini,
      [{ usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 4 } }],
      [{ usageMetadata: { promptTokenCount: 0, candidatesTokenCount: 0 } }, { usageMetadata: {} }],
    ],
    [
      geminiInteractions,
      [{ event_type: 'interaction.complete', usage: { total_input_tokens: 9, total_output_tokens: 4 } }],
      [{ event_type: 'interaction.complete', usage: { total_input_tokens: 0 } }],
    ],
    [
      bedrockConverse,
      [{ metadata: { usage: { inputTokens: 9, outputTokens: 4 } } }],
      [{ metadata: { usage: { inputTokens: 0, outputTokens: 0 } } }, { metadata: { usage: {} } }],
    ],
    [
      cohere,
      [{ type: 'message-end', delta: { usage: { tokens: { input_tokens: 9, output_tokens: 4 } } } }],
      [{ type: 'message-end', delta: { usage: { tokens: { input_tokens: 0, output_tokens: 0 } } } }],
    ],
    [
      ollama,
      [{ message: { content: 'a' }, prompt_eval_count: 9, eval_count: 4, done: true }],
      [{ message: { content: '' }, prompt_eval_count: 0, eval_count: 0, done: true }],
    ],
    [
      generic,
      [{ role: 'assistant', content: 'a', usage: { input_tokens: 9, output_tokens: 4 } }],
      [{ role: 'assistant', content: '', usage: { input_tokens: 0, output_tokens: 0 } }],
    ],
    [
      vercel,
      [{ type: 'finish', finishReason: 'stop', usage: { inputTokens: 9, outputTokens: 4 } }],
      [{ type: 'finish', finishReason: 'stop', usage: {} }],
    ],
  ]

  test.each(reports)(
    'totals only grow, and a usage without counts changes nothing: $name',
    (format, chunks, empty) => {
      for (const after of [[], empty, [...empty, ...empty]])
        expect(streamed(format, [...chunks, ...after]).messages[0]!.usage).toMatchObject(counts)
    },
  )

  test.each(reports)('a usage without counts alone is none or zero: $name', (format, _, empty) => {
    const { usage } = streamed(format, empty.slice(-1)).messages[0]!
    expect(usage?.totalTokens ?? 0).toBe(0)
  })

  test('LangChain repeats the cached tokens of Anthropic with an input of 0', () => {
    const part = (usage_metadata: object) => ({
      type: 'AIMessageChunk',
      content: '',
      usage_metadata,
      tool_call_chunks: [],
      response_metadata: { model_provider: 'anthropic' },
    })
    const cached = { input_token_details: { cache_read: 100 } }
    expect(
      streamed(langchain, [
        part({ input_tokens: 110, output_tokens: 1, total_tokens: 111, ...cached }),
        part({ input_tokens: 0, output_tokens: 40, total_tokens: 40, ...cached }),
      ]).messages[0]!.usage,
    ).toEqual({ inputTokens: 110, outputTokens: 40, totalTokens: 150, inputDetails: { cache_read: 100 } })
  })

  test('with a key of one’s own, the cost at OpenRouter is its fee and the cost of the provider', () => {
    const cost = (usage: object) =>
      whole(openaiChat, {
        choices: [{ message: { content: 'a' } }],
        usage: { prompt_tokens: 1, completion_tokens: 1, ...usage },
      }).messages[0]!.usage?.totalCost
    const cost_details = { upstream_inference_cost: 0.02 }
    expect(cost({ cost: 0, is_byok: true, cost_details })).toBe(0.02)
    expect(cost({ cost: 0.001, is_byok: true, cost_details })).toBe(0.021)
    expect(cost({ cost: 0.02, is_byok: false, cost_details })).toBe(0.02)
  })
})

test('an error in x_groq is the failure of the call', () => {
  const { error, messages } = streamed(openaiChat, [
    chat({ content: 'a' }),
    chat({}, { x_groq: { id: 'r', error: 'The model has failed.' } }),
  ])
  expect(error).toMatchObject({ message: 'The model has failed.' })
  expect(messages[0]!.finishReason).toBe('error')
})

test('`content: null` is no content in the requests of every format', () => {
  const assistant = { role: 'assistant', content: null }
  for (const format of [
    openaiChat,
    anthropicMessages,
    vercel,
    cohere,
    ollama,
    generic,
    langchain,
    bedrockConverse,
  ])
    for (const { content } of format.readRequest({ messages: [assistant, { ...assistant, type: 'ai' }] })
      .messages)
      expect(content, format.name).toEqual([])
  expect(
    openaiResponses.readRequest({ input: [assistant] }).messages.flatMap(({ content }) => content),
  ).toEqual([])
  expect(
    gemini
      .readRequest({ contents: [{ role: 'model', parts: null }] })
      .messages.flatMap(({ content }) => content),
  ).toEqual([])
})
