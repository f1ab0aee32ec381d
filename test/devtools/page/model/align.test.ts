import fc from 'fast-check'
import { expect, test } from 'vitest'
import { align } from '../../../../src/ops/devtools/page/model/diff.ts'

const of = (one: string, other: string) =>
  align([...one], [...other], (letter) => letter).map((pair) => pair.map((letter) => letter ?? '-').join(''))

test('what only one list has stands alone, and the rest beside its like', () => {
  expect(of('abcd', 'abd')).toEqual(['aa', 'bb', 'c-', 'dd'])
  expect(of('abd', 'axbyd')).toEqual(['aa', '-x', 'bb', '-y', 'dd'])
  expect(of('', 'ab')).toEqual(['-a', '-b'])
})

test('every item is there once, in its order, and equal lists are aligned whole', () => {
  const list = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 12 })
  fc.assert(
    fc.property(list, list, (one, other) => {
      const pairs = align(one, other, (letter) => letter)
      expect(pairs.flatMap(([item]) => item ?? [])).toEqual(one)
      expect(pairs.flatMap(([, item]) => item ?? [])).toEqual(other)
      for (const [a, b] of pairs) if (a !== undefined && b !== undefined) expect(a).toBe(b)
      expect(align(one, one, (letter) => letter)).toEqual(one.map((letter) => [letter, letter]))
    }),
  )
})

test('lists of thousands are aligned, if not in the best way', () => {
  const many = Array.from({ length: 5_000 }, (_, index) => `${index % 7}`)
  const pairs = align(many, ['x', ...many], (letter) => letter)
  expect(pairs.flatMap(([item]) => item ?? [])).toEqual(many)
})
