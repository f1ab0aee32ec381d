import { expect, test } from 'vitest'
import { geminiInteractions } from '../../../../src/models/formats/index.ts'
import { frozen, streamed, whole } from '../../helpers.ts'

const interaction = (steps: readonly object[], others: object = {}) => ({
  id: 'i1',
  object: 'interaction',
  model: 'gemini-x',
  status: 'completed',
  steps,
  ...others,
})
const start = (index: number, step: object) => ({ event_type: 'step.start', index, step })
const delta = (index: number, delta: object) => ({ event_type: 'step.delta', index, delta })
const usageOf = (usage: object) => whole(geminiInteractions, interaction([], { usage })).messages[0]!.usage

test('a whole response keeps steps of all kinds in order', () => {
  const usage = { total_input_tokens: 5, total_output_tokens: 2, total_thought_tokens: 3, total_tokens: 10 }
  expect(
    whole(
      geminiInteractions,
      interaction(
        [
          {
            type: 'thought',
            signature: 's',
            summary: [
              { type: 'text', text: 'H' },
              { type: 'text', text: 'm' },
            ],
          },
          { type: 'google_search_call', id: 'g', arguments: { queries: ['a'] }, signature: 't' },
          {
            type: 'google_search_result',
            call_id: 'g',
            result: [{ search_suggestions: '<p>' }],
            is_error: true,
          },
          {
            type: 'model_output',
            content: [
              {
                type: 'text',
                text: 'Hi',
                annotations: [{ type: 'url_citation', url: 'https://a', start_index: 0 }],
              },
              { type: 'image', data: 'AAAA', mime_type: 'image/png' },
              { type: 'video', uri: 'https://v' },
            ],
          },
          { type: 'function_call', id: 'f', name: 'look', arguments: { x: 1 } },
          { type: 'mcp_server_tool_call', id: 'm', name: 'own', server_name: 'S', arguments: {} },
          { type: 'hologram', x: 1 },
        ],
        { status: 'requires_action', usage },
      ),
    ),
  ).toEqual({
    messages: [
      {
        role: 'assistant',
        id: 'i1',
        content: [
          { type: 'reasoning', text: 'Hm', extras: { signature: 's' } },
          {
            type: 'serverToolCall',
            id: 'g',
            name: 'google_search',
            args: { queries: ['a'] },
            extras: { type: 'google_search_call', signature: 't' },
          },
          {
            type: 'serverToolResult',
            toolCallId: 'g',
            status: 'error',
            output: [{ search_suggestions: '<p>' }],
            extras: { type: 'google_search_result' },
          },
          {
            type: 'text',
            text: 'Hi',
            annotations: [
              { type: 'citation', url: 'https://a', startIndex: 0, extras: { type: 'url_citation' } },
            ],
          },
          { type: 'image', base64: 'AAAA', mimeType: 'image/png' },
          { type: 'video', url: 'https://v' },
          { type: 'toolCall', id: 'f', name: 'look', args: { x: 1 } },
          {
            type: 'serverToolCall',
            id: 'm',
            name: 'own',
            args: {},
            extras: { type: 'mcp_server_tool_call', server_name: 'S' },
          },
          { type: 'nonStandard', value: { type: 'hologram', x: 1 } },
        ],
        finishReason: 'toolCalls',
        usage: { inputTokens: 5, outputTokens: 5, totalTokens: 10, outputDetails: { reasoning: 3 } },
        metadata: { object: 'interaction', model: 'gemini-x', status: 'requires_action', usage },
      },
    ],
  })
})

