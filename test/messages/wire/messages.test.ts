import {
  AIMessage,
  AIMessageChunk,
  type BaseMessage,
  HumanMessage,
  RemoveMessage,
  SystemMessage,
  ToolMessage,
} from '@langchain/core/messages'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  decodeBlock,
  decodeMessage,
  decodeUsage,
  encodeBlock,
  encodeMessage,
  encodeUsage,
  toWireMessage,
} from '../../../src/messages/index.ts'
import { block, freeze, message, usage } from '../arbitraries.ts'

test('every block is decoded as it was encoded', () => {
  fc.assert(
    fc.property(block, (original) => {
      expect(decodeBlock(freeze(encodeBlock(freeze(original))))).toEqual(original)
    }),
    { numRuns: 200 },
  )
})

test('every message is decoded as it was encoded', () => {
  fc.assert(
    fc.property(message, (original) => {
      expect(decodeMessage(freeze(encodeMessage(freeze(original))))).toEqual(original)
    }),
    { numRuns: 200 },
  )
})

test('every usage is decoded as it was encoded', () => {
  fc.assert(
    fc.property(usage, (original) => {
      expect(decodeUsage(encodeUsage(original))).toEqual(original)
    }),
  )
})

test('the wire form is plain JSON, and encoding it again changes nothing', () => {
  fc.assert(
    fc.property(message, (original) => {
      const wire = encodeMessage(original)
      expect(JSON.parse(JSON.stringify(wire))).toEqual(wire)
      expect(toWireMessage(wire)).toEqual(wire)
      expect(encodeMessage(decodeMessage(wire)!)).toEqual(wire)
    }),
  )
})

test('one plain text becomes a string, and all other content becomes standard content', () => {
  const text = { type: 'text', text: 'hi' } as const
  const assistant = (...content: Parameters<typeof encodeMessage>[0]['content'][number][]) =>
    encodeMessage({ role: 'assistant', id: 'm', content })
  expect(assistant(text)).toEqual({
    type: 'ai',
    id: 'm',
    content: 'hi',
    additional_kwargs: {},
    response_metadata: {},
    tool_calls: [],
    invalid_tool_calls: [],
  })
  expect(assistant().content).toBe('')
  const call = { type: 'toolCall', id: 'c', name: 'f', args: { a: 1 } } as const
  const wire = assistant(text, call)
  expect(wire.content).toEqual([text, { type: 'tool_call', id: 'c', name: 'f', args: { a: 1 } }])
  expect(wire.tool_calls).toEqual([{ type: 'tool_call', id: 'c', name: 'f', args: { a: 1 } }])
  expect(wire.response_metadata).toEqual({ output_version: 'v1' })
  expect(assistant({ ...text, id: 'b' }).content).toEqual([{ ...text, id: 'b' }])
})

test('media are encoded as the JavaScript client reads them', () => {
  const image = { type: 'image', base64: 'AAAA', mimeType: 'image/png', fileId: 'f' } as const
  expect(encodeBlock(image)).toEqual({ type: 'image', data: 'AAAA', mime_type: 'image/png', file_id: 'f' })
})

test.each([
  ['a string', 'hi', { type: 'human', content: 'hi' }],
  ['type and content', { type: 'human', content: 'hi', id: 'h' }, { type: 'human', content: 'hi', id: 'h' }],
  ['role and content', { role: 'user', content: 'hi' }, { type: 'human', content: 'hi' }],
  ['a pair', ['assistant', 'hi'], { type: 'ai', content: 'hi' }],
  [
    'the stored form',
    { type: 'human', data: { content: 'hi', id: 'h' } },
    { type: 'human', content: 'hi', id: 'h' },
  ],
  ['a developer message', { role: 'developer', content: 'be kind' }, { type: 'system', content: 'be kind' }],
  [
    'an item of the Responses API',
    { type: 'message', role: 'user', content: 'hi' },
    { type: 'human', content: 'hi' },
  ],
  [
    'unknown fields',
    { role: 'user', content: 'hi', seen: true },
    { type: 'human', content: 'hi', seen: true },
  ],
  [
    'a constructor envelope',
    {
      lc: 1,
      type: 'constructor',
      id: ['langchain_core', 'messages', 'HumanMessage'],
      kwargs: { content: 'hi', id: 'h' },
    },
    { type: 'human', content: 'hi', id: 'h' },
  ],
  [
    'the normal form',
    { role: 'user', content: [{ type: 'text', text: 'hi' }] },
    { type: 'human', content: 'hi' },
  ],
  [
    "OpenAI's tool calls",
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        { id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":1}' } },
        { id: 'b', type: 'function', function: { name: 'g', arguments: '{"x":' } },
      ],
    },
    {
      type: 'ai',
      content: '',
      tool_calls: [{ id: 'a', name: 'f', args: { x: 1 }, type: 'tool_call' }],
      invalid_tool_calls: [{ id: 'b', name: 'g', args: '{"x":', type: 'invalid_tool_call' }],
    },
  ],
])('%s is read', (_, spelling, expected) => {
  expect(toWireMessage(freeze(spelling))).toMatchObject(expected)
})

