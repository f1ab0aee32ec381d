import { expect, test } from 'vitest'
import { detectFormat, formats, openaiChat } from '../../src/models/formats/index.ts'
import { streamed, whole } from './helpers.ts'

const chunk = (delta: object, of: object = {}, others: object = {}) => ({
  id: 'c',
  object: 'chat.completion.chunk',
  model: 'm',
  choices: [{ index: 0, delta, ...of }],
  ...others,
})
const read = (...chunks: object[]) => streamed(openaiChat, chunks).messages[0]!

test('DeepSeek sends thoughts beside an empty content', () => {
  const { content, usage } = read(
    chunk({ role: 'assistant', content: null, reasoning_content: '' }),
    chunk({ content: null, reasoning_content: 'H' }),
    chunk({ content: null, reasoning_content: 'm' }),
    chunk({ content: 'Hi', reasoning_content: null }),
    chunk(
      { content: '' },
      { finish_reason: 'stop' },
      {
        usage: {
          prompt_tokens: 10,
          completion_tokens: 5,
          total_tokens: 15,
          prompt_tokens_details: { cached_tokens: 4 },
          prompt_cache_hit_tokens: 4,
          prompt_cache_miss_tokens: 6,
          completion_tokens_details: { reasoning_tokens: 3 },
        },
      },
    ),
  )
  expect(content).toEqual([
    { type: 'reasoning', text: 'Hm', extras: { field: 'reasoning_content' } },
    { type: 'text', text: 'Hi' },
  ])
  expect(usage).toMatchObject({ inputDetails: { cache_read: 4 }, outputDetails: { reasoning: 3 } })
})

test('Groq sends the tools it ran in pieces with an index, and the counts in x_groq', () => {
  const { metadata, usage } = read(
    chunk({ role: 'assistant', reasoning: 'Look it up.' }),
    chunk({ executed_tools: [{ index: 0, type: 'search', arguments: '{"q":1}' }] }),
    chunk({ executed_tools: [{ index: 0, output: 'found' }] }),
    chunk({ content: 'Hi' }),
    chunk(
      {},
      { finish_reason: 'stop' },
      { x_groq: { id: 'r', usage: { prompt_tokens: 1, completion_tokens: 2 } } },
    ),
  )
  expect(metadata!.executed_tools).toEqual([
    { index: 0, type: 'search', arguments: '{"q":1}', output: 'found' },
  ])
  expect(usage).toEqual({ inputTokens: 1, outputTokens: 2, totalTokens: 3 })
})

test('vLLM sends the same thoughts under two names, of which one may be empty', () => {
  for (const [field, message] of [
    ['reasoning_content', { content: 'Hi', reasoning: 'Hm', reasoning_content: 'Hm' }],
    ['reasoning', { content: 'Hi', reasoning: 'Hm', reasoning_content: '' }],
    ['reasoning_content', { content: 'Hi', reasoning: null, reasoning_content: 'Hm' }],
  ] as const)
    expect(whole(openaiChat, { choices: [{ index: 0, message }] }).messages[0]!.content).toEqual([
      { type: 'reasoning', text: 'Hm', extras: { field } },
      { type: 'text', text: 'Hi' },
    ])
})

test('Perplexity sends the message so far beside each delta, and an empty delta beside the whole message', () => {
  const message = (content: string) => ({ message: { role: 'assistant', content } })
  const sources = { citations: ['https://a'], search_results: [{ title: 'A', url: 'https://a' }] }
  const chunks = [
    chunk({ role: 'assistant', content: 'Hel' }, message('Hel'), sources),
    chunk({ content: 'lo' }, message('Hello'), sources),
    chunk(
      { content: '' },
      { ...message('Hello'), finish_reason: 'stop' },
      {
        ...sources,
        usage: { prompt_tokens: 1, completion_tokens: 2, cost: { total_cost: 0.5 } },
      },
    ),
  ]
  for (const one of chunks) expect(openaiChat.detect(one)).toBe('chunk')
  const { content, usage, metadata } = read(...chunks)
  expect(content).toEqual([{ type: 'text', text: 'Hello' }])
  expect(usage!.totalCost).toBe(0.5)
  expect(metadata).toMatchObject(sources)
  const response = {
    object: 'chat.completion',
    choices: [
      { index: 0, ...message('Hello'), delta: { role: 'assistant', content: '' }, finish_reason: 'stop' },
    ],
  }
  expect(openaiChat.detect(response)).toBe('response')
  expect(whole(openaiChat, response).messages[0]!.content).toEqual([{ type: 'text', text: 'Hello' }])
})

