import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  accumulate,
  createMessageDecoder,
  createMessageEncoder,
  type Message,
  type MessageEvent,
  type WireMessageEvent,
} from '../../../src/messages/index.ts'
import { freeze, streamed } from '../arbitraries.ts'

function encode(events: readonly MessageEvent[]): readonly WireMessageEvent[] {
  const sent: WireMessageEvent[] = []
  const encoder = createMessageEncoder((data) => sent.push(JSON.parse(JSON.stringify(data))))
  for (const event of events) encoder.push(event)
  return sent
}

function decode(sent: readonly WireMessageEvent[]): readonly MessageEvent[] {
  const decoder = createMessageDecoder()
  return sent.flatMap((data) => decoder.push(data))
}

/** The message without what the wire does not carry. */
const onWire = ({ metadata, ...message }: Message): Message => ({ ...message, ...(metadata && { metadata }) })

test('a message that was encoded and decoded is the same message', () => {
  fc.assert(
    fc.property(streamed, ({ events }) => {
      const sent = encode(freeze(events))
      const failed = sent.at(-1)?.event === 'error'
      const decoded = accumulate(decode(sent))
      const whole = onWire(accumulate(events))
      if (failed) expect(decoded.content.length).toBeLessThanOrEqual(whole.content.length)
      else expect(decoded).toEqual(whole)
    }),
  )
})

test('the texts of a message that is cut anywhere are those that were sent by then, and come in pieces', () => {
  fc.assert(
    fc.property(streamed, fc.nat({ max: 100 }), ({ events }, at) => {
      const part = events.slice(0, Math.ceil((events.length * at) / 100))
      const decoded = decode(encode(part))
      const texts = ({ content }: Message) =>
        content.flatMap((block) => (block.type === 'text' || block.type === 'reasoning' ? [block.text] : []))
      expect(texts(accumulate(decoded))).toEqual(texts(accumulate(part)))
    }),
  )
})

test('the arguments of a call are given as pieces, and from their begin where they are other ones', () => {
  const call = (args: string) => ({ type: 'tool_call_chunk', args })
  const delta = (args: string): WireMessageEvent => ({
    event: 'content-block-delta',
    index: 0,
    delta: { type: 'block-delta', fields: call(args) },
  })
  const sent: WireMessageEvent[] = [
    { event: 'content-block-start', index: 0, content: { ...call('{"a"'), id: 'c', name: 'add' } },
    delta('{"a":1'),
    delta('{"a":1'),
    delta('{"b":2}'),
  ]
  const events = decode(sent)
  expect(events.map((one) => (one.type === 'blockDelta' ? one.delta : one.type))).toEqual([
    'blockStart',
    { type: 'args', args: '{"a"' },
    { type: 'args', args: ':1' },
    { type: 'fields', fields: { args: {} } },
    { type: 'args', args: '{"b":2}' },
  ])
  expect(accumulate(events).content).toEqual([{ type: 'toolCall', id: 'c', name: 'add', args: { b: 2 } }])
})

test('a block that the normal form has no type for is whole as far as it is written', () => {
  const sent: WireMessageEvent[] = [
    { event: 'content-block-start', index: 0, content: { type: 'thinking', thinking: '' } },
    { event: 'content-block-delta', index: 0, delta: { type: 'reasoning-delta', reasoning: 'a' } },
    { event: 'content-block-delta', index: 0, delta: { type: 'reasoning-delta', reasoning: 'b' } },
    {
      event: 'content-block-delta',
      index: 0,
      delta: { type: 'block-delta', fields: { signature: 's' } },
    },
    { event: 'content-block-start', index: 1, content: { type: 'text', text: '' } },
    { event: 'content-block-delta', index: 1, delta: { type: 'text-delta', text: 'c' } },
  ]
  expect(accumulate(decode(sent)).content).toEqual([
    { type: 'nonStandard', value: { type: 'thinking', thinking: 'ab', signature: 's' } },
    { type: 'text', text: 'c' },
  ])
})
