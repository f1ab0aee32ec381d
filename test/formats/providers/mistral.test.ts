import { expect, test } from 'vitest'
import { mistral } from '../../../src/models/formats/index.ts'
import { frozen, streamed, whole } from '../helpers.ts'

const response = (message: object, others: object = {}) => ({
  id: 'm',
  object: 'chat.completion',
  model: 'mistral-x',
  created: 1,
  choices: [{ index: 0, message: { role: 'assistant', ...message }, finishReason: 'stop' }],
  usage: { promptTokens: 3, completionTokens: 4, totalTokens: 7 },
  ...others,
})
const chunk = (delta: object, finishReason: unknown = null) => ({
  data: { id: 'm', model: 'mistral-x', choices: [{ index: 0, delta, finishReason }] },
})
const usageOf = (usage: object) => whole(mistral, response({ content: 'a' }, { usage })).messages[0]!.usage

test("the SDK's spelling and the API's are read alike", () => {
  const sdk = response(
    { content: 'Hi', toolCalls: [{ id: 'a', function: { name: 'f', arguments: '{"aB":1}' } }] },
    { usage: { promptTokens: 3, completionTokens: 4, totalTokens: 7, promptAudioSeconds: 2 } },
  )
  const wire = {
    ...response({ content: 'Hi', tool_calls: [{ id: 'a', function: { name: 'f', arguments: '{"aB":1}' } }] }),
    usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7, promptAudioSeconds: 2 },
  }
  const choice = { index: 0, message: wire.choices[0]!.message, finish_reason: 'stop' }
  expect(mistral.detect(sdk)).toBe('response')
  expect(whole(mistral, sdk)).toEqual(whole(mistral, { ...wire, choices: [choice] }))
  expect(whole(mistral, sdk)).toEqual({
    messages: [
      {
        role: 'assistant',
        id: 'm',
        content: [
          { type: 'text', text: 'Hi' },
          { type: 'toolCall', id: 'a', name: 'f', args: { aB: 1 } },
        ],
        finishReason: 'toolCalls',
        usage: { inputTokens: 3, outputTokens: 4, totalTokens: 7 },
        metadata: {
          model: 'mistral-x',
          created: 1,
          finish_reason: 'stop',
          usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7, promptAudioSeconds: 2 },
        },
      },
    ],
  })
  // This looks like a completion of OpenAI, so only its name selects this format.
  expect(mistral.detect({ ...wire, choices: [choice] })).toBeUndefined()
})

test('parts that only Mistral has keep their order', () => {
  expect(
    whole(
      mistral,
      response({
        content: [
          {
            type: 'thinking',
            thinking: [
              { type: 'text', text: 'H' },
              { type: 'text', text: 'm' },
            ],
            signature: 's',
          },
          { type: 'text', text: 'See ' },
          { type: 'reference', referenceIds: [1, 2] },
          { type: 'document_url', documentUrl: 'https://a/b.pdf', documentName: 'b' },
          { type: 'image_url', imageUrl: { url: 'https://a/b.png', detail: 'low' } },
          { type: 'input_audio', inputAudio: 'AAAA' },
          { type: 'file', fileId: 'f1' },
        ],
      }),
    ).messages[0]!.content,
  ).toEqual([
    { type: 'reasoning', text: 'Hm', extras: { field: 'thinking', signature: 's' } },
    { type: 'text', text: 'See ' },
    { type: 'nonStandard', value: { type: 'reference', reference_ids: [1, 2] } },
    { type: 'file', url: 'https://a/b.pdf', extras: { documentName: 'b' } },
    { type: 'image', url: 'https://a/b.png', extras: { detail: 'low' } },
    { type: 'audio', base64: 'AAAA' },
    { type: 'file', fileId: 'f1' },
  ])
})

