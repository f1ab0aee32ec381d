import { describe, expect, test } from 'vitest'
import { openaiChat } from '../../../src/models/formats/index.ts'
import { eventsOf, frozen, streamed, whole } from '../helpers.ts'

const response = (message: object, others: object = {}) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1_790_000_000,
  model: 'gpt-x-2026',
  choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop', logprobs: null }],
  ...others,
})

const chunk = (delta: object | undefined, others: object = {}) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1_790_000_000,
  model: 'gpt-x-2026',
  choices: delta ? [{ index: 0, delta, finish_reason: null, logprobs: null }] : [],
  usage: null,
  obfuscation: 'abc',
  ...others,
})

const finish = (reason: string, index = 0) =>
  chunk(undefined, { choices: [{ index, delta: {}, finish_reason: reason }] })

const content = (...deltas: object[]) =>
  streamed(openaiChat, [...deltas.map((delta) => chunk(delta)), finish('stop')]).messages[0]!.content

describe('a whole response becomes one message per choice', () => {
  test('reads text, finish reason, usage and metadata', () => {
    const usage = {
      prompt_tokens: 20,
      completion_tokens: 9,
      total_tokens: 29,
      prompt_tokens_details: { cached_tokens: 8, audio_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 4, accepted_prediction_tokens: 2 },
    }
    const read = whole(
      openaiChat,
      response(
        { content: 'Hello', refusal: null },
        { usage, service_tier: 'default', system_fingerprint: 'fp' },
      ),
    )
    expect(read).toEqual({
      messages: [
        {
          role: 'assistant',
          id: 'chatcmpl-1',
          content: [{ type: 'text', text: 'Hello' }],
          finishReason: 'stop',
          usage: {
            inputTokens: 20,
            outputTokens: 9,
            totalTokens: 29,
            inputDetails: { cache_read: 8 },
            outputDetails: { reasoning: 4 },
          },
          metadata: {
            created: 1_790_000_000,
            model: 'gpt-x-2026',
            service_tier: 'default',
            system_fingerprint: 'fp',
            finish_reason: 'stop',
            usage,
          },
        },
      ],
    })
  })

  test('reads every kind of content in order', () => {
    const { messages } = whole(
      openaiChat,
      response({
        reasoning_content: 'Hm.',
        content: 'See there.',
        annotations: [
          {
            type: 'url_citation',
            url_citation: { url: 'https://a.example', title: 'A', start_index: 0, end_index: 3 },
          },
        ],
        refusal: 'No.',
        audio: { id: 'audio_1', data: 'AAAA', transcript: 'la', expires_at: 7 },
        images: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,iVBO' } }],
        function_call: { name: 'old', arguments: '{}' },
        tool_calls: [
          { id: 'call_1', type: 'function', function: { name: 'add', arguments: '{"a":1}' } },
          { id: 'call_2', type: 'custom', custom: { name: 'sql', input: 'SELECT "1"' } },
          { id: 'null', function: { name: 'cut', arguments: '{"a":' } },
        ],
      }),
    )
    expect(messages[0]!.content).toEqual([
      { type: 'reasoning', text: 'Hm.', extras: { field: 'reasoning_content' } },
      {
        type: 'text',
        text: 'See there.',
        annotations: [
          {
            type: 'citation',
            url: 'https://a.example',
            title: 'A',
            startIndex: 0,
            endIndex: 3,
            extras: { type: 'url_citation' },
          },
        ],
      },
      { type: 'text', text: 'No.', extras: { type: 'refusal' } },
      { type: 'audio', fileId: 'audio_1', base64: 'AAAA', extras: { transcript: 'la', expires_at: 7 } },
      { type: 'image', base64: 'iVBO', mimeType: 'image/png' },
      { type: 'toolCall', name: 'old', args: {} },
      { type: 'toolCall', id: 'call_1', name: 'add', args: { a: 1 } },
      {
        type: 'toolCall',
        id: 'call_2',
        name: 'sql',
        args: { input: 'SELECT "1"' },
        extras: { type: 'custom' },
      },
      { type: 'invalidToolCall', name: 'cut', args: '{"a":', error: expect.any(String) },
    ])
    expect(messages[0]!.finishReason).toBe('toolCalls')
  })

  test('each choice becomes a message, and the first has the usage', () => {
    const { messages } = whole(openaiChat, {
      id: 'x',
      object: 'chat.completion',
      model: 'm',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'a' },
          finish_reason: 'stop',
          content_filter_results: { hate: 1 },
        },
        { index: 1, message: { role: 'assistant', content: 'b' }, finish_reason: 'length' },
      ],
      usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
    })
    expect(messages.map(({ content, finishReason }) => [content, finishReason])).toEqual([
      [[{ type: 'text', text: 'a' }], 'stop'],
      [[{ type: 'text', text: 'b' }], 'length'],
    ])
    expect(messages.map(({ usage }) => usage?.totalTokens)).toEqual([3, undefined])
    expect(messages[0]!.metadata).toHaveProperty('content_filter_results', { hate: 1 })
    expect(messages[1]!.metadata).not.toHaveProperty('content_filter_results')
    expect(messages[1]!.metadata).toMatchObject({ model: 'm', finish_reason: 'length' })
  })

  test('reads legacy completions', () => {
    const completion = {
      id: 'cmpl-1',
      object: 'text_completion',
      model: 'instruct',
      choices: [{ index: 0, text: 'Once', finish_reason: 'length', logprobs: null }],
    }
    expect(openaiChat.detect(completion)).toBe('response')
    expect(whole(openaiChat, completion).messages[0]!.content).toEqual([{ type: 'text', text: 'Once' }])
  })

  test('unknown fields are kept at every level, and unknown parts are kept whole', () => {
    const { messages } = whole(openaiChat, {
      choices: [
        {
          index: 0,
          native: 'x',
          message: {
            content: [
              { type: 'text', text: 'a', mood: 1 },
              { type: 'hologram', depth: 3 },
            ],
            executed_tools: [{ index: 0 }],
          },
        },
      ],
      citations: ['https://a.example'],
    })
    expect(messages[0]!.content).toEqual([
      { type: 'text', text: 'a', extras: { mood: 1 } },
      { type: 'nonStandard', value: { type: 'hologram', depth: 3 } },
    ])
    expect(messages[0]!.metadata).toEqual({
      native: 'x',
      executed_tools: [{ index: 0 }],
      citations: ['https://a.example'],
    })
  })

  test('an error instead of a response becomes its error', () => {
    expect(whole(openaiChat, { error: { message: 'Too many', type: 'rate_limit', code: 429 } })).toEqual({
      messages: [
        {
          role: 'assistant',
          content: [],
          finishReason: 'error',
          metadata: { error: { message: 'Too many', type: 'rate_limit', code: 429 } },
        },
      ],
      error: { type: 'error', message: 'Too many', code: '429' },
    })
  })

  test.each([[undefined], [null], [42], ['text'], [[]], [{}], [{ choices: 'none' }]])(
    'a value that is no response (%j) is kept and gets an issue',
    (value) => {
      expect(whole(openaiChat, value)).toEqual({
        messages: [{ role: 'assistant', content: [{ type: 'nonStandard', value }] }],
        issues: [{ path: '', message: 'Expected a response of openaiChat.' }],
      })
    },
  )
})

