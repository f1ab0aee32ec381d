import { expect, test } from 'vitest'
import { generic } from '../../../../src/models/formats/index.ts'
import { platformTarget } from '../../../../src/models/tracing/convert/formats.ts'
import { frozen, streamed, whole } from '../../helpers.ts'

const ANSWER = { role: 'assistant', content: [{ type: 'text', text: 'Hi' }] }

test.each<[string, unknown]>([
  ['choices', { choices: [{ message: { role: 'assistant', content: 'Hi' } }] }],
  ['a message', { message: { role: 'assistant', content: 'Hi' } }],
  ['role and content', { role: 'assistant', content: 'Hi' }],
  ['a pair', ['assistant', 'Hi']],
  ['messages', { messages: [{ role: 'assistant', content: [{ type: 'text', text: 'Hi' }] }] }],
  ['choices of an instruct model', { choices: [{ text: 'Hi' }] }],
])('an output as %s is read', (_, output) => {
  expect(whole(generic, output).messages).toEqual([ANSWER])
})

test('choices keep their order and the counts beside them', () => {
  const { messages } = whole(generic, {
    choices: [
      { index: 1, message: { content: 'b' }, finish_reason: 'length' },
      { index: 0, message: { content: 'a' }, finish_reason: 'stop' },
    ],
    model: 'own',
    usage_metadata: { input_tokens: 3, output_tokens: 4, input_cost: 0.1, output_cost: 0.2, total_cost: 0.3 },
  })
  expect(messages).toMatchObject([
    {
      content: [{ text: 'a' }],
      finishReason: 'stop',
      usage: {
        inputTokens: 3,
        outputTokens: 4,
        totalTokens: 7,
        inputCost: 0.1,
        outputCost: 0.2,
        totalCost: 0.3,
      },
      metadata: { model: 'own' },
    },
    { content: [{ text: 'b' }], finishReason: 'length' },
  ])
})

const BLOCKS = [
  { type: 'text', text: 'So', annotations: [{ type: 'citation', url: 'u' }], extras: { a: 1 } },
  { type: 'reasoning', text: 'Hm', extras: { signature: 's' } },
  { type: 'image', url: 'https://a.example/1.png', mime_type: 'image/png' },
  { type: 'file', base64: 'AQID', mime_type: 'application/pdf' },
  { type: 'audio', base64: 'AQID', mime_type: 'audio/wav' },
  { type: 'video', id: 'file_1' },
  { type: 'tool_call', id: 'a', name: 'f', args: { x: 1 } },
  { type: 'server_tool_call', id: 'b', name: 'search', args: {} },
  { type: 'server_tool_result', tool_call_id: 'b', status: 'error', output: { no: 1 } },
]

test('all nine blocks of the platform are read and written back', () => {
  const [message] = whole(generic, { role: 'assistant', content: BLOCKS }).messages
  expect(message!.content).toEqual([
    {
      type: 'text',
      text: 'So',
      annotations: [{ type: 'citation', url: 'u' }],
      extras: { a: 1 },
    },
    { type: 'reasoning', text: 'Hm', extras: { signature: 's' } },
    { type: 'image', url: 'https://a.example/1.png', mimeType: 'image/png' },
    { type: 'file', base64: 'AQID', mimeType: 'application/pdf' },
    { type: 'audio', base64: 'AQID', mimeType: 'audio/wav' },
    { type: 'video', fileId: 'file_1' },
    { type: 'toolCall', id: 'a', name: 'f', args: { x: 1 } },
    { type: 'serverToolCall', id: 'b', name: 'search', args: {} },
    { type: 'serverToolResult', toolCallId: 'b', status: 'error', output: { no: 1 } },
  ])
  expect(platformTarget.writeOutputs([message!])).toEqual({
    messages: [{ role: 'assistant', content: BLOCKS }],
  })
})

test("calls beside the content are read in OpenAI's and LangChain's shape", () => {
  const called = { function: { name: 'f', arguments: '{"x":1}' } }
  expect(
    whole(generic, {
      role: 'assistant',
      content: 'So',
      tool_calls: [
        { id: 'a', type: 'function', ...called },
        { id: 'b', type: 'function', function: { name: 'f', arguments: '{"x":' } },
        { id: 'c', name: 'g', args: {}, type: 'tool_call' },
      ],
    }).messages[0]!.content,
  ).toMatchObject([
    { type: 'text', text: 'So' },
    { type: 'toolCall', id: 'a', name: 'f', args: { x: 1 } },
    { type: 'invalidToolCall', id: 'b', name: 'f', args: '{"x":' },
    { type: 'toolCall', id: 'c', name: 'g', args: {} },
  ])
})

test('a stream may have messages, texts or both', () => {
  const { messages } = streamed(generic, [
    { choices: [{ message: { role: 'assistant', content: 'a' } }] },
    { message: { content: 'b' } },
    { role: 'assistant', content: 'c' },
    ['assistant', 'd'],
    'e',
    {
      role: 'assistant',
      content: '',
      tool_calls: [{ id: 'a', name: 'f', args: {} }],
      finish_reason: 'tool_calls',
    },
    { usage_metadata: { input_tokens: 1, output_tokens: 2 } },
  ])
  expect(messages).toEqual([
    {
      role: 'assistant',
      content: [
        { type: 'text', text: 'abcde' },
        { type: 'toolCall', id: 'a', name: 'f', args: {} },
      ],
      finishReason: 'toolCalls',
      usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 },
      metadata: { finish_reason: 'tool_calls' },
    },
  ])
})

test.each<[string, unknown]>([
  ['messages', { messages: [['system', 'Be brief.'], { role: 'user', content: 'Hi' }] }],
  [
    'a list',
    [
      ['system', 'Be brief.'],
      ['user', 'Hi'],
    ],
  ],
])('an input as %s is read', (_, input) => {
  expect(generic.readRequest(frozen(input)).messages).toEqual([
    { role: 'system', content: [{ type: 'text', text: 'Be brief.' }] },
    { role: 'user', content: [{ type: 'text', text: 'Hi' }] },
  ])
})

test.each<[string, unknown]>([
  ['a message', { message: { role: 'user', content: 'Hi' } }],
  ['role and content', { role: 'user', content: 'Hi' }],
  ['a pair', ['user', 'Hi']],
  ['a prompt', { prompt: 'Hi' }],
])('an input as %s is read', (_, input) => {
  expect(generic.readRequest(frozen(input))).toMatchObject({
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
  })
})

test('parameters beside the input are read', () => {
  expect(generic.readRequest({ messages: [], model: 'own', temperature: 0, session: 1 })).toEqual({
    messages: [],
    params: { model: 'own', temperature: 0 },
    extras: { session: 1 },
  })
})

test('a tool message keeps its call, status and other fields', () => {
  const message = {
    role: 'tool',
    tool_call_id: 'a',
    name: 'f',
    status: 'error',
    content: 'No',
    extras: { b: 1 },
    c: 2,
  }
  expect(generic.readRequest({ messages: [message] }).messages).toEqual([
    {
      role: 'tool',
      name: 'f',
      toolCallId: 'a',
      status: 'error',
      content: [{ type: 'text', text: 'No' }],
      extras: { b: 1, c: 2 },
    },
  ])
})

test.each<[unknown]>([[undefined], [{}], [[]], [{ message: 1 }], [{ role: 'assistant' }]])(
  '%j gets an issue because it is no output',
  (value) => {
    expect(whole(generic, value).issues).toEqual([{ path: '', message: 'Expected a response of generic.' }])
  },
)