test('references and tools inside of thoughts are kept beside their text, whole and streamed', () => {
  const parts = [
    { type: 'text', text: 'See ' },
    { type: 'reference', referenceIds: [1, 'b'] },
    { type: 'text', text: 'there' },
    { type: 'tool_reference', tool: 'web_search', title: 'Ships' },
  ]
  const content = [
    {
      type: 'reasoning',
      text: 'See there',
      extras: {
        thinking: [
          { type: 'reference', reference_ids: [1, 'b'] },
          { type: 'tool_reference', tool: 'web_search', title: 'Ships' },
        ],
      },
    },
  ]
  expect(
    whole(mistral, response({ content: [{ type: 'thinking', thinking: parts }] })).messages[0],
  ).toMatchObject({
    content,
  })
  const chunks = parts.map((part) => chunk({ content: [{ type: 'thinking', thinking: [part] }] }))
  expect(streamed(mistral, chunks).messages[0]).toMatchObject({ content })
})

test('a stream accumulates thoughts, text around a reference, whole calls and the final counts', () => {
  const thinking = (text: string, others: object = {}) => ({
    content: [{ type: 'thinking', thinking: [{ type: 'text', text }], ...others }],
  })
  const chunks = [
    chunk({ role: 'assistant', content: '' }),
    chunk(thinking('H')),
    chunk(thinking('m', { closed: true })),
    chunk({ content: 'One' }),
    chunk({ content: [{ type: 'reference', referenceIds: [0] }] }),
    chunk({ content: 'T' }),
    chunk({ content: 'wo' }),
    chunk({
      toolCalls: [
        { index: 0, id: 'a', function: { name: 'f', arguments: { x: 1 } } },
        { index: 1, id: 'b', function: { name: 'f', arguments: '{"y":' } },
      ],
    }),
    {
      data: { ...chunk({ content: '' }, 'tool_calls').data, usage: { promptTokens: 1, completionTokens: 2 } },
    },
  ]
  for (const one of chunks) expect(mistral.detect(one)).toBe('chunk')
  expect(streamed(mistral, chunks).messages).toMatchObject([
    {
      content: [
        { type: 'reasoning', text: 'Hm', extras: { closed: true } },
        { type: 'text', text: 'One' },
        { type: 'nonStandard', value: { type: 'reference', reference_ids: [0] } },
        { type: 'text', text: 'Two' },
        { type: 'toolCall', id: 'a', name: 'f', args: { x: 1 } },
        { type: 'invalidToolCall', id: 'b', name: 'f', args: '{"y":' },
      ],
      finishReason: 'toolCalls',
      usage: { inputTokens: 1, outputTokens: 2 },
    },
  ])
})

test.each<[object]>([
  [{ numCachedTokens: 5 }],
  [{ promptTokensDetails: { cachedTokens: 5 } }],
  [{ promptTokenDetails: { cachedTokens: 5 } }],
  [{ num_cached_tokens: 5 }],
  [{ prompt_token_details: { cached_tokens: 5 } }],
])('cached tokens are read from %j', (cached) => {
  expect(usageOf({ promptTokens: 9, completionTokens: 1, ...cached })).toEqual({
    inputTokens: 9,
    outputTokens: 1,
    totalTokens: 10,
    inputDetails: { cache_read: 5 },
  })
})

test.each([
  ['model_length', 'length'],
  ['error', 'error'],
])('finish reason %s becomes %s', (reason, expected) => {
  const { messages } = whole(mistral, { choices: [{ message: { content: 'a' }, finishReason: reason }] })
  expect(messages[0]!.finishReason).toBe(expected)
})

test("a request is read in the SDK's spelling", () => {
  const request = {
    model: 'mistral-x',
    maxTokens: 5,
    randomSeed: 7,
    safePrompt: true,
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Look' },
          { type: 'image_url', imageUrl: 'https://a' },
        ],
      },
      { role: 'assistant', content: '', toolCalls: [{ id: 'a', function: { name: 'f', arguments: '{}' } }] },
      { role: 'tool', toolCallId: 'a', name: 'f', content: 'done' },
    ],
  }
  expect(mistral.detect(request)).toBe('request')
  expect(mistral.readRequest(frozen(request))).toEqual({
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Look' },
          { type: 'image', url: 'https://a' },
        ],
      },
      { role: 'assistant', content: [{ type: 'toolCall', id: 'a', name: 'f', args: {} }] },
      { role: 'tool', name: 'f', toolCallId: 'a', content: [{ type: 'text', text: 'done' }] },
    ],
    params: { model: 'mistral-x', maxTokens: 5, seed: 7 },
    extras: { safePrompt: true },
  })
})
