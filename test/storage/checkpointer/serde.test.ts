import { HumanMessage } from '@langchain/core/messages'
import { Send } from '@langchain/langgraph'
import { DeltaSnapshot, isDeltaSnapshot, MemorySaver } from '@langchain/langgraph-checkpoint'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { jsonSerde, type Serde } from '../../../src/storage/checkpointer/serde.ts'

async function across(value: unknown, from: Serde, to: Serde): Promise<unknown> {
  const [type, data] = await from.dumpsTyped(value)
  return to.loadsTyped(type, data)
}

fc.configureGlobal({ seed: 1 })

const plain = fc
  .jsonValue({ depthSize: 'small' })
  .map((value) => JSON.parse(JSON.stringify(value)) as unknown)
const value = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    plain,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.string(), tie('value'), { maxKeys: 4, noNullPrototype: true }),
    fc.array(fc.tuple(fc.string(), tie('value')), { maxLength: 3 }).map((entries) => new Map(entries)),
    fc.array(tie('value'), { maxLength: 3 }).map((members) => new Set(members)),
    fc.uint8Array({ maxLength: 6 }),
    fc.constantFrom(/a\/b/gi, /\n/),
  ),
})).value

test('gives back what it was given', async () => {
  await fc.assert(
    fc.asyncProperty(value, async (value) => {
      expect(await across(value, jsonSerde, jsonSerde)).toStrictEqual(value)
    }),
  )
})

test("reads what LangGraph's serializer wrote, and the other way round", async () => {
  const langgraph = new MemorySaver().serde
  // That one sets prototypes by keys named __proto__.
  const safe = value.filter((candidate) => !JSON.stringify(candidate)?.includes('__proto__'))
  await fc.assert(
    fc.asyncProperty(safe, async (value) => {
      expect(await across(value, langgraph, jsonSerde)).toStrictEqual(value)
      expect(await across(value, jsonSerde, langgraph)).toStrictEqual(value)
    }),
  )
})

test('keeps undefined, dates, errors, snapshots and sends', async () => {
  const loaded = (await across(
    {
      list: [undefined, 1],
      at: new Date(5),
      never: new Date(Number.NaN),
      error: new TypeError('why'),
      snapshot: new DeltaSnapshot({ deep: new Set([1]) }),
      send: new Send('node', { a: 1 }),
    },
    jsonSerde,
    jsonSerde,
  )) as Record<string, unknown>
  expect(loaded.list).toEqual([undefined, 1])
  expect(loaded.at).toEqual(new Date(5))
  expect(loaded.never).toBe(null)
  expect(loaded.error).toBeInstanceOf(Error)
  expect((loaded.error as Error).message).toBe('why')
  expect(isDeltaSnapshot(loaded.snapshot)).toBe(true)
  expect((loaded.snapshot as DeltaSnapshot).value).toEqual({ deep: new Set([1]) })
  expect(loaded.send).toEqual({ node: 'node', args: { a: 1 } })
})

test("writes LangChain objects so that LangGraph's serializer revives them, and keeps them as records itself", async () => {
  const messages = [new HumanMessage({ content: 'hi', id: '1' })]
  const [revived] = (await across(messages, jsonSerde, new MemorySaver().serde)) as HumanMessage[]
  expect(revived).toBeInstanceOf(HumanMessage)
  expect(revived?.content).toBe('hi')
  expect(await across(messages, jsonSerde, jsonSerde)).toEqual(JSON.parse(JSON.stringify(messages)))
})

test('keeps records that nobody wrote as the data they are', async () => {
  const odd = [
    { lc: 2, type: 'constructor', id: ['Function'], args: ['return 1'] },
    { lc: 2, type: 'constructor', id: ['Set'], method: 'x', args: [[]] },
    { lc: 2, type: 'constructor', id: ['Set'], args: 'x' },
    { lc: 2, type: 'constructor', id: ['Map'], args: [[1, 2]] },
    { lc: 2, type: 'constructor', id: ['RegExp'], args: ['(', ''] },
    ...[undefined, 'abc', ['x'], [0, -1], [256], [1.5], [null]].map((bytes) => ({
      lc: 2,
      type: 'constructor',
      id: ['Uint8Array'],
      method: 'from',
      args: bytes === undefined ? [] : [bytes],
    })),
    { lc: 2, type: 'constructor', id: ['Date'], args: ['x'] },
    { lc: 2, type: 'delta_snapshot' },
    { lc: 2, type: 'other' },
  ]
  expect(await across(odd, jsonSerde, jsonSerde)).toEqual(odd)
})

test('keeps bytes within a value, the least and the greatest too', async () => {
  const value = { bytes: Uint8Array.of(0, 1, 254, 255), none: new Uint8Array(0) }
  expect(await across(value, jsonSerde, jsonSerde)).toEqual(value)
})

test('gives bytes through as they are, and refuses types it does not know', async () => {
  const bytes = Uint8Array.of(1, 2)
  expect(await jsonSerde.dumpsTyped(bytes)).toEqual(['bytes', bytes])
  expect(await jsonSerde.loadsTyped('bytes', bytes)).toBe(bytes)
  expect(await jsonSerde.loadsTyped('bytes', 'a')).toEqual(Uint8Array.of(97))
  expect(await jsonSerde.loadsTyped('json', '{"a":1}')).toEqual({ a: 1 })
  await expect(jsonSerde.loadsTyped('pickle', bytes)).rejects.toThrow(/pickle/)
})

test('keeps a key named __proto__ as a key', async () => {
  const value = JSON.parse('{"__proto__":{"lc":2,"type":"undefined"},"a":{"__proto__":{"b":1}}}')
  const loaded = (await across(value, jsonSerde, jsonSerde)) as { a: object }
  expect(Object.keys(loaded)).toEqual(['__proto__', 'a'])
  expect(Object.getPrototypeOf(loaded)).toBe(Object.prototype)
  expect(Object.getPrototypeOf(loaded.a)).toBe(Object.prototype)
})
