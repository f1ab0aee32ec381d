import fc from 'fast-check'
import { expect, test } from 'vitest'
import { diff, pathText } from '../../../../src/ops/devtools/page/model/diff.ts'

const lines = (before: unknown, after: unknown) =>
  diff(before, after).map(({ kind, path }) => `${kind} ${pathText(path)}`)

test('tells what was added, removed and changed, with its place', () => {
  expect(lines({ a: 1, b: { c: 2 }, d: 3 }, { a: 1, b: { c: 4, 'e f': 5 } })).toEqual([
    'removed d',
    'changed b.c',
    'added b["e f"]',
  ])
  expect(diff({ a: [1, 2] }, { a: [1, 3, 4] })).toEqual([
    { kind: 'changed', path: ['a', 1], before: 2, after: 3 },
    { kind: 'added', path: ['a', 2], after: 4 },
  ])
  expect(lines({ a: null }, { a: {} })).toEqual(['changed a'])
  expect(lines([], {})).toEqual(['changed (all)'])
})

test('compares messages by their ids, so that one taken out does not change those behind it', () => {
  const message = (id: string, content: string) => ({ id, content })
  const before = { messages: [message('1', 'a'), message('2', 'b'), message('3', 'c')] }
  const after = { messages: [message('2', 'b'), message('3', 'C'), message('4', 'd')] }
  expect(lines(before, after)).toEqual([
    'removed messages[0]',
    'changed messages[1].content',
    'added messages[2]',
  ])
})

test('items with an id twice are compared by their places', () => {
  const twice = [
    { id: 'x', n: 1 },
    { id: 'x', n: 2 },
  ]
  expect(lines(twice, [twice[0], { id: 'x', n: 3 }])).toEqual(['changed [1].n'])
})

test('equal values have no difference, and unequal ones have some', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
      expect(diff(a, JSON.parse(JSON.stringify(a)))).toEqual([])
      const isEqual = JSON.stringify(sorted(a)) === JSON.stringify(sorted(b))
      if (!isEqual) expect(diff(a, b).length).toBeGreaterThan(0)
    }),
    { examples: [[-0, 0]] },
  )
})

const sorted = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(sorted)
    : typeof value === 'object' && value !== null
      ? Object.fromEntries(
          Object.entries(value)
            .sort(([a], [b]) => (a < b ? -1 : 1))
            .map(([k, v]) => [k, sorted(v)]),
        )
      : value

test('gives at most 500 differences of states that have nothing in common', () => {
  const many = (prefix: string) =>
    Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [prefix + i, i]))
  expect(diff(many('a'), many('b'))).toHaveLength(500)
})
