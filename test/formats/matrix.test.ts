import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formats as asked } from '../../src/formats/all.ts'
import { detectFormat } from '../../src/formats/index.ts'
import { formats } from './examples.ts'

const detect = (...values: unknown[]) => detectFormat(asked, values)?.name

describe.each(formats)('%s', (name, _, examples) => {
  test('no other format takes its responses and chunks for its own', () => {
    fc.assert(
      fc.property(examples, ({ response, chunks }) => {
        expect(detect(response)).toBe(name)
        for (const chunk of chunks) expect(detect(chunk)).toBe(name)
      }),
      { numRuns: 50 },
    )
  })
})

test('every format has examples', () => {
  expect(formats.map(([name]) => name).sort()).toEqual(asked.map(({ name }) => name).sort())
})

test.each<[string, object]>([
  ['gemini', { model: 'm', contents: 'Hi' }],
  ['gemini', { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }], generationConfig: { temperature: 0 } }],
  ['bedrockConverse', { modelId: 'm', messages: [{ role: 'user', content: [{ text: 'Hi' }] }] }],
  ['bedrockConverse', { modelId: 'm', messages: [], inferenceConfig: { maxTokens: 1 } }],
  ['bedrockInvoke', { modelId: 'm', body: '{"anthropic_version":"bedrock-2023-05-31","messages":[]}' }],
  ['mistral', { model: 'm', messages: [{ role: 'user', content: 'Hi' }], safePrompt: true }],
  ['mistral', { model: 'm', messages: [{ role: 'tool', toolCallId: 'a', content: 'Hi' }] }],
  ['cohere', { model: 'm', messages: [{ role: 'user', content: 'Hi' }], safety_mode: 'NONE' }],
  ['cohere', { model: 'm', messages: [{ role: 'assistant', toolPlan: 'Look', toolCalls: [] }] }],
  ['ollama', { model: 'm', messages: [{ role: 'user', content: 'Hi' }], options: { num_ctx: 9 } }],
  ['ollama', { model: 'm', messages: [{ role: 'user', content: 'Hi', images: ['AAAA'] }] }],
  [
    'anthropicMessages',
    { model: 'm', max_tokens: 1, system: 'S', messages: [{ role: 'user', content: 'Hi' }] },
  ],
  ['openaiChat', { model: 'm', messages: [{ role: 'user', content: 'Hi' }], temperature: 0 }],
  [
    'openaiChat',
    {
      messages: [
        { role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://a' } }] },
        {
          role: 'assistant',
          tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'a', content: '1' },
      ],
    },
  ],
  ['openaiResponses', { model: 'm', input: 'Hi' }],
])('a request of %s: %j', (name, request) => {
  expect(detect(request)).toBe(name)
})
