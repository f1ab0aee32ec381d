import { describe, expect, test } from 'vitest'
import { defineFormat } from '../../../src/models/formats/reading/define.ts'
import { convertModelCall, partitionUsage, TracingError } from '../../../src/models/tracing/index.ts'
import { frozen, viaJson } from '../../formats/helpers.ts'

const chatRequest = frozen({
  model: 'gpt-4o',
  messages: [
    { role: 'developer', content: 'Be brief.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is this?' },
        { type: 'image_url', image_url: { url: 'https://example.com/cat.png' } },
        { type: 'file', file: { file_id: 'file-1', filename: 'a.pdf' } },
        { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
      ],
    },
    {
      role: 'assistant',
      tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"at":1}' } }],
    },
    { role: 'tool', tool_call_id: 'call_1', content: 'a cat' },
  ],
  temperature: 0.2,
  max_completion_tokens: 100,
  stop: 'END',
  top_p: 0.9,
  response_format: { type: 'text' },
  tools: [
    { type: 'function', function: { name: 'look', description: 'Looks.', parameters: { type: 'object' } } },
    { type: 'mcp', server_url: 'https://secret.example', headers: { authorization: 'Bearer secret' } },
  ],
  user: 'someone@example.com',
  api_key: 'secret',
})

const chatResponse = frozen({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  model: 'gpt-4o-2024-08-06',
  choices: [
    {
      index: 0,
      message: {
        role: 'assistant',
        content: 'A cat.',
        reasoning_content: 'Whiskers.',
        tool_calls: [
          { id: 'call_2', type: 'function', function: { name: 'f', arguments: '{"x":1}' } },
          { id: 'call_3', type: 'function', function: { name: 'g', arguments: '{"y":' } },
        ],
      },
      finish_reason: 'tool_calls',
    },
  ],
  usage: {
    prompt_tokens: 100,
    completion_tokens: 20,
    total_tokens: 120,
    prompt_tokens_details: { cached_tokens: 60, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 8 },
  },
})

test("a chat call is converted to the platform's message format", () => {
  const record = convertModelCall({ request: chatRequest, response: chatResponse })
  expect(record.inputs).toEqual({
    messages: [
      {
        role: 'system',
        content: [{ type: 'text', text: 'Be brief.' }],
        extras: { role: 'developer' },
      },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'image', url: 'https://example.com/cat.png' },
          { type: 'file', id: 'file-1', extras: { filename: 'a.pdf' } },
          { type: 'audio', base64: 'AAAA', mime_type: 'audio/wav', extras: { format: 'wav' } },
        ],
      },
      { role: 'assistant', content: [{ type: 'tool_call', id: 'call_1', name: 'look', args: { at: 1 } }] },
      { role: 'tool', tool_call_id: 'call_1', content: [{ type: 'text', text: 'a cat' }] },
    ],
  })
  expect(record.outputs).toEqual({
    messages: [
      {
        role: 'assistant',
        id: 'chatcmpl-1',
        content: [
          { type: 'reasoning', text: 'Whiskers.' },
          { type: 'text', text: 'A cat.' },
          { type: 'tool_call', id: 'call_2', name: 'f', args: { x: 1 } },
          {
            type: 'tool_call',
            id: 'call_3',
            name: 'g',
            args: {},
            extras: { invalid: { args: '{"y":', error: expect.stringContaining('JSON') } },
          },
        ],
        finish_reason: 'tool_calls',
        response_metadata: expect.objectContaining({
          finish_reason: 'tool_calls',
          usage: chatResponse.usage,
        }),
      },
    ],
  })
  expect(record.metadata).toEqual({
    ls_provider: 'openai',
    ls_model_name: 'gpt-4o-2024-08-06',
    ls_model_type: 'chat',
    ls_temperature: 0.2,
    ls_max_tokens: 100,
    ls_stop: ['END'],
    ls_invocation_params: {
      model: 'gpt-4o',
      top_p: 0.9,
      response_format: { type: 'text' },
      tools: [
        {
          type: 'function',
          function: { name: 'look', description: 'Looks.', parameters: { type: 'object' } },
        },
        { type: 'mcp' },
      ],
    },
    usage_metadata: {
      input_tokens: 100,
      output_tokens: 20,
      total_tokens: 120,
      input_token_details: { cache_read: 60 },
      output_token_details: { reasoning: 8 },
    },
  })
  expect(record.events).toEqual([])
  expect(JSON.stringify(record)).not.toContain('secret')
  expect(viaJson(record)).toEqual(record)
})