test.each([
  ['a number', 42],
  ['null', null],
  ['nothing', undefined],
  ['an unknown role', { role: 'wizard', content: 'hi' }],
  ['an inherited name for a role', { type: 'constructor', content: 'hi' }],
  ['content that is an object', { role: 'user', content: {} }],
  ['three elements', ['user', 'hi', 'there']],
  [
    'an envelope of something else',
    { lc: 1, type: 'constructor', id: ['x', 'Document'], kwargs: { content: 'hi' } },
  ],
])('%s is no message', (_, value) => {
  expect(toWireMessage(value)).toBeUndefined()
  expect(decodeMessage(value)).toBeUndefined()
})

test('LangChain messages are read, live and stringified', () => {
  const messages = [
    new HumanMessage({ content: 'hi', id: 'h' }),
    new SystemMessage({ content: 'be kind', id: 's' }),
    new AIMessage({
      content: 'yes',
      id: 'a',
      tool_calls: [{ id: 'c', name: 'f', args: { x: 1 } }],
      usage_metadata: {
        input_tokens: 1,
        output_tokens: 2,
        total_tokens: 3,
        input_token_details: { cache_read: 1 },
      },
    }),
    new AIMessageChunk({ content: 'chunk', id: 'k' }),
    new ToolMessage({ content: 'done', tool_call_id: 'c', id: 't', status: 'error', artifact: { raw: 1 } }),
    new RemoveMessage({ id: 'h' }),
  ]
  for (const live of messages) {
    const wire = toWireMessage(live)!
    expect(wire).toMatchObject({ type: live.getType(), id: live.id, content: live.content })
    expect(toWireMessage(JSON.parse(JSON.stringify(live)))).toEqual(JSON.parse(JSON.stringify(wire)))
  }
  expect(decodeMessage(messages[2])).toEqual({
    role: 'assistant',
    id: 'a',
    content: [
      { type: 'text', text: 'yes' },
      { type: 'toolCall', id: 'c', name: 'f', args: { x: 1 } },
    ],
    usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3, inputDetails: { cache_read: 1 } },
  })
  expect(decodeMessage(messages[4])).toMatchObject({
    role: 'tool',
    toolCallId: 'c',
    status: 'error',
    extras: { artifact: { raw: 1 } },
  })
  expect(decodeMessage(messages[5])).toBeUndefined()
})

test('LangChain reads encoded messages', () => {
  fc.assert(
    fc.property(message, (original) => {
      const { type, ...fields } = encodeMessage(original)
      const classes: Readonly<Record<string, new (fields: never) => BaseMessage>> = {
        human: HumanMessage,
        system: SystemMessage,
        ai: AIMessage,
        tool: ToolMessage,
      }
      const live = new classes[type]!(fields as never)
      expect(live.getType()).toBe(type)
      expect(live.id).toBe(original.id)
      const texts = original.content.filter((one) => one.type === 'text').map((one) => one.text)
      expect(live.text).toBe(texts.join(''))
      if (live instanceof AIMessage) {
        expect(live.tool_calls?.map(({ name, args }) => [name, args])).toEqual(
          original.content.flatMap((one) => (one.type === 'toolCall' ? [[one.name, one.args]] : [])),
        )
      }
    }),
  )
})

test("a call replaces the provider's own block of the same call", () => {
  const decoded = decodeMessage({
    type: 'ai',
    content: [
      { type: 'text', text: 'Looking.' },
      { type: 'tool_use', id: 'c', name: 'f', input: { x: 1 } },
    ],
    tool_calls: [{ id: 'c', name: 'f', args: { x: 1 } }],
  })
  expect(decoded?.content.map(({ type }) => type)).toEqual(['text', 'toolCall'])
})

test("images in OpenAI's spelling become image blocks", () => {
  expect(decodeBlock({ type: 'image_url', image_url: { url: 'https://x/y.png', detail: 'low' } })).toEqual({
    type: 'image',
    url: 'https://x/y.png',
    extras: { detail: 'low' },
  })
  expect(decodeBlock({ type: 'image_url', image_url: 'data:image/png;base64,AAAA' })).toEqual({
    type: 'image',
    base64: 'AAAA',
    mimeType: 'image/png',
  })
})

test('a block of an unknown type, or a malformed one, is kept whole', () => {
  for (const odd of [
    { type: 'hologram', depth: 3 },
    { type: 'text', text: 5 },
    { type: 'image', source: { type: 'url' } },
    7,
    null,
  ]) {
    expect(decodeBlock(odd)).toEqual({ type: 'nonStandard', value: odd })
  }
})
