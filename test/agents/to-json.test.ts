import {
  AIMessage,
  AIMessageChunk,
  HumanMessage,
  RemoveMessage,
  SystemMessage,
  ToolMessage,
} from '@langchain/core/messages'
import { Command, Send } from '@langchain/langgraph'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { toJson } from '../../src/agents/to-json.ts'

const roundTrip = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

describe('toJson of any value', () => {
  const anything = fc.anything({
    withBigInt: true,
    withDate: true,
    withMap: true,
    withSet: true,
    withTypedArray: true,
    withSparseArray: true,
    withNullPrototype: true,
    withBoxedValues: true,
    withUnicodeString: true,
  } as fc.ObjectConstraints)

  test('gives JSON that a round trip does not change', () => {
    fc.assert(
      fc.property(anything, (value) => {
        const json = toJson(value)
        expect(JSON.stringify(roundTrip(json))).toBe(JSON.stringify(json))
        expect(toJson(json)).toBe(json)
      }),
    )
  })

  test('does not copy a value that is plain JSON already', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(toJson(value)).toBe(value)
      }),
    )
  })

  test('copies only the parts that change', () => {
    const same = { deep: [1, { two: 2 }] }
    const value = { same, other: { when: new Date(0) } }
    const json = toJson(value) as { same: unknown }
    expect(json).toEqual({ same, other: { when: '1970-01-01T00:00:00.000Z' } })
    expect(json.same).toBe(same)
    expect(value.other.when).toEqual(new Date(0))
  })
})

describe('values that JSON does not have', () => {
  test.each([
    ['undefined', undefined, null],
    ['not a number', Number.NaN, null],
    ['infinity', Number.NEGATIVE_INFINITY, null],
    ['bigint', 12345678901234567890n, '12345678901234567890'],
    ['function', () => 1, null],
    ['symbol', Symbol('x'), null],
    ['a date', new Date(Date.UTC(2020, 1, 2)), '2020-02-02T00:00:00.000Z'],
    ['an invalid date', new Date(Number.NaN), null],
    ['an error', Object.assign(new TypeError('no'), { secret: 's' }), { name: 'TypeError', message: 'no' }],
    ['a map', new Map([['a', new Map([['b', 1n]])]]), { a: { b: '1' } }],
    ['a map with other keys', new Map([[{ x: 1 }, 'y']]), [[{ x: 1 }, 'y']]],
    ['a set', new Set([1, new Set(['two'])]), [1, ['two']]],
    ['bytes', new Uint8Array([0, 255, 16]), 'AP8Q'],
    ['a Buffer', Buffer.from('hello'), 'aGVsbG8='],
    ['an ArrayBuffer', new Uint8Array([1, 2]).buffer, 'AQI='],
    ['a DataView', new DataView(new Uint8Array([9, 1, 2]).buffer, 1, 2), 'AQI='],
    ['a typed array', new Float32Array([1, 0.5]), [1, 0.5]],
    ['big integers', new BigInt64Array([5n]), ['5']],
    ['a regular expression', /a+/g, '/a+/g'],
    ['a URL', new URL('http://a.test/b'), 'http://a.test/b'],
    ['boxed', [Object('s'), Object(1), Object(true)], ['s', 1, true]],
    [
      'lists with holes',
      Object.assign(new Array(4), { 1: 1, 2: undefined, 3: () => {} }),
      [null, 1, null, null],
    ],
    ['left-out properties', { a: undefined, b: () => 1, c: Symbol('c'), d: 4 }, { d: 4 }],
    [
      'class instances',
      new (class Point {
        x = 1
        y = new Set([2])
      })(),
      { x: 1, y: [2] },
    ],
    ['toJSON', { toJSON: () => ({ at: new Date(0) }) }, { at: '1970-01-01T00:00:00.000Z' }],
    ['a promise', Promise.resolve(1), {}],
  ])('become JSON: %s', (_, value, expected) => {
    expect(toJson(value)).toEqual(expected)
    expect(roundTrip(toJson(value))).toEqual(expected)
  })

  test('bytes that are longer than one call can encode become base64', () => {
    const bytes = new Uint8Array(200_000).map((_, at) => at)
    expect(toJson(bytes)).toBe(Buffer.from(bytes).toString('base64'))
  })
})

describe('hostile values', () => {
  test('with cycles end at a mark', () => {
    const value: Record<string, unknown> = { name: 'a', list: [] }
    ;(value.list as unknown[]).push(value, new Map([['self', value]]))
    expect(toJson(value)).toEqual({ name: 'a', list: ['[circular]', { self: '[circular]' }] })
  })

  test('are not taken for a cycle when an object occurs twice', () => {
    const one = { x: 1n }
    expect(toJson([one, one])).toEqual([{ x: '1' }, { x: '1' }])
  })

  test('end at a mark where messages hold each other', () => {
    const a = new AIMessage({ content: 'a' })
    const b = new AIMessage({ content: 'b', additional_kwargs: { other: a } })
    a.additional_kwargs = { other: b }
    expect(JSON.stringify(toJson([a, b]))).toContain('[circular]')
  })

  test('that are nested too deep end at a mark', () => {
    let value: unknown = 'bottom'
    for (let depth = 0; depth < 100_000; depth++) value = [value]
    const json = JSON.stringify(toJson(value))
    expect(json).toContain('[too deep]')
    expect(json.length).toBeLessThan(2_000)
  })

  test('whose getters, toJSON or proxies throw lose only the unreadable parts', () => {
    const boom = () => {
      throw new Error('boom')
    }
    const getter = Object.defineProperty({ a: 1 }, 'b', { get: boom, enumerable: true })
    expect(toJson(getter)).toEqual({ a: 1, b: '[unreadable]' })
    expect(toJson({ keep: 1, toJSON: boom })).toEqual({ keep: 1 })
    expect(toJson({ in: new Proxy({}, { ownKeys: boom }), ok: 1 })).toEqual({ in: '[unreadable]', ok: 1 })
    expect(toJson({ getType: () => 'ai', toDict: boom, proto: new (class {})() })).toEqual({ proto: {} })
    expect(
      toJson(
        new (class {
          getType = () => 'ai'
          toDict = boom
        })(),
      ),
    ).toEqual({})
  })

  test('with a key named __proto__ keep it as a key', () => {
    const json = toJson(
      JSON.parse('{"__proto__":{"polluted":1},"when":0}', (key, value) => (key === 'when' ? 1n : value)),
    )
    expect(Object.keys(json as object)).toEqual(['__proto__', 'when'])
    expect(JSON.stringify(json)).toBe('{"__proto__":{"polluted":1},"when":"1"}')
    expect(({} as { polluted?: number }).polluted).toBeUndefined()
  })
})

