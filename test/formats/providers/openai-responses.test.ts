import { describe, expect, test } from 'vitest'
import { openaiResponses } from '../../../src/models/formats/index.ts'
import { eventsOf, frozen, streamed, whole } from '../helpers.ts'

const usage = {
  input_tokens: 20,
  input_tokens_details: { cached_tokens: 8, cache_write_tokens: 2 },
  output_tokens: 9,
  output_tokens_details: { reasoning_tokens: 4 },
  total_tokens: 29,
}

const response = (output: readonly object[], others: object = {}) => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1_790_000_000,
  model: 'gpt-x',
  status: 'completed',
  output,
  usage,
  error: null,
  incomplete_details: null,
  instructions: 'Be brief.',
  tools: [{ type: 'function', name: 'f' }],
  temperature: 1,
  ...others,
})

const text = (value: string, annotations: readonly object[] = []) => ({
  type: 'output_text',
  text: value,
  annotations,
})
const said = (id: string, ...content: object[]) => ({
  type: 'message',
  id,
  role: 'assistant',
  status: 'completed',
  content,
})
const called = (id: string, name: string, args: string) => ({
  type: 'function_call',
  id: `fc_${id}`,
  call_id: id,
  name,
  arguments: args,
  status: 'completed',
})

const created = { type: 'response.created', response: response([], { status: 'in_progress', usage: null }) }
const added = (output_index: number, item: object) => ({
  type: 'response.output_item.added',
  output_index,
  item,
})
const done = (output_index: number, item: object) => ({
  type: 'response.output_item.done',
  output_index,
  item,
})
const delta = (name: string, output_index: number, piece: string, others: object = {}) => ({
  type: `response.${name}.delta`,
  output_index,
  delta: piece,
  ...others,
})
const completed = (output: readonly object[], others: object = {}) => ({
  type: 'response.completed',
  response: response(output, others),
})

const blocksOf = (...output: object[]) => whole(openaiResponses, response(output)).messages[0]!.content

const CITED = {
  type: 'url_citation',
  url: 'https://a.example',
  title: 'A',
  start_index: 0,
  end_index: 3,
}

test('two items with one id stay two, and none is read twice', () => {
  const odd = { type: 'hologram', id: 'same' }
  const call = { ...called('call_1', 'add', '{}'), id: 'same' }
  const chunks = [
    created,
    added(0, odd),
    done(0, odd),
    added(1, { ...call, arguments: '' }),
    delta('function_call_arguments', 1, '{}', { item_id: 'same' }),
    done(1, call),
    completed([odd, call]),
  ]
  expect(streamed(openaiResponses, chunks).messages[0]!.content).toEqual(blocksOf(odd, call))
})

