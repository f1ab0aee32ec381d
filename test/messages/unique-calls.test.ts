import { expect, test } from 'vitest'
import { type ContentBlock, decodeMessage, type Message } from '../../src/messages/index.ts'
import { modelCallId, withCallNames } from '../../src/messages/unique-calls.ts'

const ID = 'functions.weather:0'
const call = (id = ID): ContentBlock => ({ type: 'toolCall', id, name: 'weather', args: {} })
const asks = (...content: ContentBlock[]): Message => ({ role: 'assistant', content })
const gives = (text: string, toolCallId = ID): Message => ({
  role: 'tool',
  toolCallId,
  content: [{ type: 'text', text }],
})

test('a repeated id of a model is another call, and results belong to the calls in order', () => {
  const named = withCallNames([asks(call()), gives('1'), asks(call(), call()), gives('2'), gives('3')])
  const calls = named.flatMap(({ content }) => content.filter(({ type }) => type === 'toolCall'))
  expect(calls.map(({ id }) => id)).toEqual([ID, `${ID}~2`, `${ID}~3`])
  expect(calls.map(modelCallId)).toEqual([ID, ID, ID])
  expect(named.flatMap(({ toolCallId = [] }) => toolCallId)).toEqual([ID, `${ID}~2`, `${ID}~3`])
})

test('a call without a result does not take that of a later call', () => {
  const named = withCallNames([asks(call()), asks(call()), gives('2'), gives('again')])
  expect(named.flatMap(({ toolCallId = [] }) => toolCallId)).toEqual([`${ID}~2`, `${ID}~2`])
})

test('results of tools that the provider runs belong to the calls in order', () => {
  const result: ContentBlock = { type: 'serverToolResult', toolCallId: ID, status: 'success' }
  const named = withCallNames([asks(call(), result, call(), result)])
  expect(named[0]!.content.map((block) => (block as { toolCallId?: string }).toolCallId ?? block.id)).toEqual(
    [ID, ID, `${ID}~2`, `${ID}~2`],
  )
})

test('a conversation whose ids differ is returned as it is', () => {
  const messages = [asks(call('a'), call('b')), gives('1', 'a')]
  expect(withCallNames(messages)).toBe(messages)
})

test('a message with many calls is read in time linear in their number', { timeout: 60_000 }, () => {
  const args = { text: 'x'.repeat(300) }
  const calls = (withId: boolean) =>
    Array.from({ length: 12_000 }, (_, at) => ({
      type: 'tool_call',
      name: 'f',
      args: { ...args, at },
      ...(withId && { id: `call-${at}` }),
    }))
  for (const withId of [true, false]) {
    const tool_calls = calls(withId)
    const content = decodeMessage({ type: 'ai', content: tool_calls, tool_calls })!.content
    expect(content).toHaveLength(12_000)
  }
})

test('content of any length is read', { timeout: 60_000 }, () => {
  const content = Array.from({ length: 300_000 }, () => ({ type: 'text', text: 'a' }))
  expect(decodeMessage({ type: 'human', content })!.content).toHaveLength(300_000)
})
