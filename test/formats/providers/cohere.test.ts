import { describe, expect, test } from 'vitest'
import { cohere } from '../../../src/models/formats/index.ts'
import { frozen, streamed, whole } from '../helpers.ts'

const source = { type: 'document', id: 'doc:0', document: { title: 'D' } }
const event = (type: string, message: object, index?: number) => ({
  type,
  ...(index !== undefined && { index }),
  delta: { message },
})
const cited = (place: object) => ({ start: 0, end: 2, text: 'It', sources: [source], ...place })
const annotation = { type: 'citation', startIndex: 0, endIndex: 2, citedText: 'It' }

describe('a whole response becomes one message', () => {
  test('reads the plan, thoughts, cited text, calls and counts', () => {
    const usage = {
      billed_units: { input_tokens: 2, output_tokens: 3, search_units: 1 },
      tokens: { input_tokens: 20, output_tokens: 30 },
      cached_tokens: 5,
    }
    expect(
      whole(cohere, {
        id: 'r',
        finish_reason: 'TOOL_CALL',
        message: {
          role: 'assistant',
          tool_plan: 'I will look.',
          content: [
            { type: 'thinking', thinking: 'Hm' },
            { type: 'text', text: 'It is' },
          ],
          tool_calls: [
            { id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":1}' } },
            { id: 'b', type: 'function', function: { name: 'f', arguments: '{"x":' } },
          ],
          citations: [cited({ content_index: 1, type: 'TEXT_CONTENT' })],
        },
        usage,
      }),
    ).toEqual({
      messages: [
        {
          role: 'assistant',
          id: 'r',
          content: [
            { type: 'reasoning', text: 'I will look.', extras: { type: 'tool_plan' } },
            { type: 'reasoning', text: 'Hm' },
            {
              type: 'text',
              text: 'It is',
              annotations: [
                { ...annotation, extras: { type: 'TEXT_CONTENT', sources: [source], content_index: 1 } },
              ],
            },
            { type: 'toolCall', id: 'a', name: 'f', args: { x: 1 } },
            { type: 'invalidToolCall', id: 'b', name: 'f', args: '{"x":', error: expect.any(String) },
          ],
          finishReason: 'toolCalls',
          usage: { inputTokens: 20, outputTokens: 30, totalTokens: 50, inputDetails: { cache_read: 5 } },
          metadata: { finish_reason: 'TOOL_CALL', usage },
        },
      ],
    })
  })

  test("reads the SDK's spelling like the API's", () => {
    const response = {
      id: 'r',
      finishReason: 'COMPLETE',
      message: {
        role: 'assistant',
        toolPlan: 'P',
        toolCalls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{"aB":1}' } }],
      },
      usage: { tokens: { inputTokens: 1, outputTokens: 2 } },
    }
    expect(cohere.detect(response)).toBe('response')
    expect(whole(cohere, response).messages).toMatchObject([
      {
        content: [
          { type: 'reasoning', text: 'P' },
          { type: 'toolCall', args: { aB: 1 } },
        ],
        usage: { inputTokens: 1, outputTokens: 2 },
      },
    ])
  })

  test('citations of a text that does not exist stay in the metadata', () => {
    const { messages } = whole(cohere, {
      finish_reason: 'COMPLETE',
      message: { content: [], citations: [cited({ content_index: 0 })] },
    })
    expect(messages[0]).toMatchObject({ content: [], metadata: { citations: [cited({ content_index: 0 })] } })
  })

  test.each([
    ['MAX_TOKENS', 'length'],
    ['STOP_SEQUENCE', 'stop'],
    ['ERROR', 'error'],
    ['TIMEOUT', 'error'],
  ])('finish reason %s becomes %s', (finish_reason, expected) => {
    const { messages } = whole(cohere, { finish_reason, message: { content: [{ type: 'text', text: 'a' }] } })
    expect(messages[0]!.finishReason).toBe(expected)
  })
})

describe('a stream accumulates to the message of the whole response', () => {
  test('interleaved events accumulate, in either spelling', () => {
    const events = (spell: (name: string) => string) => [
      { type: 'message-start', id: 'r', delta: { message: { role: 'assistant' } } },
      event('tool-plan-delta', { [spell('tool_plan')]: 'I ' }),
      event('tool-plan-delta', { [spell('tool_plan')]: 'will.' }),
      event('content-start', { content: { type: 'text', text: '' } }, 0),
      event('content-delta', { content: { text: 'It' } }, 0),
      event('citation-start', { citations: cited({}) }, 0),
      { type: 'citation-end', index: 0 },
      event('content-delta', { content: { text: ' is' } }, 0),
      { type: 'content-end', index: 0 },
      event(
        'tool-call-start',
        { [spell('tool_calls')]: { id: 'a', type: 'function', function: { name: 'f', arguments: '' } } },
        0,
      ),
      event('tool-call-delta', { [spell('tool_calls')]: { function: { arguments: '{"x"' } } }, 0),
      event(
        'tool-call-start',
        { [spell('tool_calls')]: { id: 'b', type: 'function', function: { name: 'g', arguments: '' } } },
        1,
      ),
      event('tool-call-delta', { [spell('tool_calls')]: { function: { arguments: ':1}' } } }, 0),
      event('tool-call-delta', { [spell('tool_calls')]: { function: { arguments: '{}' } } }, 1),
      {
        type: 'message-end',
        delta: {
          [spell('finish_reason')]: 'TOOL_CALL',
          usage: { tokens: { [spell('input_tokens')]: 1, [spell('output_tokens')]: 2 } },
        },
      },
    ]
    const camel = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
    for (const spell of [(name: string) => name, camel]) {
      const chunks = events(spell)
      for (const chunk of chunks) expect(cohere.detect(chunk)).toBe('chunk')
      expect(streamed(cohere, chunks).messages).toEqual([
        {
          role: 'assistant',
          id: 'r',
          content: [
            { type: 'reasoning', text: 'I will.', extras: { type: 'tool_plan' } },
            {
              type: 'text',
              text: 'It is',
              annotations: [{ ...annotation, extras: { type: undefined, sources: [source] } }],
            },
            { type: 'toolCall', id: 'a', name: 'f', args: { x: 1 } },
            { type: 'toolCall', id: 'b', name: 'g', args: {} },
          ],
          finishReason: 'toolCalls',
          usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 },
          metadata: { finish_reason: 'TOOL_CALL', usage: { tokens: { input_tokens: 1, output_tokens: 2 } } },
        },
      ])
    }
  })

  test('an error at the end is read, and unknown events are kept', () => {
    const { messages, error } = streamed(cohere, [
      { type: 'debug', prompt: 'P' },
      { type: 'hologram-start', index: 0 },
      event('content-delta', { content: { thinking: 'Hm' } }, 0),
      { type: 'message-end', delta: { finish_reason: 'ERROR', error: 'Overloaded' } },
    ])
    expect(error).toEqual({ type: 'error', message: 'Overloaded' })
    expect(messages).toMatchObject([
      {
        content: [{ type: 'reasoning', text: 'Hm' }],
        finishReason: 'error',
        metadata: {
          unknownEvents: [
            { type: 'debug', prompt: 'P' },
            { type: 'hologram-start', index: 0 },
          ],
        },
      },
    ])
  })
})