describe('a whole response becomes one message with the blocks of its items', () => {
  test('reads text, status, usage and metadata', () => {
    expect(
      whole(openaiResponses, response([said('msg_1', text('Hello'))], { service_tier: 'default' })),
    ).toEqual({
      messages: [
        {
          role: 'assistant',
          id: 'resp_1',
          content: [{ type: 'text', id: 'msg_1', text: 'Hello' }],
          finishReason: 'stop',
          usage: {
            inputTokens: 20,
            outputTokens: 9,
            totalTokens: 29,
            inputDetails: { cache_read: 8, cache_creation: 2 },
            outputDetails: { reasoning: 4 },
          },
          metadata: {
            created_at: 1_790_000_000,
            model: 'gpt-x',
            status: 'completed',
            service_tier: 'default',
            temperature: 1,
            usage,
          },
        },
      ],
    })
  })

  test('reads messages with phases, refusals and citations, and reasoning in parts', () => {
    expect(
      blocksOf(
        {
          type: 'reasoning',
          id: 'rs_1',
          encrypted_content: 'enc',
          summary: [
            { type: 'summary_text', text: 'One.' },
            { type: 'summary_text', text: 'Two.' },
          ],
          content: [{ type: 'reasoning_text', text: 'Raw.' }],
        },
        { type: 'reasoning', id: 'rs_2', encrypted_content: 'enc2', summary: [] },
        { ...said('msg_1', text('See'), { type: 'refusal', refusal: 'No.' }), phase: 'commentary' },
        said(
          'msg_2',
          text('There', [CITED, { type: 'file_citation', file_id: 'file_1', filename: 'a.md', index: 2 }]),
        ),
      ),
    ).toEqual([
      { type: 'reasoning', id: 'rs_1', text: 'One.', extras: { encrypted_content: 'enc' } },
      { type: 'reasoning', id: 'rs_1', text: 'Two.' },
      { type: 'reasoning', id: 'rs_1', text: 'Raw.', extras: { type: 'reasoning_text' } },
      { type: 'reasoning', id: 'rs_2', text: '', extras: { encrypted_content: 'enc2' } },
      { type: 'text', id: 'msg_1', text: 'See', extras: { phase: 'commentary' } },
      { type: 'text', id: 'msg_1', text: 'No.', extras: { type: 'refusal', phase: 'commentary' } },
      {
        type: 'text',
        id: 'msg_2',
        text: 'There',
        annotations: [
          {
            type: 'citation',
            url: 'https://a.example',
            title: 'A',
            startIndex: 0,
            endIndex: 3,
            extras: { type: 'url_citation' },
          },
          { type: 'citation', title: 'a.md', extras: { type: 'file_citation', file_id: 'file_1', index: 2 } },
        ],
      },
    ])
  })

  test('reads calls of every kind', () => {
    expect(
      blocksOf(
        { ...called('call_1', 'add', '{"a":1}'), namespace: 'math' },
        called('call_2', 'cut', '{"a":'),
        { type: 'custom_tool_call', id: 'ctc_1', call_id: 'call_3', name: 'sql', input: 'SELECT' },
        {
          type: 'computer_call',
          id: 'cu_1',
          call_id: 'call_4',
          status: 'completed',
          action: { type: 'click', x: 1 },
        },
        {
          type: 'apply_patch_call',
          id: 'ap_1',
          call_id: 'call_5',
          operation: { type: 'delete_file', path: 'a' },
        },
      ),
    ).toEqual([
      {
        type: 'toolCall',
        id: 'call_1',
        name: 'add',
        args: { a: 1 },
        extras: { item_id: 'fc_call_1', namespace: 'math' },
      },
      {
        type: 'invalidToolCall',
        id: 'call_2',
        name: 'cut',
        args: '{"a":',
        error: expect.any(String),
        extras: { item_id: 'fc_call_2' },
      },
      {
        type: 'toolCall',
        id: 'call_3',
        name: 'sql',
        args: { input: 'SELECT' },
        extras: { type: 'custom_tool_call', item_id: 'ctc_1' },
      },
      {
        type: 'toolCall',
        id: 'call_4',
        name: 'computer',
        args: { action: { type: 'click', x: 1 } },
        extras: { type: 'computer_call', item_id: 'cu_1' },
      },
      {
        type: 'toolCall',
        id: 'call_5',
        name: 'apply_patch',
        args: { operation: { type: 'delete_file', path: 'a' } },
        extras: { type: 'apply_patch_call', item_id: 'ap_1' },
      },
    ])
  })

  test('reads tools that the provider runs, with their results and errors', () => {
    expect(
      blocksOf(
        { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'x' } },
        {
          type: 'file_search_call',
          id: 'fs_1',
          status: 'completed',
          queries: ['x'],
          results: [{ file_id: 'f' }],
        },
        {
          type: 'code_interpreter_call',
          id: 'ci_1',
          status: 'completed',
          code: '1+1',
          container_id: 'c',
          outputs: [{ type: 'logs', logs: '2' }],
        },
        {
          type: 'image_generation_call',
          id: 'ig_1',
          status: 'completed',
          result: 'iVBO',
          output_format: 'webp',
        },
        {
          type: 'mcp_call',
          id: 'mcp_1',
          name: 'ask',
          server_label: 's',
          arguments: '{"q":1}',
          output: 'yes',
          error: null,
        },
        {
          type: 'mcp_call',
          id: 'mcp_2',
          name: 'ask',
          server_label: 's',
          arguments: '{',
          error: 'refused',
          status: 'failed',
        },
        { type: 'mcp_approval_request', id: 'mcpr_1', name: 'ask', arguments: '{}', server_label: 's' },
      ),
    ).toEqual([
      {
        type: 'serverToolCall',
        id: 'ws_1',
        name: 'web_search',
        args: { action: { type: 'search', query: 'x' } },
        extras: { type: 'web_search_call' },
      },
      {
        type: 'serverToolCall',
        id: 'fs_1',
        name: 'file_search',
        args: { queries: ['x'] },
        extras: { type: 'file_search_call' },
      },
      { type: 'serverToolResult', toolCallId: 'fs_1', status: 'success', output: [{ file_id: 'f' }] },
      {
        type: 'serverToolCall',
        id: 'ci_1',
        name: 'code_interpreter',
        args: { code: '1+1', container_id: 'c' },
        extras: { type: 'code_interpreter_call' },
      },
      {
        type: 'serverToolResult',
        toolCallId: 'ci_1',
        status: 'success',
        output: [{ type: 'logs', logs: '2' }],
      },
      {
        type: 'serverToolCall',
        id: 'ig_1',
        name: 'image_generation',
        args: { output_format: 'webp' },
        extras: { type: 'image_generation_call' },
      },
      { type: 'image', base64: 'iVBO', mimeType: 'image/webp' },
      {
        type: 'serverToolCall',
        id: 'mcp_1',
        name: 'ask',
        args: { q: 1 },
        extras: { type: 'mcp_call', server_label: 's' },
      },
      { type: 'serverToolResult', toolCallId: 'mcp_1', status: 'success', output: 'yes' },
      {
        type: 'invalidToolCall',
        id: 'mcp_2',
        name: 'ask',
        args: '{',
        error: expect.any(String),
        extras: { type: 'mcp_call', server_label: 's', server: true },
      },
      { type: 'serverToolResult', toolCallId: 'mcp_2', status: 'error', output: 'refused' },
      {
        type: 'nonStandard',
        value: {
          type: 'mcp_approval_request',
          id: 'mcpr_1',
          name: 'ask',
          arguments: '{}',
          server_label: 's',
        },
      },
    ])
  })

  test.each([
    [{ status: 'completed' }, 'stop'],
    [{ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }, 'length'],
    [{ status: 'incomplete', incomplete_details: { reason: 'content_filter' } }, 'contentFilter'],
    [{ status: 'failed' }, 'error'],
    [{ status: 'cancelled' }, 'other'],
    [{ status: 'in_progress' }, undefined],
  ])('%j finishes as %s', (fields, reason) => {
    expect(whole(openaiResponses, response([], fields)).messages[0]!.finishReason).toBe(reason)
  })

  test('a response with calls finishes as `toolCalls`', () => {
    expect(whole(openaiResponses, response([called('c', 'f', '{}')])).messages[0]!.finishReason).toBe(
      'toolCalls',
    )
  })

  test('a service tier with its own prices names the details that it prices', () => {
    expect(whole(openaiResponses, response([], { service_tier: 'flex' })).messages[0]!.usage).toMatchObject({
      inputDetails: { flex_cache_read: 8, flex_cache_creation: 2, flex: 10 },
      outputDetails: { flex_reasoning: 4, flex: 5 },
    })
  })

  test('a failure becomes the error of the response, and a value that is no response gets an issue', () => {
    const error = { code: 'server_error', message: 'Down' }
    expect(whole(openaiResponses, response([], { status: 'failed', error }))).toMatchObject({
      messages: [{ finishReason: 'error', metadata: { error } }],
      error: { type: 'error', message: 'Down', code: 'server_error' },
    })
    expect(whole(openaiResponses, { output: 'none' }).issues).toEqual([
      { path: '', message: 'Expected a response of openaiResponses.' },
    ])
  })
})