describe('a stream accumulates to the message of the whole response', () => {
  test('a stream of text gets its usage from a chunk without choices', () => {
    const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 }
    const chunks = [
      chunk({ role: 'assistant', content: '' }),
      chunk({ content: 'Hel' }),
      chunk({ content: 'lo' }),
      finish('stop'),
      chunk(undefined, { usage }),
    ]
    const about = { created: 1_790_000_000, model: 'gpt-x-2026' }
    expect(eventsOf(openaiChat, chunks)).toEqual([
      { type: 'messageStart', id: 'chatcmpl-1', metadata: about },
      { type: 'blockStart', index: 0, block: { type: 'text', text: '' } },
      { type: 'blockDelta', index: 0, delta: { type: 'text', text: 'Hel' } },
      { type: 'blockDelta', index: 0, delta: { type: 'text', text: 'lo' } },
      {
        type: 'messageFinish',
        reason: 'stop',
        usage: { inputTokens: 5, outputTokens: 2, totalTokens: 7 },
        metadata: { ...about, usage, finish_reason: 'stop' },
      },
    ])
    expect(streamed(openaiChat, chunks)).toEqual(whole(openaiChat, response({ content: 'Hello' }, { usage })))
  })

  test('interleaved pieces of parallel calls are told apart by index', () => {
    const call = (index: number, fields: object) => ({ tool_calls: [{ index, ...fields }] })
    expect(
      content(
        call(0, { id: 'a', type: 'function', function: { name: 'f', arguments: '' } }),
        call(1, { id: 'b', type: 'function', function: { name: 'g', arguments: '{"y"' } }),
        call(0, { function: { arguments: '{"x"' } }),
        call(1, { function: { arguments: ':2}' } }),
        call(0, { function: { arguments: ':1}' } }),
      ),
    ).toEqual([
      { type: 'toolCall', id: 'a', name: 'f', args: { x: 1 } },
      { type: 'toolCall', id: 'b', name: 'g', args: { y: 2 } },
    ])
  })

  test.each<[string, object[]]>([
    [
      'the same index with another id is another call',
      [
        { index: 0, id: 'a', function: { name: 'f', arguments: '{"x":1}' } },
        { index: 0, id: 'b', function: { name: 'g', arguments: '{"y"' } },
        { index: 0, function: { arguments: ':2}' } },
      ],
    ],
    [
      'alternating ids at the same index are two calls',
      [
        { index: 0, id: 'a', function: { name: 'f', arguments: '{"x"' } },
        { index: 0, id: 'b', function: { name: 'g', arguments: '{"y"' } },
        { index: 0, id: 'a', function: { arguments: ':1}' } },
        { index: 0, id: 'b', function: { arguments: ':2}' } },
      ],
    ],
    [
      'calls without an index are told apart by id',
      [
        { id: 'a', function: { name: 'f', arguments: '{"x":1}' } },
        { id: 'b', function: { name: 'g', arguments: '{"y":' } },
        { function: { arguments: '2}' } },
      ],
    ],
    [
      'id and name may be repeated in every piece',
      [
        { index: 0, id: 'a', function: { name: 'f', arguments: '{"x"' } },
        { index: 0, id: 'a', function: { name: 'f', arguments: ':1}' } },
        { index: 1, id: 'b', function: { name: 'g', arguments: '{"y"' } },
        { index: 1, id: 'b', function: { name: 'g', arguments: ':2}' } },
      ],
    ],
    [
      'id and name may come late',
      [
        { index: 0, function: { arguments: '{"x"' } },
        { index: 0, id: 'a', function: { name: 'f', arguments: ':1}' } },
        { index: 1, id: 'b', function: { arguments: '{"y":2}' } },
        { index: 1, function: { name: 'g' } },
      ],
    ],
  ])('%s', (_, pieces) => {
    const calls = [
      { type: 'toolCall', id: 'a', name: 'f', args: { x: 1 } },
      { type: 'toolCall', id: 'b', name: 'g', args: { y: 2 } },
    ]
    expect(content(...pieces.map((piece) => ({ tool_calls: [piece] })))).toEqual(calls)
    expect(content({ tool_calls: pieces })).toEqual(calls)
  })

  test('whole calls in one chunk need no ids or indexes', () => {
    const call = (x: number) => ({ function: { name: 'f', arguments: { x } } })
    expect(content({ tool_calls: [call(1), call(2)] })).toEqual([
      { type: 'toolCall', name: 'f', args: { x: 1 } },
      { type: 'toolCall', name: 'f', args: { x: 2 } },
    ])
  })

  test('an id "null" is none, and another name at the same index is another call', () => {
    expect(
      content(
        { tool_calls: [{ index: 0, id: 'null', function: { name: 'f', arguments: '{}' } }] },
        { tool_calls: [{ index: 0, id: 'null', function: { name: 'g', arguments: '{}' } }] },
      ),
    ).toEqual([
      { type: 'toolCall', name: 'f', args: {} },
      { type: 'toolCall', name: 'g', args: {} },
    ])
  })

  test('text and calls stay separate, custom input accumulates, and cut-off arguments stay raw', () => {
    expect(
      content(
        { reasoning: 'Hm' },
        { content: 'I ' },
        { tool_calls: [{ index: 0, id: 'a', type: 'custom', custom: { name: 'sql', input: 'SEL' } }] },
        { reasoning: 'm.' },
        { tool_calls: [{ index: 0, custom: { input: 'ECT' } }] },
        { content: 'ask.' },
        { tool_calls: [{ index: 1, id: 'b', function: { name: 'f', arguments: '{"x":' } }] },
      ),
    ).toEqual([
      { type: 'reasoning', text: 'Hmm.', extras: { field: 'reasoning' } },
      { type: 'text', text: 'I ask.' },
      { type: 'toolCall', id: 'a', name: 'sql', args: { input: 'SELECT' }, extras: { type: 'custom' } },
      { type: 'invalidToolCall', id: 'b', name: 'f', args: '{"x":', error: expect.any(String) },
    ])
  })

  test('refusals, separately encoded audio, annotations and images accumulate', () => {
    const citation = { type: 'url_citation', url_citation: { url: 'https://a.example', title: 'A' } }
    expect(
      content(
        { refusal: 'I ' },
        { refusal: 'cannot.' },
        { audio: { id: 'audio_1', transcript: 'Hel' } },
        { audio: { data: btoa('one') } },
        { audio: { data: btoa('four'), transcript: 'lo' } },
        { audio: { data: btoa('seven!!') } },
        { audio: { expires_at: 9 } },
        { content: 'See' },
        { annotations: [citation] },
        { images: [{ type: 'image_url', image_url: { url: 'https://a.example/1.png' } }] },
        { images: [{ type: 'image_url', image_url: { url: 'https://a.example/2.png' } }] },
      ),
    ).toEqual([
      { type: 'text', text: 'I cannot.', extras: { type: 'refusal' } },
      {
        type: 'audio',
        fileId: 'audio_1',
        base64: btoa('onefourseven!!'),
        extras: { transcript: 'Hello', expires_at: 9 },
      },
      {
        type: 'text',
        text: 'See',
        annotations: [
          { type: 'citation', url: 'https://a.example', title: 'A', extras: { type: 'url_citation' } },
        ],
      },
      { type: 'image', url: 'https://a.example/1.png' },
      { type: 'image', url: 'https://a.example/2.png' },
    ])
  })

  test('reasoning details are merged by their index', () => {
    const detail = (index: number, fields: object) => ({
      reasoning: 'x',
      reasoning_details: [{ type: 'reasoning.text', index, format: 'v1', ...fields }],
    })
    expect(
      content(
        detail(0, { text: 'He' }),
        detail(0, { text: 'y', signature: 's' }),
        detail(1, { data: 'enc' }),
      ),
    ).toEqual([
      {
        type: 'reasoning',
        text: 'xxx',
        extras: {
          field: 'reasoning',
          reasoning_details: [
            { type: 'reasoning.text', index: 0, format: 'v1', text: 'Hey', signature: 's' },
            { type: 'reasoning.text', index: 1, format: 'v1', data: 'enc' },
          ],
        },
      },
    ])
  })

  test('parts of content accumulate as Mistral sends them', () => {
    const thinking = (text: string) => ({
      content: [{ type: 'thinking', thinking: [{ type: 'text', text }] }],
    })
    expect(
      content(
        thinking('Hm'),
        thinking('m.'),
        { content: [{ type: 'text', text: 'A' }] },
        { content: [{ type: 'text', text: 'h' }] },
      ),
    ).toEqual([
      { type: 'reasoning', text: 'Hmm.', extras: { field: 'thinking' } },
      { type: 'text', text: 'Ah' },
    ])
  })

  test('choices are kept apart', () => {
    const piece = (index: number, text: string) => ({ choices: [{ index, delta: { content: text } }] })
    const { messages } = streamed(openaiChat, [
      piece(1, 'B'),
      piece(0, 'A'),
      piece(1, 'b'),
      piece(0, 'a'),
      finish('length', 1),
      finish('stop', 0),
      chunk(undefined, { usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } }),
    ])
    expect(
      messages.map(({ content, finishReason, usage }) => [content, finishReason, usage?.totalTokens]),
    ).toEqual([
      [[{ type: 'text', text: 'Aa' }], 'stop', 2],
      [[{ type: 'text', text: 'Bb' }], 'length', undefined],
    ])
  })

  test('log probabilities and fields of every chunk are kept', () => {
    const token = (token: string) => ({ token, logprob: -1, bytes: null, top_logprobs: [] })
    const piece = (text: string, logprobs: object, others = {}) =>
      chunk(undefined, { choices: [{ index: 0, delta: { content: text, mood: text }, logprobs }], ...others })
    const { messages } = streamed(openaiChat, [
      piece('a', { content: [token('a')], refusal: null }, { provider: 'P', citations: ['1'] }),
      piece('b', { content: [token('b')], refusal: null }, { citations: ['1', '2'] }),
    ])
    expect(messages[0]!.metadata).toMatchObject({
      provider: 'P',
      citations: ['1', '2'],
      logprobs: { content: [token('a'), token('b')], refusal: null },
      mood: 'b',
    })
  })

  test('id and model may come after the first chunk, as from Azure', () => {
    const first = {
      id: '',
      model: '',
      object: '',
      created: 0,
      choices: [],
      prompt_filter_results: [{ prompt_index: 0 }],
    }
    expect(openaiChat.detect(first)).toBe('chunk')
    const { messages } = streamed(openaiChat, [first, chunk({ content: 'a' })])
    expect(messages[0]).toMatchObject({
      id: 'chatcmpl-1',
      metadata: { model: 'gpt-x-2026', prompt_filter_results: [{ prompt_index: 0 }] },
    })
  })

  test('usage may stand where Groq puts it, and the last report replaces the earlier ones', () => {
    const usage = (completion_tokens: number) => ({
      prompt_tokens: 3,
      completion_tokens,
      total_tokens: 3 + completion_tokens,
    })
    const tokens = (...chunks: object[]) => streamed(openaiChat, chunks).messages[0]!.usage?.outputTokens
    expect(tokens(chunk({ content: 'a' }), chunk({}, { x_groq: { id: 'r', usage: usage(4) } }))).toBe(4)
    expect(
      tokens(chunk({ content: 'a' }, { usage: usage(1) }), chunk({ content: 'b' }, { usage: usage(2) })),
    ).toBe(2)
    expect(tokens(chunk({ content: 'a' }))).toBeUndefined()
  })

  test('an error in the middle of a stream keeps the text before it', () => {
    const error = { message: 'Overloaded', code: 529 }
    const read = streamed(openaiChat, [chunk({ content: 'Hel' }), { error }])
    expect(read.error).toEqual({ type: 'error', message: 'Overloaded', code: '529' })
    expect(read.messages[0]).toMatchObject({
      content: [{ type: 'text', text: 'Hel' }],
      finishReason: 'error',
      metadata: { error },
    })
  })

  test('unknown chunks are kept, and the stream ends once', () => {
    expect(streamed(openaiChat, ['[DONE]', chunk({ content: 'a' })]).messages[0]).toMatchObject({
      content: [{ type: 'text', text: 'a' }],
      metadata: { unknownEvents: ['[DONE]'] },
    })
    const reader = openaiChat.readStream()
    expect(reader.end()).toEqual([{ type: 'messageStart' }, { type: 'messageFinish' }])
    expect(reader.end()).toEqual([])
  })
})