test('Moonshot sends the counts inside the choice', () => {
  const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5, cached_tokens: 1 }
  expect(read(chunk({ content: 'a' }), chunk({}, { finish_reason: 'stop', usage })).usage).toEqual({
    inputTokens: 3,
    outputTokens: 2,
    totalTokens: 5,
    inputDetails: { cache_read: 1 },
  })
})

test('Moonshot sends calls without an index, so their place tells them apart', () => {
  const call = (id: string, name: string) => ({ id, type: 'function', function: { name, arguments: '' } })
  const args = (text: string) => ({ function: { arguments: text } })
  expect(
    read(
      chunk({ tool_calls: [call('a', 'f'), call('b', 'g')] }),
      chunk({ tool_calls: [args('{"x":'), args('{"y":')] }),
      chunk({ tool_calls: [args('1}'), args('2}')] }),
      chunk({ tool_calls: [call('c', 'f')] }),
      chunk({ tool_calls: [args('{}')] }),
    ).content,
  ).toEqual([
    { type: 'toolCall', id: 'a', name: 'f', args: { x: 1 } },
    { type: 'toolCall', id: 'b', name: 'g', args: { y: 2 } },
    { type: 'toolCall', id: 'c', name: 'f', args: {} },
  ])
})

test('xAI counts reasoning beside the completion, and cost in ticks', () => {
  const usage = {
    prompt_tokens: 291,
    completion_tokens: 26,
    total_tokens: 513,
    prompt_tokens_details: { text_tokens: 291, audio_tokens: 0, image_tokens: 0, cached_tokens: 290 },
    completion_tokens_details: { reasoning_tokens: 196, audio_tokens: 0 },
    cost_in_usd_ticks: 1_330_500,
  }
  expect(read(chunk({ content: 'a' }), { ...chunk({}), choices: [], usage }).usage).toEqual({
    inputTokens: 291,
    outputTokens: 222,
    totalTokens: 513,
    inputDetails: { cache_read: 290 },
    outputDetails: { reasoning: 196 },
    totalCost: 0.00013305,
  })
})

test('OpenRouter sends cost, provider, and errors in the middle of a stream', () => {
  const usage = {
    prompt_tokens: 1,
    completion_tokens: 2,
    cost: 0.25,
    cost_details: { upstream_inference_cost: 0.2 },
  }
  const about = { provider: 'P' }
  expect(read(chunk({ content: 'a' }, {}, about), chunk({}, {}, { ...about, usage }))).toMatchObject({
    usage: { totalCost: 0.25 },
    metadata: { provider: 'P', usage },
  })
  const error = { code: 502, message: 'Provider disconnected' }
  const failed = streamed(openaiChat, [
    chunk({ content: 'a' }),
    chunk({ content: '' }, { finish_reason: 'error' }, { error }),
  ])
  expect(failed).toMatchObject({
    messages: [{ content: [{ text: 'a' }], finishReason: 'error' }],
    error: { message: 'Provider disconnected', code: '502' },
  })
})

test('LiteLLM sends signatures beside the thoughts, and cached tokens under its own name', () => {
  const thinking_blocks = [{ type: 'thinking', thinking: 'Hm', signature: 's' }]
  const message = {
    content: 'Hi',
    reasoning_content: 'Hm',
    thinking_blocks,
    provider_specific_fields: { a: 1 },
  }
  const usage = {
    prompt_tokens: 9,
    completion_tokens: 1,
    cache_read_input_tokens: 5,
    cache_creation_input_tokens: 2,
  }
  expect(whole(openaiChat, { choices: [{ index: 0, message }], usage }).messages[0]).toMatchObject({
    content: [{ type: 'reasoning', text: 'Hm' }, { text: 'Hi' }],
    usage: { inputTokens: 9, inputDetails: { cache_read: 5, cache_creation: 2 } },
    metadata: { thinking_blocks, provider_specific_fields: { a: 1 } },
  })
})

