import { describe, expect, test } from 'vitest'
import { anthropicMessages } from '../../../src/models/formats/index.ts'
import { eventsOf, frozen, streamed, whole } from '../helpers.ts'

const usage = {
  input_tokens: 10,
  cache_creation_input_tokens: null,
  cache_read_input_tokens: null,
  output_tokens: 4,
}

const message = (content: readonly object[], others: object = {}) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-x',
  content,
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage,
  ...others,
})

const start = (others: object = {}) => ({
  type: 'message_start',
  message: message([], { stop_reason: null, usage: { ...usage, output_tokens: 1 }, ...others }),
})
const open = (index: number, content_block: object) => ({ type: 'content_block_start', index, content_block })
const delta = (index: number, fields: object) => ({ type: 'content_block_delta', index, delta: fields })
const stop = (index: number) => ({ type: 'content_block_stop', index })
const end = (stop_reason = 'end_turn', others: object = {}) => [
  {
    type: 'message_delta',
    delta: { stop_reason, stop_sequence: null },
    usage: { output_tokens: 4, ...others },
  },
  { type: 'message_stop' },
]

const blocksOf = (...content: object[]) => whole(anthropicMessages, message(content)).messages[0]!.content
const usageOf = (counts: object) =>
  whole(anthropicMessages, message([], { usage: counts })).messages[0]!.usage