test('server tools, signed thinking and exclusive totals of Anthropic are converted', () => {
  const { inputs, outputs, metadata } = convertModelCall({
    request: frozen({
      model: 'claude-sonnet-4-5',
      max_tokens: 64,
      system: 'Be brief.',
      messages: [
        { role: 'user', content: 'Weather?' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'tu_1', name: 'w', input: { at: 'x' } }] },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 'tu_1', content: 'boom', is_error: true }],
        },
      ],
    }),
    response: frozen({
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude-sonnet-4-5-20250929',
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: 'sig' },
        { type: 'server_tool_use', id: 'srv_1', name: 'web_search', input: { query: 'x' } },
        {
          type: 'web_search_tool_result',
          tool_use_id: 'srv_1',
          content: { type: 'web_search_tool_result_error', error_code: 'max_uses_exceeded' },
        },
        {
          type: 'text',
          text: 'Sun.',
          citations: [
            { type: 'web_search_result_location', url: 'https://e.x', title: 'T', cited_text: 'sun' },
          ],
        },
        { type: 'hologram', depth: 3 },
      ],
      stop_reason: 'end_turn',
      usage: {
        input_tokens: 10,
        cache_read_input_tokens: 100,
        cache_creation_input_tokens: 30,
        cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 },
        output_tokens: 12,
      },
    }),
  })
  const answer = (inputs.messages as object[]).at(-1)
  expect(answer).toEqual({
    role: 'tool',
    tool_call_id: 'tu_1',
    status: 'error',
    content: [{ type: 'text', text: 'boom' }],
  })
  const [message] = outputs.messages as { content: unknown[] }[]
  expect(message!.content).toEqual([
    { type: 'reasoning', text: 'Hm.', extras: { signature: 'sig' } },
    { type: 'server_tool_call', id: 'srv_1', name: 'web_search', args: { query: 'x' } },
    {
      type: 'server_tool_result',
      tool_call_id: 'srv_1',
      status: 'error',
      output: { type: 'web_search_tool_result_error', error_code: 'max_uses_exceeded' },
      extras: { type: 'web_search_tool_result' },
    },
    {
      type: 'text',
      text: 'Sun.',
      annotations: [expect.objectContaining({ type: 'citation', url: 'https://e.x', cited_text: 'sun' })],
    },
    { type: 'text', text: '', extras: { non_standard: { type: 'hologram', depth: 3 } } },
  ])
  expect(metadata.ls_provider).toBe('anthropic')
  expect(metadata.usage_metadata).toEqual({
    input_tokens: 140,
    output_tokens: 12,
    total_tokens: 152,
    input_token_details: {
      cache_read: 100,
      ephemeral_5m_input_tokens: 10,
      ephemeral_1h_input_tokens: 20,
    },
  })
})

test('the call of an instruct model has a prompt and texts', () => {
  const { inputs, outputs, metadata } = convertModelCall({
    request: { model: 'davinci', prompt: 'Once', max_tokens: 5 },
    response: {
      object: 'text_completion',
      model: 'davinci',
      choices: [
        { index: 0, text: ' upon', finish_reason: 'length' },
        { index: 1, text: ' more', finish_reason: 'stop' },
      ],
      usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
    },
  })
  expect(inputs).toEqual({ prompt: 'Once' })
  expect(outputs).toEqual({
    choices: [
      { text: ' upon', index: 0, finish_reason: 'length' },
      { text: ' more', index: 1, finish_reason: 'stop' },
    ],
  })
  expect(metadata).toMatchObject({ ls_model_type: 'llm', ls_max_tokens: 5 })
})