test("Gemini's endpoint sends whole calls without an index but with signatures", () => {
  const call = (id: string, others: object = {}) => ({
    id,
    type: 'function',
    function: { name: 'f', arguments: '{"x":1}' },
    ...others,
  })
  const extra_content = { google: { thought_signature: 's' } }
  expect(
    read(chunk({ tool_calls: [call('a', { extra_content })] }), chunk({ tool_calls: [call('b')] })).content,
  ).toEqual([
    { type: 'toolCall', id: 'a', name: 'f', args: { x: 1 }, extras: { extra_content } },
    { type: 'toolCall', id: 'b', name: 'f', args: { x: 1 } },
  ])
})

test('arguments may be an object, in a response and in a stream', () => {
  const tool_calls = [{ index: 0, id: 'a', function: { name: 'f', arguments: { x: 1 } } }]
  const block = { type: 'toolCall', id: 'a', name: 'f', args: { x: 1 } }
  expect(read(chunk({ tool_calls })).content).toEqual([block])
  expect(whole(openaiChat, { choices: [{ message: { tool_calls } }] }).messages[0]!.content).toEqual([block])
})

test('Azure says what the content filter found', () => {
  const content_filter_results = { hate: { filtered: true, severity: 'high' } }
  const end = { finish_reason: 'content_filter', content_filter_results, content_filter_offsets: { end: 4 } }
  expect(
    read(
      { ...chunk({}), id: '', model: '', choices: [], prompt_filter_results: [1] },
      chunk({ content: 'a' }),
      chunk({}, end),
    ),
  ).toMatchObject({
    content: [{ text: 'a' }],
    finishReason: 'contentFilter',
    metadata: { prompt_filter_results: [1], content_filter_results, content_filter_offsets: { end: 4 } },
  })
})

test('Together repeats the text of each delta beside it', () => {
  const together = (content: string, finish_reason: string | null = null) =>
    chunk({ token_id: 1, role: 'assistant', content }, { text: content, finish_reason })
  expect(read(together('Hel'), together('lo'), together('', 'eos'))).toMatchObject({
    content: [{ type: 'text', text: 'Hello' }],
    finishReason: 'stop',
    metadata: { finish_reason: 'eos' },
  })
  const message = { role: 'assistant', content: 'Hello' }
  expect(whole(openaiChat, { choices: [{ message, text: 'Hello' }] }).messages[0]!.content).toEqual([
    { type: 'text', text: 'Hello' },
  ])
})

test('an empty finish reason does not replace the one before', () => {
  expect(
    read(chunk({ content: 'a' }), chunk({}, { finish_reason: 'stop' }), chunk({}, { finish_reason: '' })),
  ).toMatchObject({ finishReason: 'stop' })
  expect(read(chunk({ content: 'a' }, { finish_reason: '' })).finishReason).toBeUndefined()
})

test('empty fields make no blocks', () => {
  const empty = {
    function_call: { name: '', arguments: '' },
    tool_calls: [{ index: 0, id: '', type: 'function', function: { name: '', arguments: '' } }],
    audio: { id: '', data: '' },
    refusal: '',
  }
  const text = [{ type: 'text', text: 'Hi' }]
  const message = { content: 'Hi', ...empty }
  expect(whole(openaiChat, { choices: [{ message }] }).messages[0]!.content).toEqual(text)
  expect(
    whole(openaiChat, { choices: [{ message: { ...message, audio: {} } }] }).messages[0]!.content,
  ).toEqual(text)
  expect(read(chunk(empty), chunk({ content: 'Hi', ...empty })).content).toEqual(text)
})

