import { type AssembledMessage, MessageAssembler } from '@langchain/langgraph-sdk'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  createMessageEncoder,
  encodeBlock,
  encodeUsage,
  type MessageEvent,
  type WireMessageEvent,
} from '../../../src/messages/index.ts'
import { freeze, streamed } from '../arbitraries.ts'

function encode(events: readonly MessageEvent[], id?: string): readonly WireMessageEvent[] {
  const sent: WireMessageEvent[] = []
  const encoder = createMessageEncoder((data) => sent.push(data), id)
  for (const event of events) encoder.push(event)
  return sent
}

/** Runs the assembler of the real client. `look` gets the message before each event, and the event. */
function assemble(
  events: readonly WireMessageEvent[],
  look: (message: AssembledMessage | undefined, event: WireMessageEvent) => void = () => {},
): AssembledMessage {
  const assembler = new MessageAssembler()
  let message: AssembledMessage | undefined
  for (const data of events) {
    look(message, data)
    const event = {
      type: 'event',
      method: 'messages',
      params: { namespace: [], timestamp: 0, node: 'agent', data },
    }
    message = assembler.consume(event as never)?.message ?? message
  }
  if (!message) throw new Error('The client has seen no message.')
  return message
}

test('the client assembles the message that was encoded', () => {
  fc.assert(
    fc.property(streamed, ({ message, events }) => {
      const assembled = assemble(JSON.parse(JSON.stringify(encode(freeze(events)))))
      expect(assembled.id).toBe(message.id)
      expect(assembled.blocks).toEqual(message.content.map(encodeBlock))
      expect(assembled.usage).toEqual(message.usage && encodeUsage(message.usage))
      expect(assembled.finishMetadata).toEqual(message.metadata)
    }),
    { numRuns: 150 },
  )
})

test('the deltas of each block add up to its final content', () => {
  fc.assert(
    fc.property(streamed, ({ events }) => {
      assemble(encode(events), (message, data) => {
        if (data.event !== 'content-block-finish') return
        const { index, content } = data
        const before = message?.blocks[index] as Record<string, unknown>
        const after = content as Record<string, unknown>
        if (after.type === 'text') expect(before.text).toBe(after.text)
        if (after.type === 'reasoning') expect(before.reasoning).toBe(after.reasoning)
        if ('data' in after) expect(before.data).toBe(after.data)
        if (after.type === 'tool_call') expect(JSON.stringify(after.args)).toContain(before.args)
      })
    }),
    { numRuns: 150 },
  )
})

test('the arguments of a tool call are sent accumulated, and parsed at the end', () => {
  const events: MessageEvent[] = [
    { type: 'messageStart', role: 'assistant', id: 'm', metadata: { model: 'x', nested: { no: 1 } } },
    { type: 'blockStart', index: 0, block: { type: 'toolCall', id: 'c', name: 'add', args: {} } },
    { type: 'blockDelta', index: 0, delta: { type: 'args', args: '{"a":2,' } },
    { type: 'blockDelta', index: 0, delta: { type: 'args', args: '"b":3}' } },
    { type: 'blockFinish', index: 0 },
    { type: 'usage', usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 } },
    { type: 'messageFinish', reason: 'toolCalls' },
  ]
  const usage = { input_tokens: 1, output_tokens: 2, total_tokens: 3 }
  expect(encode(events)).toEqual([
    { event: 'message-start', role: 'ai', id: 'm', metadata: { model: 'x' } },
    {
      event: 'content-block-start',
      index: 0,
      content: { type: 'tool_call_chunk', id: 'c', name: 'add', args: '' },
    },
    {
      event: 'content-block-delta',
      index: 0,
      delta: { type: 'block-delta', fields: { type: 'tool_call_chunk', args: '{"a":2,' } },
    },
    {
      event: 'content-block-delta',
      index: 0,
      delta: { type: 'block-delta', fields: { type: 'tool_call_chunk', args: '{"a":2,"b":3}' } },
    },
    {
      event: 'content-block-finish',
      index: 0,
      content: { type: 'tool_call', id: 'c', name: 'add', args: { a: 2, b: 3 } },
    },
    { event: 'usage', usage },
    {
      event: 'message-finish',
      reason: 'tool_calls',
      usage,
      responseMetadata: { model: 'x', nested: { no: 1 } },
    },
  ])
})

test('long arguments cost bytes in proportion to their length', () => {
  const bytes = (length: number) => {
    const pieces = Array.from({ length: length / 4 }, (): MessageEvent => {
      return { type: 'blockDelta', index: 0, delta: { type: 'args', args: 'abcd' } }
    })
    return JSON.stringify(encode(pieces)).length / length
  }
  expect(bytes(400_000)).toBeLessThan(bytes(40_000) * 1.5)
  expect(bytes(400_000)).toBeLessThan(30)
})

test('blocks without a finish event finish with the message', () => {
  const sent = encode([
    { type: 'blockDelta', index: 0, delta: { type: 'text', text: 'hi' } },
    { type: 'messageFinish' },
  ])
  expect(sent.map(({ event }) => event)).toEqual([
    'message-start',
    'content-block-start',
    'content-block-delta',
    'content-block-finish',
    'message-finish',
  ])
  expect(sent[3]).toMatchObject({ content: { type: 'text', text: 'hi' } })
})

test('a given id overrides that of the stream, and a repeated start is sent once', () => {
  const sent = encode(
    [
      { type: 'messageStart', id: 'theirs' },
      { type: 'messageStart', id: 'again' },
      { type: 'messageFinish' },
    ],
    'ours',
  )
  expect(sent.map(({ event }) => event)).toEqual(['message-start', 'message-finish'])
  expect(sent[0]).toMatchObject({ id: 'ours' })
})

test('only the first choice is sent, and an error ends it', () => {
  const sent = encode([
    { type: 'messageStart', choice: 1, id: 'other' },
    { type: 'messageStart', id: 'm' },
    { type: 'error', message: 'overloaded', code: '529' },
    { type: 'blockStart', index: 0, block: { type: 'text', text: 'late' } },
    { type: 'messageFinish', reason: 'error' },
  ])
  expect(sent).toEqual([
    { event: 'message-start', role: 'ai', id: 'm' },
    { event: 'error', message: 'overloaded', code: '529' },
  ])
})