describe('a whole response becomes one message', () => {
  test('reads text, stop reason, usage and metadata', () => {
    expect(
      whole(
        anthropicMessages,
        message([{ type: 'text', text: 'Hi', citations: null }], { container: { id: 'c' } }),
      ),
    ).toEqual({
      messages: [
        {
          role: 'assistant',
          id: 'msg_1',
          content: [{ type: 'text', text: 'Hi' }],
          finishReason: 'stop',
          usage: { inputTokens: 10, outputTokens: 4, totalTokens: 14 },
          metadata: { model: 'claude-x', stop_reason: 'end_turn', container: { id: 'c' }, usage },
        },
      ],
    })
  })

  test('reads thinking with its signature, and redacted thinking', () => {
    expect(
      blocksOf(
        { type: 'thinking', thinking: 'Hm.', signature: 'sig' },
        { type: 'redacted_thinking', data: 'enc' },
      ),
    ).toEqual([
      { type: 'reasoning', text: 'Hm.', extras: { signature: 'sig' } },
      { type: 'reasoning', text: '', extras: { type: 'redacted_thinking', data: 'enc' } },
    ])
  })

  test('reads citations of every kind', () => {
    const cited = {
      cited_text: 'It is.',
      document_index: 0,
      document_title: 'Doc',
      start_char_index: 1,
      end_char_index: 7,
    }
    const found = { url: 'https://a.example', title: 'A', encrypted_index: 'e', cited_text: 'So.' }
    const searched = { source: 'https://b.example', title: null, cited_text: 'x', search_result_index: 0 }
    expect(
      blocksOf({
        type: 'text',
        text: 'Yes.',
        citations: [
          { type: 'char_location', ...cited },
          { type: 'web_search_result_location', ...found },
          { type: 'search_result_location', ...searched },
        ],
      }),
    ).toEqual([
      {
        type: 'text',
        text: 'Yes.',
        annotations: [
          {
            type: 'citation',
            title: 'Doc',
            citedText: 'It is.',
            extras: { type: 'char_location', document_index: 0, start_char_index: 1, end_char_index: 7 },
          },
          {
            type: 'citation',
            url: 'https://a.example',
            title: 'A',
            citedText: 'So.',
            extras: { type: 'web_search_result_location', encrypted_index: 'e' },
          },
          {
            type: 'citation',
            url: 'https://b.example',
            citedText: 'x',
            extras: { type: 'search_result_location', search_result_index: 0 },
          },
        ],
      },
    ])
  })

  test('reads calls, and the calls, results and errors of tools that the provider runs', () => {
    const results = [
      { type: 'web_search_result', url: 'https://a.example', title: 'A', encrypted_content: 'e' },
    ]
    const failure = { type: 'web_search_tool_result_error', error_code: 'max_uses_exceeded' }
    expect(
      blocksOf(
        { type: 'tool_use', id: 'tu_1', name: 'add', input: { a: 1 }, caller: { type: 'direct' } },
        { type: 'server_tool_use', id: 'st_1', name: 'web_search', input: { query: 'x' } },
        { type: 'web_search_tool_result', tool_use_id: 'st_1', content: results },
        { type: 'web_search_tool_result', tool_use_id: 'st_2', content: failure },
        { type: 'mcp_tool_use', id: 'm_1', name: 'ask', server_name: 's', input: {} },
        {
          type: 'mcp_tool_result',
          tool_use_id: 'm_1',
          is_error: true,
          content: [{ type: 'text', text: 'no' }],
        },
        { type: 'container_upload', file_id: 'file_1' },
        { type: 'compaction', content: 'So far.' },
      ),
    ).toEqual([
      { type: 'toolCall', id: 'tu_1', name: 'add', args: { a: 1 }, extras: { caller: { type: 'direct' } } },
      { type: 'serverToolCall', id: 'st_1', name: 'web_search', args: { query: 'x' } },
      {
        type: 'serverToolResult',
        toolCallId: 'st_1',
        status: 'success',
        output: results,
        extras: { type: 'web_search_tool_result' },
      },
      {
        type: 'serverToolResult',
        toolCallId: 'st_2',
        status: 'error',
        output: failure,
        extras: { type: 'web_search_tool_result' },
      },
      {
        type: 'serverToolCall',
        id: 'm_1',
        name: 'ask',
        args: {},
        extras: { type: 'mcp_tool_use', server_name: 's' },
      },
      {
        type: 'serverToolResult',
        toolCallId: 'm_1',
        status: 'error',
        output: [{ type: 'text', text: 'no' }],
        extras: { type: 'mcp_tool_result' },
      },
      { type: 'file', fileId: 'file_1', extras: { type: 'container_upload' } },
      { type: 'nonStandard', value: { type: 'compaction', content: 'So far.' } },
    ])
  })

  test.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['tool_use', 'toolCalls'],
    ['refusal', 'contentFilter'],
    ['pause_turn', 'pause'],
    ['compaction', 'pause'],
    ['something_new', 'other'],
  ])('stop reason %s becomes %s', (stop_reason, reason) => {
    expect(whole(anthropicMessages, message([], { stop_reason })).messages[0]!.finishReason).toBe(reason)
  })

  test('usage counts cache reads and writes once', () => {
    expect(
      usageOf({
        input_tokens: 10,
        output_tokens: 4,
        cache_read_input_tokens: 100,
        cache_creation_input_tokens: 50,
      }),
    ).toEqual({
      inputTokens: 160,
      outputTokens: 4,
      totalTokens: 164,
      inputDetails: { cache_read: 100, cache_creation: 50 },
    })
    expect(
      usageOf({
        input_tokens: 10,
        output_tokens: 4,
        cache_creation_input_tokens: 50,
        cache_creation: { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 30 },
        output_tokens_details: { thinking_tokens: 3 },
        server_tool_use: { web_search_requests: 7 },
      }),
    ).toEqual({
      inputTokens: 60,
      outputTokens: 4,
      totalTokens: 64,
      inputDetails: { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 30 },
      outputDetails: { reasoning: 3 },
    })
  })

  test('usage counts the passes that compacted the context, unless a fallback model answered', () => {
    const compaction = {
      type: 'compaction',
      input_tokens: 100,
      output_tokens: 20,
      cache_read_input_tokens: 5,
    }
    const others = [
      { type: 'message', input_tokens: 10, output_tokens: 4 },
      { type: 'advisor_message', input_tokens: 1000, output_tokens: 1000 },
    ]
    const totals = (iterations: object[]) => usageOf({ input_tokens: 10, output_tokens: 4, iterations })
    expect(totals([compaction, ...others])).toMatchObject({ inputTokens: 115, outputTokens: 24 })
    expect(totals([compaction, { type: 'fallback_message' }])).toMatchObject({
      inputTokens: 10,
      outputTokens: 4,
    })
  })

  test('an error becomes the error of the response, and a value that is no response gets an issue', () => {
    const error = { type: 'overloaded_error', message: 'Overloaded' }
    expect(whole(anthropicMessages, { type: 'error', error, request_id: 'req_1' })).toMatchObject({
      messages: [{ content: [], finishReason: 'error' }],
      error: { type: 'error', message: 'Overloaded', code: 'overloaded_error' },
    })
    expect(whole(anthropicMessages, 7)).toEqual({
      messages: [{ role: 'assistant', content: [{ type: 'nonStandard', value: 7 }] }],
      issues: [{ path: '', message: 'Expected a response of anthropicMessages.' }],
    })
  })
})