test('a function call may stand beside an empty custom call, and the other way round', () => {
  const empty = { name: '', input: '' }
  const called = { id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":1}' }, custom: empty }
  const custom = {
    id: 'b',
    type: 'custom',
    function: { name: '', arguments: '' },
    custom: { name: 'g', input: 'text' },
  }
  const blocks = [
    { type: 'toolCall', id: 'a', name: 'f', args: { x: 1 } },
    { type: 'toolCall', id: 'b', name: 'g', args: { input: 'text' }, extras: { type: 'custom' } },
  ]
  expect(
    whole(openaiChat, { choices: [{ message: { tool_calls: [called, custom] } }] }).messages[0]!.content,
  ).toEqual(blocks)
  expect(
    read(
      chunk({ tool_calls: [{ ...called, index: 0, function: { name: 'f', arguments: '' } }] }),
      chunk({ tool_calls: [{ index: 0, function: { name: '', arguments: '{"x"' }, custom: empty }] }),
      chunk({ tool_calls: [{ index: 0, function: { name: '', arguments: ':1}' }, custom: empty }] }),
      chunk({ tool_calls: [{ ...custom, index: 1 }] }),
    ).content,
  ).toEqual(blocks)
})

test('OpenRouter may send the thoughts in the details alone, whose types do not mix', () => {
  const text = (text: string) => ({ type: 'reasoning.text', text, index: 0 })
  expect(
    read(chunk({ reasoning_details: [text('H')] }), chunk({ reasoning_details: [text('m')] })).content,
  ).toEqual([{ type: 'reasoning', text: 'Hm', extras: { reasoning_details: [text('Hm')] } }])
  const summary = (summary: string) => ({ type: 'reasoning.summary', summary, index: 0, id: 'rs' })
  const encrypted = { type: 'reasoning.encrypted', data: 'e', index: 0, id: 'rs' }
  expect(
    read(
      chunk({ reasoning: 'H', reasoning_details: [summary('H')] }),
      chunk({ reasoning: 'm', reasoning_details: [summary('m')] }),
      chunk({ reasoning_details: [encrypted] }),
    ).content,
  ).toEqual([
    {
      type: 'reasoning',
      text: 'Hm',
      extras: { field: 'reasoning', reasoning_details: [summary('Hm'), encrypted] },
    },
  ])
  const message = { content: null, reasoning_details: [summary('Hm'), encrypted] }
  expect(whole(openaiChat, { choices: [{ message }] }).messages[0]!.content).toEqual([
    { type: 'reasoning', text: 'Hm', extras: { reasoning_details: [summary('Hm'), encrypted] } },
  ])
})

test('annotations beside a list of parts belong to its last text', () => {
  const annotations = [{ type: 'url_citation', url_citation: { url: 'https://a', title: 'A' } }]
  const image = { type: 'image_url', image_url: { url: 'https://i' } }
  const message = { content: [{ type: 'text', text: 'a' }, { type: 'text', text: 'b' }, image], annotations }
  const content = [
    { type: 'text', text: 'a' },
    { type: 'text', text: 'b', annotations: [{ type: 'citation', url: 'https://a' }] },
    { type: 'image', url: 'https://i' },
  ]
  expect(whole(openaiChat, { choices: [{ message }] }).messages[0]!.content).toMatchObject(content)
  expect(
    whole(openaiChat, { choices: [{ message: { content: [image], annotations } }] }).messages[0]!.content,
  ).toMatchObject([{ type: 'image' }, { type: 'text', text: '', annotations: [{ url: 'https://a' }] }])
})

test('a request with a model and a prompt alone asks for a completion', () => {
  expect(detectFormat(formats, [{ model: 'm', prompt: 'Once' }])?.name).toBe('openaiChat')
  expect(detectFormat(formats, [{ model: 'm', prompt: ['a', 'b'] }])?.name).toBe('openaiChat')
})

test('Snowflake sends the fields of a spoken answer with every written one, which say nothing', () => {
  for (const audio of [
    {},
    { id: '', data: '', transcript: '', expires_at: 0 },
    { id: null, expires_at: 0 },
  ]) {
    const message = { role: 'assistant', content: 'Hi', audio }
    const text = [{ type: 'text', text: 'Hi' }]
    const response = { id: 'c', model: 'm', choices: [{ index: 0, message, finish_reason: 'stop' }] }
    expect(whole(openaiChat, response).messages[0]!.content).toEqual(text)
    expect(
      read(chunk({ role: 'assistant', content: 'H', audio }), chunk({ content: 'i', audio })).content,
    ).toEqual(text)
  }
})
