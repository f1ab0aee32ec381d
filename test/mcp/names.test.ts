import { Annotation, START, StateGraph } from '@langchain/langgraph'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { langgraph } from '../../src/agents/langgraph/langgraph.ts'
import { defineAgent } from '../../src/index.ts'
import type { Json } from '../kit/events.ts'
import { connect, served, textOf } from './served.ts'

/** What hosts and model providers require of tools. */

const says = (text: string) => defineAgent({ run: ({ message }) => message(text) })

/** A host adds a prefix, and the models of all providers take at most 64 of these characters. */
const NAME = /^[a-zA-Z0-9_-]{1,40}$/

test('names are what every provider takes, short, unique, and always the same', async () => {
  const long = 'a-very-long-name-of-an-assistant-that-no-model-would-take'
  const ids = ['sales.bot', 'sales_bot', 'sales bot', `${long}-1`, `${long}-2`, 'Müller', '日本', '...']
  const agents = Object.fromEntries(ids.map((id) => [id, says(id)]))
  const client = await connect((await served(agents)).url, 'auto')
  const names = (await client.list()).map(({ name }) => name)
  for (const name of names) expect(name).toMatch(NAME)
  expect(new Set(names).size).toBe(ids.length + 1)
  const again = await connect((await served(agents)).url, 'legacy')
  expect((await again.list()).map(({ name }) => name)).toEqual(names)
  for (const [at, id] of ids.entries())
    expect(textOf(await client.call(names[at], { message: 'hi' }))).toContain(id)
})

test('each property of an input schema has a type', async () => {
  const input = z.object({
    city: z.string(),
    unit: z.enum(['C', 'F']).optional(),
    anything: z.any(),
    either: z.union([z.string(), z.number()]),
    maybe: z.string().nullable(),
    deep: z.object({ inner: z.unknown(), list: z.array(z.object({ free: z.any() })) }),
    fixed: z.literal('x'),
  })
  const typed = defineAgent({ input, run: ({ input: { city }, message }) => message(city) })
  const Channels = Annotation.Root({ topic: Annotation<string>, depth: Annotation<number> })
  const annotated = langgraph(
    new StateGraph(Channels)
      .addNode('n', ({ topic }) => ({ topic: `${topic}!` }))
      .addEdge(START, 'n')
      .compile(),
  )
  const at = await served({ typed, annotated, says: says('hi') }, { input: 'schema' })
  const client = await connect(at.url, 'auto')
  const tools = await client.list()
  const found: string[] = []
  const check = (schema: Json, path: string): void => {
    if (typeof schema !== 'object' || schema === null) return
    for (const [name, property] of Object.entries<Json>(schema.properties ?? {})) {
      found.push(`${path}.${name}`)
      expect([`${path}.${name}`, property.type]).toEqual([`${path}.${name}`, expect.anything()])
      check(property, `${path}.${name}`)
    }
    for (const one of [schema.items, ...(schema.anyOf ?? []), ...Object.values(schema.$defs ?? {})])
      check(one, path)
  }
  for (const { name, inputSchema } of tools) check(inputSchema, name)
  expect(found).toEqual(
    expect.arrayContaining([
      'typed.anything',
      'typed.deep.inner',
      'typed.deep.list.free',
      'annotated.topic',
      'annotated.depth',
      'answer_question.answer',
    ]),
  )
  const { properties } = tools.find(({ name }) => name === 'typed')!.inputSchema
  expect([properties.city.type, properties.unit.type, properties.either.type, properties.fixed.type]).toEqual(
    ['string', 'string', ['string', 'number'], 'string'],
  )
  // The types that are shown refuse nothing that the agent takes.
  const given = {
    city: 'Oslo',
    anything: null,
    either: 1,
    maybe: null,
    deep: { inner: [1], list: [] },
    fixed: 'x',
  }
  expect(textOf(await client.call('typed', given))).toContain('Oslo')
  expect(textOf(await client.call('annotated', { topic: 'x', depth: 2 }))).toContain('x!')
})

test('a question with a form is answered by JSON in a text, too', async () => {
  const asks = defineAgent({
    async run({ interrupt, message }) {
      await message(
        JSON.stringify(
          await interrupt({
            action_requests: [{ name: 'pay', args: {} }],
            review_configs: [{ action_name: 'pay', allowed_decisions: ['approve', 'reject'] }],
          }),
        ),
      )
    },
  })
  const client = await connect((await served({ asks })).url, 'legacy')
  const { _meta } = await client.call('asks', { message: 'go' })
  const threadId = _meta['agentwire/threadId']
  const answer = JSON.stringify({ decision: 'approve' })
  const result = await client.call('answer_question', { threadId, answer })
  expect(textOf(result)).toContain('approve')
})
