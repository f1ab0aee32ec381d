import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { formats, gemini, generic, langchain, ollama, vercel } from '../../src/models/formats/index.ts'

/** Large enough that time that grows with the square of it does not pass. */
const MANY = 20_000
/** More than a function takes as arguments. */
const TOO_MANY = 150_000
const each = <Item>(make: (at: number) => Item, length = MANY): Item[] =>
  Array.from({ length }, (_, at) => make(at))
const limits = { timeout: 60_000 }

test('results without ids find their calls, however many there are', limits, () => {
  const { messages } = gemini.readRequest({
    contents: [
      { role: 'model', parts: each((at) => ({ functionCall: { name: `f${at % 3}`, args: { at } } })) },
      { role: 'user', parts: each((at) => ({ functionResponse: { name: `f${at % 3}`, response: { at } } })) },
    ],
  })
  const ids = messages[0]!.content.map(({ id }) => id)
  expect(messages.slice(1).map(({ toolCallId }) => toolCallId)).toEqual(ids)
  const read = ollama.readRequest({
    messages: [
      { role: 'assistant', tool_calls: each(() => ({ function: { name: 'f', arguments: {} } })) },
      ...each(() => ({ role: 'tool', tool_name: 'f', content: 'a' })),
    ],
  }).messages
  expect(new Set(read.slice(1).map(({ toolCallId }) => toolCallId)).size).toBe(MANY)
})

test('calls that the content repeats are read once, however many there are', limits, () => {
  for (const withId of [true, false]) {
    const calls = each((at) => ({
      type: 'tool_call',
      name: 'f',
      args: { at },
      ...(withId && { id: `c${at}` }),
    }))
    for (const message of [
      { role: 'assistant', content: calls, tool_calls: calls },
      { role: 'assistant', content: [], tool_calls: calls },
    ])
      expect(generic.readResponse({ message }).messages[0]!.content).toHaveLength(MANY)
  }
})

test('calls with results that the provider sends do not wait, however many there are', limits, () => {
  const content = each((at) => [
    { type: 'tool-call', toolCallId: `c${at}`, toolName: 'f', input: {} },
    { type: 'tool-result', toolCallId: `c${at}`, toolName: 'f', output: 'a' },
  ]).flat()
  expect(vercel.readResponse({ content, finishReason: 'stop' }).messages[0]!.finishReason).toBe('stop')
})

test('outputs of tools beside the content are read, however many there are', limits, () => {
  const tool_outputs = each((at) => ({ type: 'web_search_call', id: `ws${at}`, status: 'done' }), TOO_MANY)
  const message = { type: 'ai', content: 'a', additional_kwargs: { tool_outputs } }
  expect(langchain.readResponse(message).messages[0]!.content).toHaveLength(TOO_MANY + 1)
})

describe('a request with many messages', () => {
  let request: object | undefined
  beforeAll(() => {
    request = {
      messages: each(() => ({ role: 'user', content: 'a' }), TOO_MANY),
      contents: each(() => ({ role: 'user', parts: [{ text: 'a' }] }), TOO_MANY),
      input: each(() => ({ type: 'message', role: 'user', content: 'a' }), TOO_MANY),
    }
  })
  afterAll(() => {
    request = undefined
  })

  test.each(formats)('is read by $name', limits, (format) => {
    format.readRequest(request)
  })
})