describe('a stream accumulates to the message of the whole response', () => {
  const thought = {
    type: 'reasoning',
    id: 'rs_1',
    encrypted_content: 'enc',
    summary: [
      { type: 'summary_text', text: 'One.' },
      { type: 'summary_text', text: 'Two.' },
    ],
  }
  const search = {
    type: 'file_search_call',
    id: 'fs_1',
    status: 'completed',
    queries: ['x'],
    results: [{ file_id: 'f' }],
  }
  const code = {
    type: 'code_interpreter_call',
    id: 'ci_1',
    status: 'completed',
    code: '1+1',
    container_id: 'c',
    outputs: [],
  }
  const sql = { type: 'custom_tool_call', id: 'ctc_1', call_id: 'call_2', name: 'sql', input: 'SELECT' }
  const words = said('msg_1', text('Hello', [CITED]), { type: 'refusal', refusal: 'No.' })
  const call = called('call_1', 'add', '{"a":1}')
  const output = [thought, search, words, call, sql, code]
  const part = (content_index: number) => ({ content_index, item_id: 'msg_1' })

  const pieces = [
    created,
    added(0, { type: 'reasoning', id: 'rs_1', summary: [] }),
    { type: 'response.reasoning_summary_part.added', output_index: 0, summary_index: 0, part: {} },
    delta('reasoning_summary_text', 0, 'On', { summary_index: 0 }),
    delta('reasoning_summary_text', 0, 'e.', { summary_index: 0 }),
    delta('reasoning_summary_text', 0, 'Two.', { summary_index: 1 }),
    done(0, thought),
    added(1, { type: 'file_search_call', id: 'fs_1', status: 'in_progress', queries: [], results: null }),
    { type: 'response.file_search_call.searching', output_index: 1, item_id: 'fs_1' },
    done(1, search),
    added(2, { ...words, content: [], status: 'in_progress' }),
    { type: 'response.content_part.added', output_index: 2, ...part(0), part: text('') },
    delta('output_text', 2, 'Hel', part(0)),
    delta('output_text', 2, 'lo', part(0)),
    { type: 'response.output_text.annotation.added', output_index: 2, ...part(0), annotation: CITED },
    { type: 'response.output_text.done', output_index: 2, ...part(0), text: 'Hello' },
    delta('refusal', 2, 'No.', part(1)),
    done(2, words),
    added(3, { ...call, arguments: '', status: 'in_progress' }),
    delta('function_call_arguments', 3, '{"a"'),
    delta('function_call_arguments', 3, ':1}'),
    { type: 'response.function_call_arguments.done', output_index: 3, arguments: '{"a":1}' },
    done(3, call),
    added(4, { ...sql, input: '' }),
    delta('custom_tool_call_input', 4, 'SEL'),
    delta('custom_tool_call_input', 4, 'ECT'),
    done(4, sql),
    added(5, { ...code, code: '', outputs: null, status: 'in_progress' }),
    delta('code_interpreter_call_code', 5, '1+'),
    delta('code_interpreter_call_code', 5, '1'),
    done(5, code),
  ]

  test('items of all kinds accumulate to the whole response', () => {
    expect(streamed(openaiResponses, [...pieces, completed(output)])).toEqual(
      whole(openaiResponses, response(output)),
    )
  })

  test('without the final event the items are read, and without those their deltas', () => {
    const expected = whole(openaiResponses, response(output)).messages[0]!.content
    expect(streamed(openaiResponses, pieces).messages[0]!.content).toEqual(expected)
    const deltas = pieces.filter(({ type }) => !type.endsWith('.done'))
    expect(streamed(openaiResponses, deltas).messages[0]!.content).toEqual([
      { type: 'reasoning', text: 'One.' },
      { type: 'reasoning', text: 'Two.' },
      expect.objectContaining({ type: 'serverToolCall', id: 'fs_1', name: 'file_search' }),
      { type: 'text', text: 'Hello', annotations: [expect.objectContaining({ url: 'https://a.example' })] },
      { type: 'text', text: 'No.', extras: { type: 'refusal' } },
      expect.objectContaining({ type: 'toolCall', id: 'call_1', name: 'add', args: { a: 1 } }),
      expect.objectContaining({ type: 'toolCall', id: 'call_2', name: 'sql', args: { input: 'SELECT' } }),
      expect.objectContaining({ id: 'ci_1', args: { code: '1+1', container_id: 'c' } }),
    ])
  })

  test('the final event alone is enough', () => {
    expect(streamed(openaiResponses, [created, completed(output)])).toEqual(
      whole(openaiResponses, response(output)),
    )
  })

  test('changing ids and late pieces of an item do not repeat it', () => {
    const { content } = streamed(openaiResponses, [
      created,
      added(0, { ...words, id: 'msg_x', content: [] }),
      delta('output_text', 0, 'Hello', { content_index: 0, item_id: 'msg_y' }),
      done(0, said('msg_z', text('Hello'))),
      delta('output_text', 0, 'Hello', { content_index: 0, item_id: 'msg_y' }),
      done(0, said('msg_z', text('Hello'))),
      completed([said('msg_w', text('Hello'))]),
    ]).messages[0]!
    expect(content).toEqual([{ type: 'text', id: 'msg_z', text: 'Hello' }])
  })

  test('interleaved pieces of parallel calls are told apart', () => {
    const { content, finishReason } = streamed(openaiResponses, [
      created,
      added(0, called('a', 'f', '')),
      added(1, called('b', 'g', '')),
      delta('function_call_arguments', 1, '{"y"'),
      delta('function_call_arguments', 0, '{"x"'),
      delta('function_call_arguments', 1, ':2}'),
      delta('function_call_arguments', 0, ':1}'),
      done(1, called('b', 'g', '{"y":2}')),
      done(0, called('a', 'f', '{"x":1}')),
      completed([called('a', 'f', '{"x":1}'), called('b', 'g', '{"y":2}')]),
    ]).messages[0]!
    expect(content).toMatchObject([
      { type: 'toolCall', id: 'a', args: { x: 1 } },
      { type: 'toolCall', id: 'b', args: { y: 2 } },
    ])
    expect(finishReason).toBe('toolCalls')
  })

  test('audio and its transcript accumulate to one block', () => {
    const { content } = streamed(openaiResponses, [
      created,
      { type: 'response.audio.delta', delta: btoa('on') },
      { type: 'response.audio.transcript.delta', delta: 'Hel' },
      { type: 'response.audio.delta', delta: btoa('e!') },
      { type: 'response.audio.transcript.delta', delta: 'lo' },
      { type: 'response.audio.done' },
    ]).messages[0]!
    expect(content).toEqual([{ type: 'audio', base64: btoa('one!'), extras: { transcript: 'Hello' } }])
  })

  test('previews of images that are completed are not stored', () => {
    const preview = {
      type: 'response.image_generation_call.partial_image',
      output_index: 0,
      partial_image_b64: 'iVBO',
    }
    const image = { type: 'image_generation_call', id: 'g', result: 'AAAA' }
    expect(JSON.stringify(eventsOf(openaiResponses, [created, preview, done(0, image)]))).not.toContain(
      'iVBO',
    )
  })

  test.each([
    ['incomplete', { incomplete_details: { reason: 'max_output_tokens' } }, 'length', undefined],
    ['failed', { error: { code: 'server_error', message: 'Down' } }, 'error', 'Down'],
  ])('a stream that ends as %s keeps its text and usage', (status, fields, reason, message) => {
    const read = streamed(openaiResponses, [
      created,
      delta('output_text', 0, 'Hel', { content_index: 0 }),
      { type: `response.${status}`, response: response([], { status, ...fields }) },
    ])
    expect(read.messages[0]).toMatchObject({
      content: [{ type: 'text', text: 'Hel' }],
      finishReason: reason,
      usage: { totalTokens: 29 },
    })
    expect(read.error?.message).toBe(message)
  })

  test('an error event without an envelope is read', () => {
    const read = streamed(openaiResponses, [
      created,
      { type: 'error', code: null, message: 'Gone', param: null },
    ])
    expect(read.error).toEqual({ type: 'error', message: 'Gone' })
    expect(read.messages[0]).toMatchObject({ id: 'resp_1', finishReason: 'error' })
  })

  test('unknown events and items are kept', () => {
    const news = { type: 'response.news', text: 'x' }
    const { content, metadata } = streamed(openaiResponses, [
      created,
      news,
      { type: 'keepalive' },
      added(0, { type: 'hologram', id: 'h' }),
      done(0, { type: 'hologram', id: 'h', depth: 3 }),
    ]).messages[0]!
    expect(content).toEqual([{ type: 'nonStandard', value: { type: 'hologram', id: 'h', depth: 3 } }])
    expect(metadata!.unknownEvents).toEqual([news, { type: 'keepalive' }])
  })
})