test('a request becomes messages, parameters and extras', () => {
  const request = {
    model: 'command-x',
    p: 0.5,
    k: 3,
    maxTokens: 9,
    stopSequences: ['.'],
    messages: [
      { role: 'system', content: 'S' },
      { role: 'user', content: [{ type: 'image_url', imageUrl: { url: 'https://a' } }] },
      {
        role: 'assistant',
        toolPlan: 'P',
        toolCalls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }],
      },
      {
        role: 'tool',
        toolCallId: 'a',
        content: [{ type: 'document', document: { data: '1' } }],
      },
    ],
    documents: ['D'],
  }
  expect(cohere.detect(request)).toBe('request')
  expect(cohere.readRequest(frozen(request))).toEqual({
    messages: [
      { role: 'system', content: [{ type: 'text', text: 'S' }] },
      { role: 'user', content: [{ type: 'image', url: 'https://a' }] },
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'P', extras: { type: 'tool_plan' } },
          { type: 'toolCall', id: 'a', name: 'f', args: {} },
        ],
      },
      {
        role: 'tool',
        toolCallId: 'a',
        content: [{ type: 'nonStandard', value: { type: 'document', document: { data: '1' } } }],
      },
    ],
    params: { model: 'command-x', topP: 0.5, topK: 3, maxTokens: 9, stop: ['.'] },
    extras: { documents: ['D'] },
  })
})