test('a stream accumulates parallel calls, citations, audio and the counts of the last step, and keeps cut-off arguments raw', () => {
  const chunks = [
    { event_type: 'interaction.created', interaction: { id: 'i1', model: 'm', status: 'in_progress' } },
    start(0, { type: 'thought' }),
    delta(0, { type: 'thought_summary', content: { type: 'text', text: 'Hm' } }),
    delta(0, { type: 'thought_signature', signature: 's' }),
    start(1, { type: 'model_output' }),
    delta(1, { type: 'text', text: 'H' }),
    delta(1, { type: 'text', text: 'i' }),
    delta(1, { type: 'text_annotation_delta', annotations: [{ type: 'url_citation', url: 'https://a' }] }),
    delta(1, { type: 'audio', data: 'YQ==', mime_type: 'audio/l16' }),
    delta(1, { type: 'audio', data: 'YmM=' }),
    start(2, { type: 'function_call', id: 'a', name: 'f', arguments: {} }),
    start(3, { type: 'function_call', id: 'b', name: 'f', arguments: {} }),
    delta(2, { type: 'arguments_delta', arguments: '{"x":' }),
    delta(3, { type: 'arguments_delta', arguments: '{"y":' }),
    delta(2, { type: 'arguments_delta', arguments: '1}' }),
    start(4, { type: 'mcp_server_tool_call', id: 'm', name: 'own', arguments: {} }),
    delta(4, { type: 'mcp_server_tool_call', arguments: { q: 1 } }),
    { event_type: 'hologram', x: 1 },
    { event_type: 'step.stop', index: 4, usage: { total_input_tokens: 1, total_output_tokens: 2 } },
  ]
  for (const chunk of chunks.filter(({ event_type }) => event_type !== 'hologram'))
    expect(geminiInteractions.detect(chunk)).toBe('chunk')
  expect(streamed(geminiInteractions, chunks).messages).toMatchObject([
    {
      id: 'i1',
      content: [
        { type: 'reasoning', text: 'Hm', extras: { signature: 's' } },
        { type: 'text', text: 'Hi', annotations: [{ url: 'https://a' }] },
        { type: 'audio', base64: 'YWJj', mimeType: 'audio/l16' },
        { type: 'toolCall', id: 'a', name: 'f', args: { x: 1 } },
        { type: 'invalidToolCall', id: 'b', name: 'f', args: '{"y":' },
        { type: 'serverToolCall', id: 'm', name: 'own', args: { q: 1 } },
      ],
      usage: { inputTokens: 1, outputTokens: 2 },
      metadata: { unknownEvents: [{ event_type: 'hologram', x: 1 }] },
    },
  ])
})

test('a stream may send all steps at its end, or an error', () => {
  const steps = [{ type: 'model_output', content: [{ type: 'text', text: 'Hi' }] }]
  expect(
    streamed(geminiInteractions, [{ event_type: 'interaction.completed', interaction: interaction(steps) }])
      .messages,
  ).toMatchObject([{ content: [{ type: 'text', text: 'Hi' }], finishReason: 'stop' }])
  const error = { code: 'unavailable', message: 'Gone' }
  expect(
    streamed(geminiInteractions, [delta(0, { type: 'text', text: 'a' }), { event_type: 'error', error }]),
  ).toMatchObject({
    messages: [{ content: [{ text: 'a' }], finishReason: 'error' }],
    error: { message: 'Gone', code: 'unavailable' },
  })
  expect(
    whole(geminiInteractions, interaction([], { status: 'failed', errors: [error] })).error,
  ).toMatchObject({
    message: 'Gone',
  })
})

test.each<[string, object, object | undefined]>([
  [
    'tools add to the input, thoughts to the output, the cache is inside the input',
    {
      total_input_tokens: 100,
      total_tool_use_tokens: 5,
      total_output_tokens: 7,
      total_thought_tokens: 3,
      total_cached_tokens: 60,
      total_tokens: 115,
      input_tokens_by_modality: [{ modality: 'audio', tokens: 80 }],
      cached_tokens_by_modality: [{ modality: 'audio', tokens: 50 }],
    },
    {
      inputTokens: 105,
      outputTokens: 10,
      totalTokens: 115,
      inputDetails: { cache_read: 60, audio: 30 },
      outputDetails: { reasoning: 3 },
    },
  ],
  [
    'thoughts once when the total shows that the output includes them',
    { total_input_tokens: 4, total_output_tokens: 10, total_thought_tokens: 3, total_tokens: 14 },
    { inputTokens: 4, outputTokens: 10, totalTokens: 14, outputDetails: { reasoning: 3 } },
  ],
  ['no counts', { grounding_tool_count: [] }, undefined],
])('usage counts %s', (_, usage, expected) => {
  expect(usageOf(usage)).toEqual(expected)
})