describe('a request becomes messages, parameters and extras', () => {
  test('consecutive items of the model become one message', () => {
    const request = {
      model: 'gpt-x',
      instructions: 'Be brief.',
      input: [
        { role: 'developer', content: 'In French.' },
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'See' },
            { type: 'input_image', image_url: 'data:image/png;base64,iVBO', detail: 'low' },
            { type: 'input_file', file_id: 'file_1' },
            { type: 'input_file', file_url: 'https://a.example/a.pdf' },
          ],
        },
        { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'enc' },
        called('a', 'f', '{"x":1}'),
        called('b', 'g', '{}'),
        { type: 'function_call_output', call_id: 'a', output: 'one' },
        {
          type: 'computer_call_output',
          call_id: 'b',
          output: { type: 'computer_screenshot', image_url: 'https://a.example/1.png' },
        },
        { role: 'assistant', content: 'Voilà' },
        { type: 'item_reference', id: 'msg_9' },
        { type: 'mcp_approval_response', approval_request_id: 'mcpr_1', approve: true },
      ],
      max_output_tokens: 100,
      previous_response_id: 'resp_0',
      reasoning: { effort: 'low' },
    }
    expect(openaiResponses.detect(request)).toBe('request')
    expect(openaiResponses.readRequest(frozen(request))).toEqual({
      messages: [
        { role: 'system', content: [{ type: 'text', text: 'Be brief.' }] },
        { role: 'system', content: [{ type: 'text', text: 'In French.' }], extras: { role: 'developer' } },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'See' },
            { type: 'image', base64: 'iVBO', mimeType: 'image/png', extras: { detail: 'low' } },
            { type: 'file', fileId: 'file_1' },
            { type: 'file', url: 'https://a.example/a.pdf' },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'reasoning', id: 'rs_1', text: '', extras: { encrypted_content: 'enc' } },
            { type: 'toolCall', id: 'a', name: 'f', args: { x: 1 }, extras: { item_id: 'fc_a' } },
            { type: 'toolCall', id: 'b', name: 'g', args: {}, extras: { item_id: 'fc_b' } },
          ],
        },
        { role: 'tool', toolCallId: 'a', content: [{ type: 'text', text: 'one' }] },
        {
          role: 'tool',
          toolCallId: 'b',
          content: [
            { type: 'image', url: 'https://a.example/1.png', extras: { type: 'computer_screenshot' } },
          ],
          extras: { type: 'computer_call_output' },
        },
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'Voilà' },
            { type: 'nonStandard', value: { type: 'item_reference', id: 'msg_9' } },
          ],
        },
        {
          role: 'user',
          content: [
            {
              type: 'nonStandard',
              value: { type: 'mcp_approval_response', approval_request_id: 'mcpr_1', approve: true },
            },
          ],
        },
      ],
      params: { model: 'gpt-x', maxTokens: 100 },
      extras: { previous_response_id: 'resp_0', reasoning: { effort: 'low' } },
    })
  })

  test('a text input becomes a user message, and a value that is no request gets an issue', () => {
    expect(openaiResponses.readRequest({ input: 'Hi' })).toEqual({
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
      params: {},
      extras: {},
    })
    expect(openaiResponses.readRequest({ input: 7 }).issues).toEqual([
      { path: 'input', message: 'Expected a list.' },
    ])
    expect(openaiResponses.readRequest({ input: [42] }).messages).toEqual([
      { role: 'user', content: [{ type: 'nonStandard', value: 42 }] },
    ])
  })
})

