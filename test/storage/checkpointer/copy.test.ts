import { isDeepStrictEqual } from 'node:util'
import { AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages'
import { Send } from '@langchain/langgraph'
import { DeltaSnapshot } from '@langchain/langgraph-checkpoint'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { AgentwireError } from '../../../src/core/errors.ts'
import { copy, equalsCopy } from '../../../src/storage/checkpointer/copy.ts'

fc.configureGlobal({ seed: 1 })

const state = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.oneof(
      fc.integer(),
      fc.string(),
      fc.boolean(),
      fc.constantFrom(null, undefined, Number.NaN, -0, 'content'),
    ),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('__proto__', 'toString', 'a')), tie('value'), {
      maxKeys: 4,
      noNullPrototype: false,
    }),
    fc.array(fc.tuple(fc.string(), tie('value')), { maxLength: 3 }).map((entries) => new Map(entries)),
    fc.array(tie('value'), { maxLength: 3 }).map((members) => new Set(members)),
    fc.uint8Array({ maxLength: 6 }),
    fc.date(),
    tie('value').map((inner) => new DeltaSnapshot(inner)),
    tie('value').map((inner) => new Send('node', inner)),
    fc.string().map((content) => new AIMessage({ content, id: content })),
  ),
})).value

/** Every object that can be reached. Messages and marked classes by their own properties. */
function reach(value: unknown, found = new Set<unknown>()): Set<unknown> {
  if (typeof value !== 'object' || value === null || found.has(value)) return found
  found.add(value)
  if (value instanceof Map) for (const entry of value) reach(entry[1], found)
  else if (value instanceof Set) for (const member of value) reach(member, found)
  else for (const key of Object.keys(value)) reach((value as Record<string, unknown>)[key], found)
  return found
}

test('a copy equals its original and shares nothing with it', () => {
  fc.assert(
    fc.property(state, (value) => {
      const copied = copy(value)
      expect(copied).toStrictEqual(value)
      const original = reach(value)
      expect([...reach(copied)].filter((part) => original.has(part))).toEqual([])
    }),
  )
})

test('a copy beside an earlier one equals its original, shares nothing with it, and is the earlier where both are equal', () => {
  fc.assert(
    fc.property(state, state, (before, value) => {
      const earlier = copy(before)
      const copied = copy(value, earlier)
      expect(copied).toStrictEqual(value)
      expect(earlier).toStrictEqual(before)
      const original = reach(value)
      expect([...reach(copied)].filter((part) => original.has(part))).toEqual([])
      expect(copy(before, earlier)).toBe(earlier)
      expect(equalsCopy(before, earlier)).toBe(true)
    }),
  )
})

test('a copy shares what did not change with the one before it', () => {
  const messages = Array.from({ length: 50 }, (_, i) => new HumanMessage({ content: `m${i}`, id: `${i}` }))
  const before = copy({ messages, other: { deep: [1, 2] } })
  const after = copy({ messages: [...messages, new AIMessage('new')], other: { deep: [1, 2] } }, before)
  expect(after).not.toBe(before)
  expect(after.other).toBe(before.other)
  expect(after.messages.slice(0, 50).every((message, i) => message === before.messages[i])).toBe(true)
  messages[3]!.content = 'changed'
  const changed = copy({ messages, other: { deep: [1, 3] } }, before)
  expect(changed.messages[3]!.content).toBe('changed')
  expect(before.messages[3]!.content).toBe('m3')
  expect(changed.messages[4]).toBe(before.messages[4])
})

test.each([
  [{ a: 1, b: 2 }, { a: 1 }],
  [{ a: 1 }, { a: 1, b: 2 }],
  [
    { a: 1, b: 2 },
    { a: 1, c: 2 },
  ],
  [[1, 2], [1]],
  [[1], [1, 2]],
  [[], {}],
  [{}, []],
])('beside a copy of %j, a copy of %j has what its original has', (before, value) => {
  expect(copy<unknown>(value, copy(before))).toStrictEqual(value)
})

test('a copied message is a message, with its methods', () => {
  const call = { name: 'add', args: { a: [1] }, id: 'c', type: 'tool_call' as const }
  for (const message of [
    new HumanMessage({ content: [{ type: 'text', text: 'hi' }], id: '1' }),
    new AIMessage({ content: 'x', tool_calls: [call], response_metadata: { deep: { a: 1 } } }),
    new ToolMessage({ content: 'r', tool_call_id: 'c', artifact: { a: 1 } }),
  ]) {
    const copied = copy(message)
    expect(copied).not.toBe(message)
    expect(copied).toBeInstanceOf(message.constructor)
    expect(JSON.stringify(copied)).toBe(JSON.stringify(message))
    expect(copied.text).toBe(message.text)
    expect(copied.getType()).toBe(message.getType())
  }
})

test('an instance of another class is shared, private fields and all', () => {
  class Counter {
    #count = 0
    next(): number {
      return ++this.#count
    }
  }
  const counter = new Counter()
  const copied = copy({ counter })
  expect(copied.counter).toBe(counter)
  expect(copied.counter.next()).toBe(1)
})

test('buffers are copied, also views on a part of them', () => {
  const buffer = Uint8Array.of(1, 2, 3, 4).buffer
  const value = {
    part: new Uint8Array(buffer, 1, 2),
    words: new Uint16Array(buffer),
    node: Buffer.from('abc'),
    re: /a/g,
  }
  const copied = copy(value)
  new Uint8Array(buffer).fill(9)
  value.node[0] = 0
  expect(copied.part).toEqual(Uint8Array.of(2, 3))
  expect(new Uint8Array(copied.words.buffer)).toEqual(Uint8Array.of(1, 2, 3, 4))
  expect(copied.node.toString()).toBe('abc')
  expect(copied.re).toEqual(/a/g)
  expect(copied.re).not.toBe(value.re)
})

test('a circular state is refused with a reason', () => {
  const circular: Record<string, unknown> = {}
  circular.self = [circular]
  expect(() => copy(circular)).toThrow(AgentwireError)
  expect(() => copy(circular)).toThrow(/circular/)
})

test('a copy on top of any other has the structure and the values of what was copied', () => {
  // Names that objects inherit, because what is inherited is not there.
  const key = fc.oneof(fc.constantFrom('a', 'b', 'constructor', 'toString', '__proto__', '0'), fc.string())
  const leaf = fc.oneof(
    fc.integer({ min: 0, max: 2 }),
    fc.constantFrom(undefined, null, Number.NaN, -0, Object),
  )
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 4 }, leaf, tie('list'), tie('fields')),
    list: fc.array(tie('value'), { maxLength: 4 }),
    fields: fc.dictionary(key, tie('value'), { maxKeys: 4, noNullPrototype: false }),
  }))
  fc.assert(
    fc.property(value, value, (first, second) => {
      const kept = copy(first)
      const copied = copy(second, kept)
      expect(isDeepStrictEqual(copied, second)).toBe(true)
      expect(isDeepStrictEqual(kept, first)).toBe(true)
      expect(copy(second, copied)).toBe(copied)
    }),
    { numRuns: 2_000 },
  )
})
