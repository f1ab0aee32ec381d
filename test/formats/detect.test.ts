import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as exported from '../../src/models/formats/index.ts'
import { detectFormat, formats, openaiResponses } from '../../src/models/formats/index.ts'
import { RUNS } from './arbitraries.ts'
import { formats as examples } from './examples.ts'
import { frozen } from './helpers.ts'

const detect = (...values: unknown[]) => detectFormat(formats, values)?.name

test('`formats` lists all exported formats', () => {
  const all = Object.values<object>(exported).filter((value) => 'readStream' in value)
  expect(new Set<unknown>(formats)).toEqual(new Set(all))
  expect(formats.map(({ name }) => name)).toEqual(expect.arrayContaining(examples.map(([name]) => name)))
})

describe.each(examples)('%s', (name, _, examples) => {
  test('no other format detects its responses or chunks', () => {
    fc.assert(
      fc.property(examples, ({ response, chunks }) => {
        expect(detect(frozen(response))).toBe(name)
        for (const chunk of chunks) expect(detect(frozen(chunk))).toBe(name)
      }),
      { numRuns: RUNS / 2 },
    )
  })
})

test.each<[string | undefined, unknown]>([
  ['openaiChat', { choices: [{ message: { content: 'a' } }] }],
  ['openaiChat', { choices: [{ delta: { content: 'a' } }] }],
  ['openaiChat', { choices: [], usage: {} }],
  ['openaiChat', { messages: [{ role: 'user', content: 'a' }] }],
  ['openaiResponses', { object: 'response', output: [] }],
  ['openaiResponses', { output: [{ type: 'message' }] }],
  ['openaiResponses', { type: 'response.output_text.delta', delta: 'a' }],
  ['openaiResponses', { type: 'error', message: 'Gone', code: null }],
  ['openaiResponses', { model: 'm', input: 'a' }],
  ['anthropicMessages', { type: 'message', role: 'assistant', content: [] }],
  ['anthropicMessages', { type: 'content_block_delta', index: 0, delta: {} }],
  ['anthropicMessages', { type: 'error', error: { type: 'overloaded_error' } }],
  ['anthropicMessages', { messages: [], system: 'Be brief.' }],
  ['anthropicMessages', { messages: [], anthropic_version: 'bedrock-2023-05-31' }],
  [
    'anthropicMessages',
    { messages: [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a' }] }] },
  ],
  // These are requests of each format, as its SDK takes them.
  [
    'anthropicMessages',
    { model: 'm', max_tokens: 9, system: 'Be brief.', messages: [{ role: 'user', content: 'a' }] },
  ],
  ['gemini', { model: 'm', contents: 'a' }],
  ['gemini', { contents: [{ role: 'user', parts: [{ text: 'a' }] }] }],
  ['bedrockConverse', { modelId: 'm', messages: [{ role: 'user', content: [{ text: 'a' }] }] }],
  ['ollama', { model: 'm', messages: [{ role: 'user', content: 'a' }], options: { temperature: 0 } }],
  ['bedrockConverse', { modelId: 'm', messages: [], inferenceConfig: { maxTokens: 1 } }],
  ['bedrockInvoke', { modelId: 'm', body: '{"anthropic_version":"bedrock-2023-05-31","messages":[]}' }],
  ['geminiInteractions', { model: 'm', input: 'a', system_instruction: 'Be brief.' }],
  ['geminiInteractions', { model: 'm', input: [{ type: 'user_input', content: [] }] }],
  ['mistral', { model: 'm', messages: [{ role: 'user', content: 'a' }], safePrompt: true }],
  ['mistral', { model: 'm', messages: [{ role: 'tool', toolCallId: 'a', content: 'b' }] }],
  ['cohere', { model: 'm', messages: [{ role: 'user', content: 'a' }], safety_mode: 'NONE' }],
  ['cohere', { model: 'm', messages: [{ role: 'assistant', toolPlan: 'Look', toolCalls: [] }] }],
  ['ollama', { model: 'm', messages: [{ role: 'user', content: 'a', images: ['AAAA'] }] }],
  ['openaiChat', { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'b' } }] }] }],
  ['openaiChat', { messages: [{ role: 'tool', tool_call_id: 'a', content: '1' }] }],
  ['openaiChat', { model: 'm', messages: [{ role: 'user', content: [{ type: 'text', text: 'a' }] }] }],
  [
    'vercel',
    {
      model: { modelId: 'm', provider: 'p' },
      system: 'Be brief.',
      messages: [{ role: 'user', content: 'a' }],
    },
  ],
  ['vercel', { model: 'openai/m', maxOutputTokens: 9, messages: [{ role: 'user', content: 'a' }] }],
  ['vercel', { prompt: [{ role: 'user', content: [{ type: 'text', text: 'a' }] }] }],
  ['vercel', { messages: [{ role: 'tool', content: [{ type: 'tool-result', toolCallId: 'a' }] }] }],
  [
    'vercel',
    { messages: [{ role: 'user', content: [{ type: 'file', mediaType: 'image/png', data: 'AAAA' }] }] },
  ],
  [
    'langchain',
    { messages: [[{ lc: 1, type: 'constructor', id: ['x', 'HumanMessage'], kwargs: { content: 'a' } }]] },
  ],
  ['langchain', { messages: [{ type: 'human', content: 'a' }] }],
  ['langchain', [{ type: 'human', data: { content: 'a' } }]],
  [
    'langchain',
    { lc: 1, id: ['x', 'ChatPromptValue'], kwargs: { messages: [{ type: 'human', content: 'a' }] } },
  ],
  ['generic', { messages: [['user', 'a']] }],
  ['generic', [{ role: 'user', content: 'a' }]],
  [
    'generic',
    { messages: [{ role: 'user', content: [{ type: 'image', base64: 'AAAA', mime_type: 'image/png' }] }] },
  ],
  ['generic', { role: 'user', content: 'a' }],
  // These shapes could belong to more than one format.
  ['generic', { role: 'assistant', content: 'a' }],
  ['generic', ['assistant', 'a']],
  ['generic', { message: { role: 'assistant', content: 'a' } }],
  ['generic', { messages: [{ role: 'assistant', content: 'a' }] }],
  [
    'generic',
    { choices: [{ message: { role: 'assistant', content: [{ type: 'tool_call', name: 'f', args: {} }] } }] },
  ],
  ['generic', { choices: [{ message: { role: 'assistant', content: 'a' } }], usage_metadata: {} }],
  ['ollama', { message: { role: 'assistant', content: 'a' }, done: true }],
  [
    'cohere',
    { message: { role: 'assistant', content: [{ type: 'text', text: 'a' }] }, finish_reason: 'COMPLETE' },
  ],
  ['langchain', { type: 'ai', content: 'a' }],
  ['langchain', { generations: [] }],
  ['langchain', [{ type: 'AIMessageChunk', content: 'a' }, { langgraph_node: 'n' }]],
  ['vercel', { content: [{ type: 'text', text: 'a' }], finishReason: 'stop' }],
  ['vercel', { role: 'assistant', content: [], finishReason: 'stop' }],
  ['vercel', { text: 'a', finishReason: 'stop' }],
  ['vercel', { type: 'tool-call-delta', toolCallId: 'a', argsTextDelta: '{' }],
  ['cohere', { type: 'tool-call-delta', index: 0, delta: {} }],
  ['anthropicMessages', { type: 'error', error: { type: 'overloaded_error', message: 'Busy' } }],
  [undefined, { type: 'message' }],
  [undefined, {}],
  [undefined, null],
  [undefined, 'text'],
  [undefined, []],
])('%s is detected for %j', (name, value) => {
  expect(detect(value)).toBe(name)
})

test('the first value that any format knows decides', () => {
  const request = { messages: [{ role: 'user', content: 'a' }] }
  expect(detect({ type: 'message', content: [] }, request)).toBe('anthropicMessages')
  expect(detect(undefined, request)).toBe('openaiChat')
})

test('a name selects the format whatever the shape', () => {
  expect(detectFormat(formats, [{ choices: [] }], 'openaiResponses')).toBe(openaiResponses)
  expect(detectFormat(formats, [{ choices: [] }], 'unheard')).toBeUndefined()
})
