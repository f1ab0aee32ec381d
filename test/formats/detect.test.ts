import { expect, test } from 'vitest'
import { anthropicMessages, detectFormat, openaiChat, openaiResponses } from '../../src/formats/index.ts'

const formats = [anthropicMessages, openaiResponses, openaiChat]
const detect = (...values: unknown[]) => detectFormat(formats, values)?.name

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
  [undefined, { type: 'message' }],
  [undefined, {}],
  [undefined, null],
  [undefined, 'text'],
  [undefined, []],
])('%s: %j', (name, value) => {
  expect(detect(value)).toBe(name)
})

test('the first value decides, where it tells anything', () => {
  const request = { messages: [{ role: 'user', content: 'a' }] }
  expect(detect({ type: 'message', content: [] }, request)).toBe('anthropicMessages')
  expect(detect(undefined, request)).toBe('openaiChat')
})

test('a name decides before any shape', () => {
  expect(detectFormat(formats, [{ choices: [] }], 'openaiResponses')).toBe(openaiResponses)
  expect(detectFormat(formats, [{ choices: [] }], 'unheard')).toBeUndefined()
})
