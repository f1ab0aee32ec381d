import { expect, test } from 'vitest'
import * as z from 'zod/mini'
import { readBy } from '../../src/faces/kit/body.ts'
import { parse, type Schema } from '../../src/faces/kit/parse.ts'
import { map, record } from '../../src/faces/kit/schema.ts'
import {
  commandSchema,
  historySchema,
  inputInjectSchema,
  inputRespondSchema,
  runStartSchema,
  streamSchema,
  threadSearchSchema,
} from '../../src/faces/threads/wire.ts'

const messageOf = (schema: Schema, value: unknown): string => {
  try {
    readBy(schema, value, (message) => new RangeError(message))
  } catch (error) {
    expect(error).toBeInstanceOf(RangeError)
    return (error as Error).message
  }
  throw new Error('It was taken.')
}

test.each<[Schema, unknown, string]>([
  [commandSchema, 'x', 'expected an object.'],
  [commandSchema, [], 'expected an object.'],
  [commandSchema, { id: -1, method: 'm' }, 'id: expected a whole number or a string.'],
  [commandSchema, { id: 1 }, 'method: expected a string.'],
  [runStartSchema, { assistant_id: '' }, 'assistant_id: expected a string that is not empty.'],
  [runStartSchema, { config: 7 }, 'config: expected an object.'],
  [runStartSchema, { config: { configurable: [] } }, 'config.configurable: expected an object.'],
  [runStartSchema, { config: { tags: ['a', 1] } }, 'config.tags.1: expected a string.'],
  [inputRespondSchema, { responses: [] }, 'responses: expected 1 or more items.'],
  [inputRespondSchema, { responses: [{}] }, 'responses.0.interrupt_id: expected a string.'],
  [
    inputInjectSchema,
    { message: { role: 'ai', content: '' } },
    'message.role: expected one of user, system.',
  ],
  [
    inputInjectSchema,
    { message: { role: 'user', content: 1 } },
    'message.content: expected a string or an array.',
  ],
  [streamSchema, { channels: 'values' }, 'channels: expected an array.'],
  [streamSchema, { channels: Array(1_001).fill('values') }, 'channels: expected at most 1000 items.'],
  [
    streamSchema,
    { channels: ['values'], since: 1.5 },
    `since: expected a whole number from 0 to ${2 ** 53 - 1}.`,
  ],
  [historySchema, { limit: 1_001 }, 'limit: expected a whole number from 0 to 1000.'],
  [historySchema, { before: {} }, 'before: expected a checkpoint id, or an object that has one.'],
])('%# an invalid value is refused with its place and what was expected', (schema, value, message) => {
  expect(messageOf(schema, value)).toBe(message)
})

test('what is left out or null is absent, camelCase is read, and snake_case wins', () => {
  expect(parse(runStartSchema, undefined)).toEqual({})
  expect(parse(runStartSchema, { assistant_id: null, input: null, unknown: 1 })).toEqual({ input: null })
  expect(parse(runStartSchema, { assistantId: 'a', multitaskStrategy: 'reject' })).toEqual({
    assistant_id: 'a',
    multitask_strategy: 'reject',
  })
  expect(parse(runStartSchema, { assistantId: 'a', assistant_id: 'b' })).toEqual({ assistant_id: 'b' })
  expect(parse(threadSearchSchema, { sortBy: 'status', limit: 1_000 })).toEqual({
    sort_by: 'status',
    limit: 1_000,
  })
})

test.each(['c', { checkpoint_id: 'c' }, { configurable: { checkpoint_id: 'c' } }])(
  'before is an id or an object that has one: %j',
  (before) => {
    expect(parse(historySchema, { before })).toEqual({ before: 'c' })
  },
)

test('a record has no key that changes the prototype of what it is written into', () => {
  const sent = JSON.parse('{"__proto__": {"admin": true}, "a": 1}')
  expect(Object.keys(parse(record, sent))).toEqual(['a'])
})

test('an error that is not about the value passes as it is', () => {
  const broken = map(z.string(), () => {
    throw new Error('broken')
  })
  expect(() => readBy(z.array(broken), ['a'], () => new RangeError('refused'))).toThrow('broken')
  expect(readBy(z.array(z.string()), ['a'], () => new RangeError('refused'))).toEqual(['a'])
})