describe('a stream accumulates to the message of the whole response', () => {
  test('thinking, cited text and calls accumulate to the whole response', () => {
    const citation = {
      type: 'web_search_result_location',
      url: 'https://a.example',
      title: 'A',
      cited_text: 'x',
    }
    const chunks = [
      start(),
      { type: 'ping' },
      open(0, { type: 'thinking', thinking: '', signature: '' }),
      delta(0, { type: 'thinking_delta', thinking: 'H' }),
      delta(0, { type: 'thinking_delta', thinking: 'm.' }),
      delta(0, { type: 'signature_delta', signature: 'sig' }),
      stop(0),
      open(1, { type: 'redacted_thinking', data: 'enc' }),
      stop(1),
      open(2, { type: 'server_tool_use', id: 'st_1', name: 'web_search', input: {} }),
      delta(2, { type: 'input_json_delta', partial_json: '' }),
      delta(2, { type: 'input_json_delta', partial_json: '{"query":' }),
      delta(2, { type: 'input_json_delta', partial_json: '"x"}' }),
      stop(2),
      open(3, { type: 'web_search_tool_result', tool_use_id: 'st_1', content: [{ url: 'u' }] }),
      stop(3),
      open(4, { type: 'text', text: '', citations: [] }),
      delta(4, { type: 'citations_delta', citation }),
      delta(4, { type: 'text_delta', text: 'Ye' }),
      delta(4, { type: 'text_delta', text: 's.' }),
      stop(4),
      open(5, { type: 'tool_use', id: 'tu_1', name: 'now', input: {} }),
      delta(5, { type: 'input_json_delta', partial_json: '' }),
      stop(5),
      open(6, { type: 'compaction', content: null }),
      delta(6, { type: 'compaction_delta', content: 'So far.' }),
      stop(6),
      ...end('tool_use'),
    ]
    const read = streamed(anthropicMessages, chunks)
    expect(read).toEqual(
      whole(
        anthropicMessages,
        message(
          [
            { type: 'thinking', thinking: 'Hm.', signature: 'sig' },
            { type: 'redacted_thinking', data: 'enc' },
            { type: 'server_tool_use', id: 'st_1', name: 'web_search', input: { query: 'x' } },
            { type: 'web_search_tool_result', tool_use_id: 'st_1', content: [{ url: 'u' }] },
            { type: 'text', text: 'Yes.', citations: [citation] },
            { type: 'tool_use', id: 'tu_1', name: 'now', input: {} },
            { type: 'compaction', content: 'So far.' },
          ],
          { stop_reason: 'tool_use' },
        ),
      ),
    )
    expect(read.messages[0]!.finishReason).toBe('toolCalls')
  })

  test('a block finishes when the provider says so', () => {
    const chunks = [
      start(),
      open(0, { type: 'text', text: '' }),
      delta(0, { type: 'text_delta', text: 'a' }),
      stop(0),
    ]
    expect(eventsOf(anthropicMessages, chunks).map(({ type }) => type)).toEqual([
      'messageStart',
      'blockStart',
      'blockDelta',
      'blockFinish',
      'messageFinish',
    ])
  })

  test('the last counts replace the first ones unless they are empty', () => {
    const counts = {
      input_tokens: 15_665,
      cache_read_input_tokens: null,
      server_tool_use: { web_search_requests: 1 },
    }
    const { usage: read, metadata } = streamed(anthropicMessages, [
      start({ usage: { input_tokens: 2037, cache_read_input_tokens: 100, output_tokens: 1 } }),
      ...end('end_turn', counts),
    ]).messages[0]!
    expect(read).toEqual({
      inputTokens: 15_765,
      outputTokens: 4,
      totalTokens: 15_769,
      inputDetails: { cache_read: 100 },
    })
    expect(metadata!.usage).toEqual({
      input_tokens: 15_665,
      cache_read_input_tokens: 100,
      output_tokens: 4,
      server_tool_use: { web_search_requests: 1 },
    })
  })

  test('arguments that are cut off stay raw', () => {
    const { content } = streamed(anthropicMessages, [
      start(),
      open(0, { type: 'tool_use', id: 'a', name: 'f', input: {} }),
      delta(0, { type: 'input_json_delta', partial_json: '{"x":' }),
      open(1, { type: 'server_tool_use', id: 'b', name: 'g', input: {} }),
      delta(1, { type: 'input_json_delta', partial_json: '[1]' }),
    ]).messages[0]!
    expect(content).toEqual([
      { type: 'invalidToolCall', id: 'a', name: 'f', args: '{"x":', error: expect.any(String) },
      {
        type: 'invalidToolCall',
        id: 'b',
        name: 'g',
        args: '[1]',
        error: expect.any(String),
        extras: { server: true },
      },
    ])
  })

  test('a repeated start is ignored, and an index that is used again starts a new block', () => {
    const text = (index: number, piece: string) => [
      open(index, { type: 'text', text: '' }),
      delta(index, { type: 'text_delta', text: piece }),
      stop(index),
    ]
    const chunks = [start(), start(), ...text(0, 'a'), start({ id: 'msg_2' }), ...text(0, 'b'), ...end()]
    expect(streamed(anthropicMessages, chunks).messages[0]).toMatchObject({
      id: 'msg_1',
      content: [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
    })
  })

  test('unknown events, deltas and fields are kept', () => {
    const news = { type: 'model_news', index: 0, text: 'x' }
    const { content, metadata } = streamed(anthropicMessages, [
      start({ mood: 1 }),
      news,
      news,
      open(0, { type: 'text', text: '', tone: 'low' }),
      delta(0, { type: 'text_delta', text: 'a' }),
      delta(0, { type: 'tone_delta', pitch: 2 }),
      stop(0),
      {
        type: 'message_delta',
        delta: { stop_reason: 'end_turn' },
        usage: {},
        context_management: { edits: [] },
      },
      { type: 'message_stop', 'amazon-bedrock-invocationMetrics': { invocationLatency: 5 } },
    ]).messages[0]!
    expect(content).toEqual([{ type: 'text', text: 'a', extras: { tone: 'low', pitch: 2 } }])
    expect(metadata).toMatchObject({
      mood: 1,
      unknownEvents: [news, news],
      context_management: { edits: [] },
      'amazon-bedrock-invocationMetrics': { invocationLatency: 5 },
    })
  })

  test('an error in the middle of a stream keeps the text before it', () => {
    const error = { type: 'overloaded_error', message: 'Overloaded' }
    const read = streamed(anthropicMessages, [
      start(),
      open(0, { type: 'text', text: '' }),
      delta(0, { type: 'text_delta', text: 'Hel' }),
      { type: 'error', error },
    ])
    expect(read.error).toEqual({ type: 'error', message: 'Overloaded', code: 'overloaded_error' })
    expect(read.messages[0]).toMatchObject({
      content: [{ type: 'text', text: 'Hel' }],
      finishReason: 'error',
      usage: { inputTokens: 10 },
      metadata: { error },
    })
  })
})

describe('a request becomes messages, parameters and extras', () => {
  test('the system prompt and each result of a tool become messages of their own', () => {
    const request = {
      model: 'claude-x',
      max_tokens: 100,
      system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
      messages: [
        { role: 'user', content: 'Hi' },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Hm.', signature: 's' },
            { type: 'tool_use', id: 'a', name: 'f', input: { x: 1 } },
            { type: 'tool_use', id: 'b', name: 'g', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'a', content: 'one' },
            {
              type: 'tool_result',
              tool_use_id: 'b',
              is_error: true,
              content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBO' } }],
              cache_control: { type: 'ephemeral' },
            },
            { type: 'text', text: 'And?' },
            { type: 'image', source: { type: 'url', url: 'https://a.example/1.png' } },
            { type: 'document', title: 'T', source: { type: 'file', file_id: 'file_1' } },
            { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Once' } },
          ],
        },
      ],
      stop_sequences: ['END'],
      temperature: 1,
      top_k: 5,
      tools: [{ name: 'f', input_schema: {} }],
      thinking: { type: 'adaptive' },
    }
    expect(anthropicMessages.detect(request)).toBe('request')
    expect(anthropicMessages.readRequest(frozen(request))).toEqual({
      messages: [
        {
          role: 'system',
          content: [{ type: 'text', text: 'Be brief.', extras: { cache_control: { type: 'ephemeral' } } }],
        },
        { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
        {
          role: 'assistant',
          content: [
            { type: 'reasoning', text: 'Hm.', extras: { signature: 's' } },
            { type: 'toolCall', id: 'a', name: 'f', args: { x: 1 } },
            { type: 'toolCall', id: 'b', name: 'g', args: {} },
          ],
        },
        { role: 'tool', toolCallId: 'a', status: 'success', content: [{ type: 'text', text: 'one' }] },
        {
          role: 'tool',
          toolCallId: 'b',
          status: 'error',
          content: [{ type: 'image', base64: 'iVBO', mimeType: 'image/png' }],
          extras: { cache_control: { type: 'ephemeral' } },
        },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'And?' },
            { type: 'image', url: 'https://a.example/1.png' },
            { type: 'file', fileId: 'file_1', extras: { title: 'T' } },
            {
              type: 'nonStandard',
              value: { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Once' } },
            },
          ],
        },
      ],
      tools: [{ name: 'f', input_schema: {} }],
      params: { model: 'claude-x', maxTokens: 100, stop: ['END'], temperature: 1, topK: 5 },
      extras: { thinking: { type: 'adaptive' } },
    })
  })

  test('a value that is no request gets an issue, and a message that is none becomes a user message', () => {
    expect(anthropicMessages.readRequest('?')).toEqual({
      messages: [],
      params: {},
      extras: {},
      issues: [{ path: 'messages', message: 'Expected a list.' }],
    })
    expect(anthropicMessages.readRequest({ messages: ['hi', 42] }).messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'hi' }] },
      { role: 'user', content: [{ type: 'nonStandard', value: 42 }] },
    ])
  })
})
