import { expect, test } from 'vitest'
import { ollama } from '../../../src/models/formats/index.ts'
import { frozen, streamed, whole } from '../helpers.ts'

const about = { model: 'llama', created_at: 'T' }
const end = {
  done: true,
  done_reason: 'stop',
  total_duration: 9,
  prompt_eval_count: 3,
  prompt_eval_duration: 4,
  eval_count: 2,
  eval_duration: 5,
}
const chunk = (message: object) => ({
  ...about,
  message: { role: 'assistant', content: '', ...message },
  done: false,
})

test('a whole response has thoughts, text, calls that get ids, and durations', () => {
  expect(
    whole(ollama, {
      ...about,
      message: {
        role: 'assistant',
        content: 'Hi',
        thinking: 'Hm',
        tool_calls: [
          { function: { name: 'f', arguments: { x: 1 } } },
          { function: { index: 1, name: 'f', arguments: { x: 2 } } },
          { id: 'own', function: { name: 'g', arguments: {} } },
        ],
        images: ['AAAA'],
      },
      ...end,
    }),
  ).toEqual({
    messages: [
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'Hm' },
          { type: 'text', text: 'Hi' },
          { type: 'image', base64: 'AAAA' },
          { type: 'toolCall', id: 'T-0', name: 'f', args: { x: 1 } },
          { type: 'toolCall', id: 'T-1', name: 'f', args: { x: 2 } },
          { type: 'toolCall', id: 'own', name: 'g', args: {} },
        ],
        finishReason: 'toolCalls',
        usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5 },
        metadata: {
          ...about,
          done_reason: 'stop',
          total_duration: 9,
          prompt_eval_count: 3,
          prompt_eval_duration: 4,
          eval_count: 2,
          eval_duration: 5,
        },
      },
    ],
  })
})

test('a stream gets its counts from the last chunk', () => {
  const chunks = [
    chunk({ thinking: 'H' }),
    chunk({ thinking: 'm' }),
    chunk({ content: 'Hel' }),
    chunk({ content: 'lo' }),
    chunk({ tool_calls: [{ function: { name: 'f', arguments: { x: 1 } } }] }),
    chunk({ tool_calls: [{ function: { name: 'f', arguments: { x: 1 } } }] }),
  ]
  for (const one of chunks) expect(ollama.detect(one)).toBe('chunk')
  const last = { ...about, message: { role: 'assistant', content: '' }, ...end, prompt_eval_count: undefined }
  expect(streamed(ollama, [...chunks, last]).messages).toMatchObject([
    {
      content: [
        { type: 'reasoning', text: 'Hm' },
        { type: 'text', text: 'Hello' },
        { type: 'toolCall', id: 'T-0', name: 'f', args: { x: 1 } },
        { type: 'toolCall', id: 'T-1', name: 'f', args: { x: 1 } },
      ],
      // Ollama does not count a cached prompt.
      usage: { inputTokens: 0, outputTokens: 2, totalTokens: 2 },
    },
  ])
  expect(streamed(ollama, chunks).messages[0]).not.toHaveProperty('usage')
})

test('an error in the middle of a stream keeps the text before it', () => {
  expect(streamed(ollama, [chunk({ content: 'a' }), { error: 'out of memory' }])).toMatchObject({
    messages: [{ content: [{ text: 'a' }], finishReason: 'error' }],
    error: { message: 'out of memory' },
  })
})

test('`generate` is read like `chat`', () => {
  const chunks = [
    { ...about, response: '', thinking: 'Hm', done: false },
    { ...about, response: 'Hi', done: false },
    { ...about, response: '', context: [1, 2], ...end },
  ]
  expect(chunks.map((one) => ollama.detect(one))).toEqual(['chunk', 'chunk', 'response'])
  expect(streamed(ollama, chunks).messages).toMatchObject([
    {
      content: [
        { type: 'reasoning', text: 'Hm' },
        { type: 'text', text: 'Hi' },
      ],
      finishReason: 'stop',
      metadata: { context: [1, 2] },
    },
  ])
  expect(
    ollama.readRequest({ model: 'llama', system: 'S', prompt: 'P', images: ['AAAA'], options: {} }),
  ).toEqual({
    messages: [
      { role: 'system', content: [{ type: 'text', text: 'S' }] },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'P' },
          { type: 'image', base64: 'AAAA' },
        ],
      },
    ],
    params: { model: 'llama' },
    extras: {},
  })
})

test('the results in a request find their calls by name', () => {
  const call = (name: string) => ({ function: { name, arguments: {} } })
  const request = {
    model: 'llama',
    think: true,
    options: { temperature: 0, num_predict: 5, num_ctx: 9 },
    messages: [
      { role: 'user', content: 'Hi', images: ['data:image/png;base64,AAAA'] },
      { role: 'assistant', content: '', thinking: 'Hm', tool_calls: [call('f'), call('g'), call('f')] },
      { role: 'tool', tool_name: 'g', content: '1' },
      { role: 'tool', tool_name: 'f', content: '2' },
      { role: 'tool', tool_name: 'f', content: '3' },
    ],
  }
  expect(ollama.detect(request)).toBe('request')
  const called = (id: string, name: string) => ({ type: 'toolCall', id, name, args: {} })
  const result = (name: string, toolCallId: string, text: string) => ({
    role: 'tool',
    name,
    toolCallId,
    content: [{ type: 'text', text }],
  })
  expect(ollama.readRequest(frozen(request))).toEqual({
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Hi' },
          { type: 'image', mimeType: 'image/png', base64: 'AAAA' },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'Hm' },
          called('call-0', 'f'),
          called('call-1', 'g'),
          called('call-2', 'f'),
        ],
      },
      result('g', 'call-1', '1'),
      result('f', 'call-0', '2'),
      result('f', 'call-2', '3'),
    ],
    params: { model: 'llama', temperature: 0, maxTokens: 5 },
    extras: { think: true, num_ctx: 9 },
  })
})

test('images may be bytes', () => {
  const { messages } = ollama.readRequest({
    messages: [{ role: 'user', content: 'Hi', images: [new Uint8Array([1, 2, 3])] }],
  })
  expect(messages[0]!.content[1]).toEqual({ type: 'image', base64: 'AQID' })
})