describe('LangChain messages', () => {
  test('become flat objects with all their fields', () => {
    const message = new AIMessage({
      id: 'ai-1',
      content: [{ type: 'text', text: 'hi' }],
      tool_calls: [{ id: 'c1', name: 'add', args: { a: 1 }, type: 'tool_call' }],
      additional_kwargs: { custom: { lc: 1, mine: true } },
      usage_metadata: { input_tokens: 1, output_tokens: 2, total_tokens: 3 },
      response_metadata: { model: 'm' },
    })
    expect(toJson(message)).toEqual({
      type: 'ai',
      id: 'ai-1',
      content: [{ type: 'text', text: 'hi' }],
      tool_calls: [{ id: 'c1', name: 'add', args: { a: 1 }, type: 'tool_call' }],
      invalid_tool_calls: [],
      additional_kwargs: { custom: { lc: 1, mine: true } },
      usage_metadata: { input_tokens: 1, output_tokens: 2, total_tokens: 3 },
      response_metadata: { model: 'm' },
    })
  })

  test.each([
    ['human', new HumanMessage('q')],
    ['system', new SystemMessage({ contentBlocks: [{ type: 'text', text: 's' }] })],
    ['tool', new ToolMessage({ content: 'r', tool_call_id: 'c1', artifact: { at: new Date(0) } })],
    ['remove', new RemoveMessage({ id: 'x' })],
    ['ai', new AIMessageChunk({ content: 'part' })],
  ])('of type %s become flat', (type, message) => {
    const json = toJson({ in: [message] }) as { in: [Record<string, unknown>] }
    expect(json.in[0]).toMatchObject({ type, content: message.content })
    expect(JSON.stringify(json)).not.toContain('"lc"')
  })

  test('become flat inside of commands, sends, maps and other messages', () => {
    const message = new ToolMessage({ content: 'r', tool_call_id: 'c1' })
    const flat = expect.objectContaining({ type: 'tool', tool_call_id: 'c1' })
    expect(
      toJson(new Command({ update: { messages: [message] }, goto: new Send('n', { message }) })),
    ).toEqual({
      lg_name: 'Command',
      update: { messages: [flat] },
      goto: [{ lg_name: 'Send', node: 'n', args: { message: flat } }],
    })
    expect(toJson(new Map([['m', message]]))).toEqual({ m: flat })
    expect(toJson(new AIMessage({ content: 'x', additional_kwargs: { message } }))).toMatchObject({
      additional_kwargs: { message: flat },
    })
  })

  test('become flat from their serialized envelope', () => {
    const message = new HumanMessage({ content: 'q', id: 'h' })
    expect(toJson({ raw: roundTrip(message) })).toEqual({
      raw: { type: 'human', content: 'q', id: 'h', additional_kwargs: {}, response_metadata: {} },
    })
    const other = { lc: 1, type: 'constructor', id: ['langchain', 'Thing'], kwargs: { at: 1 } }
    expect(toJson(other)).toEqual(other)
  })

  test('are told as edited where a part of them has something that is no JSON', () => {
    const message = new AIMessage({
      content: '',
      additional_kwargs: { note: { text: 'before', nothing: undefined } },
      tool_calls: [{ id: 'c', name: 'add', args: { a: 1, b: undefined } }],
    })
    expect(toJson(message)).toMatchObject({ tool_calls: [{ args: { a: 1 } }] })
    message.tool_calls![0]!.args.a = 2
    ;(message.additional_kwargs.note as { text: string }).text = 'after'
    expect(toJson(message)).toMatchObject({
      additional_kwargs: { note: { text: 'after' } },
      tool_calls: [{ args: { a: 2 } }],
    })
    expect(toJson(message)).toEqual(JSON.parse(JSON.stringify(toJson(message))))
  })

  test('are converted once, and again after a change', () => {
    const message = new AIMessage({ content: 'a' })
    const first = toJson([message]) as unknown[]
    expect((toJson([message]) as unknown[])[0]).toBe(first[0])
    message.id = 'late'
    message.usage_metadata = { input_tokens: 1, output_tokens: 1, total_tokens: 2 }
    expect(toJson(message)).toMatchObject({ id: 'late', usage_metadata: { total_tokens: 2 } })
    expect(first[0]).not.toHaveProperty('id')
  })
})