describe('a request becomes messages, parameters and extras', () => {
  test('messages of all roles are read, parameters get one name, and other fields are kept', () => {
    const tools = [{ type: 'function', function: { name: 'add', parameters: {} } }]
    const request = {
      model: 'gpt-x',
      messages: [
        { role: 'developer', content: 'Be brief.' },
        {
          role: 'user',
          name: 'Ann',
          content: [
            { type: 'text', text: 'See' },
            { type: 'image_url', image_url: { url: 'https://a.example/1.png', detail: 'low' } },
            { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBO' } },
            { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
            { type: 'file', file: { file_data: 'data:application/pdf;base64,JVBE', filename: 'a.pdf' } },
            { type: 'file', file: { file_id: 'file_1' } },
          ],
        },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'add', arguments: '{"a":1}' } }],
        },
        { role: 'tool', tool_call_id: 'c', content: '2' },
        { role: 'function', name: 'old', content: '3' },
        { role: 'assistant', content: 'Done', refusal: null, prefix: true },
        { role: 'critic', content: 'Hm' },
      ],
      tools,
      temperature: 0.5,
      max_completion_tokens: 100,
      top_p: 0.9,
      n: 2,
      stop: 'END',
      stream: true,
      seed: 4,
      response_format: { type: 'json_object' },
      user: 'u',
      frequency_penalty: null,
    }
    expect(openaiChat.detect(request)).toBe('request')
    expect(openaiChat.readRequest(frozen(request))).toEqual({
      messages: [
        { role: 'system', content: [{ type: 'text', text: 'Be brief.' }], extras: { role: 'developer' } },
        {
          role: 'user',
          name: 'Ann',
          content: [
            { type: 'text', text: 'See' },
            { type: 'image', url: 'https://a.example/1.png', extras: { detail: 'low' } },
            { type: 'image', base64: 'iVBO', mimeType: 'image/png' },
            { type: 'audio', base64: 'AAAA', mimeType: 'audio/wav', extras: { format: 'wav' } },
            { type: 'file', base64: 'JVBE', mimeType: 'application/pdf', extras: { filename: 'a.pdf' } },
            { type: 'file', fileId: 'file_1' },
          ],
        },
        { role: 'assistant', content: [{ type: 'toolCall', id: 'c', name: 'add', args: { a: 1 } }] },
        { role: 'tool', toolCallId: 'c', content: [{ type: 'text', text: '2' }] },
        { role: 'tool', name: 'old', content: [{ type: 'text', text: '3' }], extras: { role: 'function' } },
        { role: 'assistant', content: [{ type: 'text', text: 'Done' }], extras: { prefix: true } },
        { role: 'user', content: [{ type: 'text', text: 'Hm' }], extras: { role: 'critic' } },
      ],
      tools,
      params: {
        model: 'gpt-x',
        temperature: 0.5,
        maxTokens: 100,
        topP: 0.9,
        choiceCount: 2,
        stop: ['END'],
        stream: true,
        seed: 4,
      },
      extras: { response_format: { type: 'json_object' }, user: 'u' },
    })
  })

  test('the prompt of a legacy completion becomes a user message', () => {
    expect(openaiChat.readRequest({ model: 'm', prompt: 'Once' }).messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'Once' }] },
    ])
  })

  test('a value that is no request gets an issue, and a message that is none becomes a user message', () => {
    expect(openaiChat.readRequest(undefined)).toEqual({
      messages: [],
      params: {},
      extras: {},
      issues: [{ path: 'messages', message: 'Expected a list.' }],
    })
    expect(openaiChat.readRequest({ messages: ['hi', 42] }).messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'hi' }] },
      { role: 'user', content: [{ type: 'nonStandard', value: 42 }] },
    ])
  })
})