test.each([
  ['OpenRouter', { cost: 0.5 }, 0.5],
  ['xAI', { cost_in_usd_ticks: 1_330_500 }, 0.00013305],
])('%s sends the cost with the counts', (_, cost, totalCost) => {
  expect(
    whole(openaiResponses, response([], { usage: { ...usage, ...cost } })).messages[0]!.usage,
  ).toMatchObject({ totalTokens: 29, totalCost })
})

test('a stream that breaks off keeps the pieces of commands, patches and images', () => {
  const event = (type: string, output_index: number, rest: object) => ({
    type: `response.${type}`,
    output_index,
    ...rest,
  })
  const added = (at: number, item: object) => event('output_item.added', at, { item })
  const shell = { type: 'shell_call', id: 's', call_id: 'c1', action: { commands: [] } }
  const operation = { type: 'update_file', path: 'a.txt', diff: '' }
  const partial = (b64: string) =>
    event('image_generation_call.partial_image', 2, { output_format: 'webp', partial_image_b64: b64 })
  const chunks = [
    created,
    added(0, shell),
    event('shell_call_command.delta', 0, { command_index: 0, delta: 'l' }),
    event('shell_call_command.delta', 0, { command_index: 0, delta: 's' }),
    event('shell_call_command.delta', 0, { command_index: 1, delta: 'pwd' }),
    added(1, { type: 'apply_patch_call', id: 'p', call_id: 'c2', operation }),
    event('apply_patch_call_operation_diff.delta', 1, { delta: '+a' }),
    event('apply_patch_call_operation_diff.delta', 1, { delta: '\n' }),
    added(2, { type: 'image_generation_call', id: 'g', status: 'in_progress' }),
    partial('AAAA'),
    partial('BBBB'),
  ]
  const { content } = streamed(openaiResponses, chunks).messages[0]!
  expect(content).toMatchObject([
    {
      type: 'toolCall',
      id: 'c1',
      args: {
        action: {
          commands: [
            { index: 0, command: 'ls' },
            { index: 1, command: 'pwd' },
          ],
        },
      },
    },
    { type: 'toolCall', id: 'c2', args: { operation: { ...operation, diff: '+a\n' } } },
    { type: 'serverToolCall', id: 'g' },
    { type: 'image', mimeType: 'image/webp', base64: 'BBBB' },
  ])
  const item = { type: 'image_generation_call', id: 'g', result: 'CCCC', output_format: 'webp' }
  const all = streamed(openaiResponses, [...chunks, event('output_item.done', 2, { item })])
  expect(all.messages[0]!.content.slice(2)).toMatchObject([
    { type: 'serverToolCall', id: 'g' },
    { type: 'image', mimeType: 'image/webp', base64: 'CCCC' },
  ])
})
