import { expect, test } from 'vitest'
import { z } from 'zod'
import { fieldsOf, inputOf, takesMessages } from '../../../../src/ops/devtools/page/model/form.ts'

const schema = z.toJSONSchema(
  z.object({
    topic: z.string().describe('What it is about'),
    pages: z.number().int().nullable().optional(),
    tone: z.enum(['dry', 'warm']).optional(),
    isDraft: z.boolean(),
    sources: z.array(z.string()).optional(),
    language: z.string().default('en'),
  }),
  { io: 'input' },
)

test('a schema of simple fields is a form, and what is not simple is JSON in it', () => {
  expect(fieldsOf(schema)?.map(({ name, kind, isRequired }) => [name, kind, isRequired])).toEqual([
    ['topic', 'text', true],
    ['pages', 'number', false],
    ['tone', 'choice', false],
    ['isDraft', 'choice', true],
    ['sources', 'json', false],
    ['language', 'text', false],
  ])
  const [topic, , tone, isDraft] = fieldsOf(schema)!
  expect(topic!.description).toBe('What it is about')
  expect(tone!.choices).toEqual(['dry', 'warm'])
  expect(isDraft!.choices).toEqual([true, false])
})

test('what is typed becomes an input of the types of the schema, without what is empty', () => {
  const fields = fieldsOf(schema)!
  expect(inputOf(fields, {})).toEqual({ missing: 'topic' })
  expect(inputOf(fields, { topic: 'Coffee' })).toEqual({ missing: 'isDraft' })
  expect(inputOf(fields, { topic: '12', isDraft: 'false' })).toEqual({
    value: { topic: '12', isDraft: false, language: 'en' },
  })
  const all = { topic: 'Tea', isDraft: 'true', pages: '3', tone: '"dry"', sources: '["a"]', language: '' }
  expect(inputOf(fields, all)).toEqual({
    value: { topic: 'Tea', isDraft: true, pages: 3, tone: 'dry', sources: ['a'] },
  })
  expect(inputOf(fields, { ...all, sources: '[' })).toMatchObject({
    problem: expect.stringContaining('sources: This is not JSON'),
  })
})

test('a list of messages is one message of the user, beside other fields only', () => {
  const messages = { langgraph_type: 'messages', description: 'A list of chat messages' }
  expect(fieldsOf({ type: 'object', properties: { messages } })).toBeUndefined()
  const fields = fieldsOf({ type: 'object', properties: { messages, topic: { type: 'string' } } })!
  expect(fields.map(({ kind }) => kind)).toEqual(['messages', 'text'])
  expect(inputOf(fields, { messages: 'Hi' })).toEqual({
    value: { messages: [{ role: 'user', content: 'Hi' }] },
  })
})

test('a schema that is not an object with fields has no form', () => {
  for (const none of [null, {}, true, { type: 'string' }, { properties: {} }, { properties: { a: true } }])
    expect(fieldsOf(none)).toBeUndefined()
  const many = Object.fromEntries(Array.from({ length: 31 }, (_, index) => [`f${index}`, { type: 'string' }]))
  expect(fieldsOf({ properties: many })).toBeUndefined()
})

test('an agent takes messages, unless its schema has no field for them', () => {
  expect(takesMessages(null)).toBe(true)
  expect(takesMessages({ properties: { messages: {} } })).toBe(true)
  expect(takesMessages(schema)).toBe(false)
})