test('a request becomes messages of consecutive steps, parameters and extras', () => {
  const read = (request: object) => {
    expect(geminiInteractions.detect(request)).toBe('request')
    return geminiInteractions.readRequest(frozen(request))
  }
  const hi = { role: 'user', content: [{ type: 'text', text: 'Hi' }] }
  expect(
    read({
      model: 'gemini-x',
      input: 'Hi',
      system_instruction: 'S',
      generation_config: { temperature: 0, max_output_tokens: 5, thinking_level: 'low' },
      tools: [{ type: 'google_search' }],
      previous_interaction_id: 'i0',
    }),
  ).toEqual({
    messages: [{ role: 'system', content: [{ type: 'text', text: 'S' }] }, hi],
    tools: [{ type: 'google_search' }],
    params: { model: 'gemini-x', temperature: 0, maxTokens: 5 },
    extras: { thinking_level: 'low', previous_interaction_id: 'i0' },
  })
  expect(
    read({
      input: [
        { type: 'text', text: 'Look' },
        { type: 'image', data: 'AAAA', mime_type: 'image/png' },
        { type: 'thought', signature: 's' },
        { type: 'function_call', id: 'a', name: 'f', arguments: {} },
        { type: 'function_result', call_id: 'a', name: 'f', result: { x: 1 }, is_error: true },
        { type: 'model_output', content: [{ type: 'text', text: 'Oh' }] },
        { type: 'user_input', content: [{ type: 'text', text: 'Hi' }] },
        { role: 'model', content: 'Yes' },
        'Hi',
      ],
    }).messages,
  ).toEqual([
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Look' },
        { type: 'image', base64: 'AAAA', mimeType: 'image/png' },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'reasoning', text: '', extras: { signature: 's' } },
        { type: 'toolCall', id: 'a', name: 'f', args: {} },
      ],
    },
    {
      role: 'tool',
      name: 'f',
      content: [{ type: 'text', text: '{"x":1}' }],
      toolCallId: 'a',
      status: 'error',
    },
    { role: 'assistant', content: [{ type: 'text', text: 'Oh' }] },
    hi,
    { role: 'assistant', content: [{ type: 'text', text: 'Yes' }] },
    hi,
  ])
  expect(geminiInteractions.detect({ model: 'gpt-x', input: 'Hi' })).toBeUndefined()
})

test('the first version of the API has outputs instead of steps', () => {
  const outputs = [
    { type: 'thought', signature: 's' },
    { type: 'text', text: 'Hi', annotations: [{ type: 'url_citation', url: 'https://a' }] },
    { type: 'function_call', id: 'a', name: 'f', arguments: { x: 1 } },
  ]
  const about = { id: 'i1', object: 'interaction', model: 'm', status: 'completed', role: 'model' }
  const content = (index: number, content: object, ...deltas: object[]) => [
    { event_type: 'content.start', index, content },
    ...deltas.map((delta) => ({ event_type: 'content.delta', index, delta })),
    { event_type: 'content.stop', index },
  ]
  const chunks = [
    { event_type: 'interaction.start', interaction: { ...about, status: 'in_progress' } },
    { event_type: 'interaction.status_update', interaction_id: 'i1', status: 'in_progress' },
    ...content(0, { type: 'thought' }, { type: 'thought_signature', signature: 's' }),
    ...content(
      1,
      { type: 'text' },
      { type: 'text', text: 'H' },
      { type: 'text', text: 'i' },
      { type: 'text_annotation_delta', annotations: [{ type: 'url_citation', url: 'https://a' }] },
    ),
    ...content(
      2,
      { type: 'function_call', id: 'a', name: 'f', arguments: {} },
      { type: 'arguments_delta', arguments: '{"x":1}' },
    ),
    { event_type: 'interaction.complete', interaction: about },
  ]
  for (const chunk of chunks) expect(geminiInteractions.detect(chunk)).toBe('chunk')
  const read = whole(geminiInteractions, { ...about, outputs })
  expect(streamed(geminiInteractions, chunks)).toEqual(read)
  expect(read.messages[0]!.content).toEqual([
    { type: 'reasoning', text: '', extras: { signature: 's' } },
    {
      type: 'text',
      text: 'Hi',
      annotations: [{ type: 'citation', url: 'https://a', extras: { type: 'url_citation' } }],
    },
    { type: 'toolCall', id: 'a', name: 'f', args: { x: 1 } },
  ])
})