describe('a target sets the shape of inputs and outputs', () => {
  const call = { request: chatRequest, response: chatResponse }

  test.each([
    ['completions', ['messages'], ['id', 'object', 'model', 'choices']],
    ['responses', ['instructions', 'input'], ['id', 'object', 'model', 'status', 'output']],
    ['anthropic', ['system', 'messages'], ['id', 'type', 'role', 'model', 'content', 'stop_reason']],
  ])('the target %s writes its shape and sets ls_message_format', (target, inputs, outputs) => {
    const record = convertModelCall({ ...call, target })
    expect(record.metadata.ls_message_format).toBe(target)
    for (const key of inputs.filter((key) => key !== 'instructions'))
      expect(record.inputs).toHaveProperty(key)
    expect(Object.keys(record.outputs).sort()).toEqual([...outputs].sort())
    expect(viaJson(record)).toEqual(record)
  })

  test('the target `responses` names the Responses API where the platform looks for it', () => {
    const { metadata } = convertModelCall({ ...call, target: 'responses' })
    expect(metadata.ls_invocation_params).toMatchObject({ use_responses_api: true, top_p: 0.9 })
  })

  test('a custom target is used', () => {
    const lines = { name: 'lines', writeInputs: () => ({ lines: 4 }), writeOutputs: () => ({ lines: 1 }) }
    const { inputs, outputs, metadata } = convertModelCall({ ...call, target: lines })
    expect([inputs, outputs, metadata.ls_message_format]).toEqual([{ lines: 4 }, { lines: 1 }, 'lines'])
  })
})

test('an unknown format or target throws, and an unknown shape is kept with an issue', () => {
  expect(() => convertModelCall({ response: chatResponse, format: 'telegraph' })).toThrow(
    expect.objectContaining({ name: 'TracingError', code: 'invalid_trace', path: 'format' }),
  )
  expect(() => convertModelCall({ response: chatResponse, target: 'telegraph' })).toThrow(TracingError)
  expect(() => convertModelCall('hello' as never)).toThrow(TracingError)
  const { outputs, issues, metadata } = convertModelCall({ response: 42 })
  expect(JSON.stringify(outputs)).toContain('42')
  expect(issues).toEqual([{ path: expect.stringMatching(/^response/), message: expect.any(String) }])
  expect(metadata.conversion_issues).toHaveLength(1)
})

test('an error of the provider becomes the error of the record', () => {
  const { error, outputs } = convertModelCall({
    format: 'anthropicMessages',
    response: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
  })
  expect(error).toBe('overloaded_error: Overloaded')
  expect(outputs.messages).toHaveLength(1)
})

test.each([
  [{ choices: [{ message: { role: 'assistant', content: 'Hello' } }] }],
  [{ message: { role: 'assistant', content: 'Hello' } }],
  [{ role: 'assistant', content: 'Hello' }],
  [['assistant', 'Hello']],
  [{ messages: [{ role: 'assistant', content: [{ type: 'text', text: 'Hello' }] }] }],
  ['Hello'],
])('a custom model may answer %j', (answer) => {
  const usage_metadata = { input_tokens: 3, output_tokens: 2 }
  const counted = typeof answer === 'object' && !Array.isArray(answer)
  const { outputs, metadata, issues } = convertModelCall({
    request: { messages: [{ role: 'user', content: 'Hi' }] },
    response: counted ? { ...answer, usage_metadata } : answer,
    provider: 'own',
    model: 'm-1',
  })
  expect(outputs).toEqual({
    messages: [{ role: 'assistant', content: [{ type: 'text', text: 'Hello' }] }],
  })
  expect(metadata).toMatchObject({ ls_provider: 'own', ls_model_name: 'm-1' })
  expect(metadata.usage_metadata).toEqual(counted ? { ...usage_metadata, total_tokens: 5 } : undefined)
  expect(issues).toBeUndefined()
})

test('given names override detected ones', () => {
  const { metadata } = convertModelCall({
    response: chatResponse,
    provider: 'deepseek',
    model: 'deepseek-chat',
    metadata: { thread_id: 't1', ls_temperature: 1 },
  })
  expect(metadata).toMatchObject({
    ls_provider: 'deepseek',
    ls_model_name: 'deepseek-chat',
    thread_id: 't1',
    ls_temperature: 1,
  })
})

