import fc from 'fast-check'
import { expect, test } from 'vitest'
import { accumulate, createAccumulator, type MessageEvent, textOf } from '../../src/messages/index.ts'
import { freeze, streamed } from './arbitraries.ts'

test('any cutting and interleaving of a message accumulates to that message', () => {
  fc.assert(
    fc.property(streamed, ({ message, events }) => {
      expect(accumulate(freeze(events))).toEqual(message)
    }),
  )
})

test('the accumulated message is plain JSON, and reading it early changes nothing', () => {
  fc.assert(
    fc.property(streamed, ({ message, events }) => {
      const accumulator = createAccumulator()
      for (const event of events) {
        accumulator.push(event)
        const soFar = accumulator.message()
        expect(JSON.parse(JSON.stringify(soFar))).toEqual(soFar)
      }
      expect(accumulator.message()).toEqual(message)
    }),
    { numRuns: 50 },
  )
})

const call = (index: number, ...pieces: string[]): MessageEvent[] => [
  { type: 'blockStart', index, block: { type: 'toolCall', id: `c${index}`, name: 'f', args: {} } },
  ...pieces.map((args): MessageEvent => ({ type: 'blockDelta', index, delta: { type: 'args', args } })),
]

test('arguments that are cut off stay raw in an invalid call', () => {
  const { content } = accumulate([
    ...call(0, '{"path":"/tmp', '/a","text":"hal'),
    { type: 'blockFinish', index: 0 },
  ])
  expect(content).toEqual([
    {
      type: 'invalidToolCall',
      id: 'c0',
      name: 'f',
      args: '{"path":"/tmp/a","text":"hal',
      error: expect.stringContaining('JSON'),
    },
  ])
})

test('a stream that broke off keeps its text and has an invalid call', () => {
  const accumulator = createAccumulator()
  const events: MessageEvent[] = [
    { type: 'messageStart', id: 'm' },
    { type: 'blockStart', index: 0, block: { type: 'text', text: '' } },
    { type: 'blockDelta', index: 0, delta: { type: 'text', text: 'I will' } },
    ...call(1, '{"a"'),
    { type: 'error', message: 'overloaded', code: '529' },
  ]
  for (const event of events) accumulator.push(event)
  const message = accumulator.message()
  expect(textOf(message)).toBe('I will')
  expect(message.content[1]).toMatchObject({ type: 'invalidToolCall', args: '{"a"' })
  expect(message.finishReason).toBe('error')
  expect(accumulator.error).toEqual({ type: 'error', message: 'overloaded', code: '529' })
})

test('arguments that are JSON but no object are invalid, and empty ones are an empty object', () => {
  const { content } = accumulate([...call(0, '[1', ']'), ...call(1), ...call(2, '', ' ')])
  expect(content.map(({ type }) => type)).toEqual(['invalidToolCall', 'toolCall', 'toolCall'])
  expect(content[2]).toMatchObject({ args: {} })
})

test('an invalid call of a server tool is marked as one', () => {
  const { content } = accumulate([
    { type: 'blockStart', index: 0, block: { type: 'serverToolCall', name: 'web_search', args: {} } },
    { type: 'blockDelta', index: 0, delta: { type: 'args', args: '{"q' } },
  ])
  expect(content[0]).toMatchObject({ type: 'invalidToolCall', name: 'web_search', extras: { server: true } })
})

test('text and a tool call with the same index are two blocks', () => {
  const { content } = accumulate([
    { type: 'blockDelta', index: 0, delta: { type: 'text', text: 'Let me ' } },
    { type: 'blockDelta', index: 0, delta: { type: 'args', args: '{"x":' } },
    { type: 'blockDelta', index: 0, delta: { type: 'text', text: 'see.' } },
    { type: 'blockDelta', index: 0, delta: { type: 'args', args: '1}' } },
    { type: 'blockDelta', index: 1, delta: { type: 'reasoning', text: 'hm' } },
  ])
  expect(content).toEqual([
    { type: 'text', text: 'Let me see.' },
    { type: 'toolCall', name: '', args: { x: 1 } },
    { type: 'reasoning', text: 'hm' },
  ])
})

test('blocks are ordered by index, whatever the order they come in', () => {
  const text = (index: number, value: string): MessageEvent => ({
    type: 'blockStart',
    index,
    block: { type: 'text', text: value },
  })
  const { content } = accumulate([text(10, 'c'), text(0, 'a'), text(2, 'b')])
  expect(content.map((block) => block.type === 'text' && block.text)).toEqual(['a', 'b', 'c'])
})

test('choices are kept apart', () => {
  const accumulator = createAccumulator()
  for (const [choice, text] of [
    [1, 'B'],
    [0, 'A'],
    [1, 'b'],
    [0, 'a'],
  ] as const) {
    accumulator.push({ type: 'blockDelta', choice, index: 0, delta: { type: 'text', text } })
  }
  expect(accumulator.messages().map(textOf)).toEqual(['Aa', 'Bb'])
  expect(textOf(accumulator.message())).toBe('Aa')
})

test('the newest usage replaces the earlier ones', () => {
  const usage = (outputTokens: number) => ({ inputTokens: 5, outputTokens, totalTokens: 5 + outputTokens })
  const message = accumulate([
    { type: 'usage', usage: usage(1) },
    { type: 'usage', usage: usage(7) },
    { type: 'messageFinish', reason: 'stop' },
  ])
  expect(message.usage).toEqual(usage(7))
})

test('a delta after the end of its block is still added', () => {
  const { content } = accumulate([
    { type: 'blockStart', index: 0, block: { type: 'reasoning', text: 'so' } },
    { type: 'blockFinish', index: 0 },
    { type: 'blockDelta', index: 0, delta: { type: 'fields', fields: { extras: { signature: 's' } } } },
  ])
  expect(content).toEqual([{ type: 'reasoning', text: 'so', extras: { signature: 's' } }])
})

test('a stream without events is an empty message', () => {
  expect(accumulate([])).toEqual({ role: 'assistant', content: [] })
  expect(createAccumulator().messages()).toEqual([])
})