describe('costs come from the provider or a price table', () => {
  const prices = (model: string, { inputTokens }: { inputTokens: number }) =>
    model.startsWith('gpt-4o') ? { inputCost: inputTokens * 2, totalCost: 300 } : undefined

  test('a price table adds costs', () => {
    const { metadata } = convertModelCall({ response: chatResponse, prices })
    expect(metadata.usage_metadata).toMatchObject({ input_cost: 200, total_cost: 300 })
    const other = convertModelCall({ response: chatResponse, prices, model: 'other' })
    expect(other.metadata.usage_metadata).not.toHaveProperty('total_cost')
  })

  test('costs of the provider override the price table', () => {
    const response = { ...chatResponse, usage: { ...chatResponse.usage, cost: 0.5 } }
    const { metadata } = convertModelCall({ response, prices })
    expect(metadata.usage_metadata).toMatchObject({ total_cost: 0.5 })
    expect(metadata.usage_metadata).not.toHaveProperty('input_cost')
  })

  test('a cost of 0 of the provider overrides the price table', () => {
    const response = { ...chatResponse, usage: { ...chatResponse.usage, cost: 0 } }
    expect(convertModelCall({ response, prices }).metadata.usage_metadata).toMatchObject({ total_cost: 0 })
  })

  test('a price table that returns NaN adds an issue and no costs', () => {
    const { metadata, issues } = convertModelCall({
      response: chatResponse,
      prices: () => ({ inputCost: 1, totalCost: Number.NaN }),
    })
    expect(metadata.usage_metadata).not.toHaveProperty('input_cost')
    expect(issues).toEqual([{ path: 'prices', message: 'Returned NaN.' }])
  })

  test('a price table that throws adds an issue and no costs', () => {
    const { metadata, issues } = convertModelCall({
      response: chatResponse,
      prices() {
        throw new Error('no table')
      },
    })
    expect(metadata.usage_metadata).toMatchObject({ input_tokens: 100 })
    expect(issues).toEqual([{ path: 'prices', message: 'Threw: no table' }])
  })
})

describe('usage whose counts do not add up is corrected', () => {
  const sloppy = defineFormat({
    name: 'sloppy',
    detect: () => 'response',
    readRequest: () => ({ messages: [], params: {}, extras: {} }),
    open: (draft) => (response) => {
      draft.usage = response as never
    },
  })

  test('usage becomes a partition, and the record names each correction', () => {
    const { metadata } = convertModelCall({
      format: sloppy,
      response: {
        inputTokens: 10,
        outputTokens: 5,
        totalTokens: 99,
        inputDetails: { text: 8, cache_read: 6, audio: 0, ephemeral_1hr_input_tokens: 1 },
        outputDetails: { reasoning: 7 },
        totalCost: 0.1,
      },
    })
    expect(metadata.usage_metadata).toEqual({
      input_tokens: 10,
      output_tokens: 5,
      total_tokens: 15,
      input_token_details: { text: 8, cache_read: 2 },
      output_token_details: { reasoning: 5 },
      total_cost: 0.1,
    })
    expect(metadata.conversion_issues).toEqual([
      'usage_metadata.total_tokens: Was 99, which is not input + output.',
      expect.stringContaining('usage_metadata.input_token_details.cache_read: Was 6'),
      expect.stringContaining('usage_metadata.input_token_details.ephemeral_1h_input_tokens: Was 1'),
      expect.stringContaining('usage_metadata.output_token_details.reasoning: Was 7'),
    ])
  })

  test('the record says when a format has cut details', () => {
    const { metadata, outputs } = convertModelCall({
      response: {
        ...chatResponse,
        usage: {
          prompt_tokens: 9,
          completion_tokens: 10,
          completion_tokens_details: { reasoning_tokens: 11 },
          cost: 1,
        },
      },
    })
    expect(metadata.usage_metadata).toEqual({
      input_tokens: 9,
      output_tokens: 10,
      total_tokens: 19,
      output_token_details: { reasoning: 10 },
      total_cost: 1,
    })
    expect(metadata.conversion_issues).toEqual([expect.stringMatching(/^usage_metadata: .* reduced /)])
    expect(JSON.stringify(outputs)).toContain('"reasoning_tokens":11')
  })

  test('usage that is a partition is returned as it is', () => {
    const usage = { inputTokens: 3, outputTokens: 2, totalTokens: 5, inputDetails: { cache_read: 3 } }
    expect(partitionUsage(usage)).toEqual({ usage, issues: [] })
    expect(partitionUsage(usage).usage).toBe(usage)
  })
})

test('an answer that has its text beside the message is no completion', () => {
  const response = { choices: [{ text: 'Hi', message: { role: 'assistant', content: 'Hi' } }] }
  const { outputs, metadata } = convertModelCall({ response })
  expect(outputs.messages).toMatchObject([{ role: 'assistant', content: [{ type: 'text', text: 'Hi' }] }])
  expect(metadata.ls_model_type).toBe('chat')
})

test('a request with a model and a prompt alone has a prompt', () => {
  expect(convertModelCall({ request: { model: 'm', prompt: 'Once' } })).toMatchObject({
    inputs: { prompt: 'Once' },
    metadata: { ls_model_type: 'llm', ls_model_name: 'm' },
  })
})
