import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { calculate, findArithmetic } from '../../examples/chat/server/tools/calculate.ts'

/** An expression as text, with its value. */
const { expression } = fc.letrec<{ expression: [string, number] }>((tie) => ({
  expression: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.integer({ min: 0, max: 999 }).map((value): [string, number] => [String(value), value]),
    tie('expression').map(([text, value]): [string, number] => [`-(${text})`, -value]),
    fc
      .tuple(tie('expression'), fc.constantFrom('+', '-', '*', '/'), tie('expression'))
      .map(([[left, a], sign, [right, b]]): [string, number] => [
        `(${left}) ${sign} (${right})`,
        sign === '+' ? a + b : sign === '-' ? a - b : sign === '*' ? a * b : a / b,
      ]),
  ),
}))

describe('calculate', () => {
  test('agrees with arithmetic in JavaScript', () => {
    fc.assert(
      fc.property(expression, ([text, value]) => {
        if (!Number.isFinite(value)) expect(() => calculate(text)).toThrow(RangeError)
        else expect(calculate(text)).toBe(Number(value.toPrecision(12)))
      }),
    )
  })

  test.each([
    ['2 + 3 * 4', 14],
    ['2 - 3 - 4', -5],
    ['2 ^ 3 ^ 2', 512],
    ['-2 ^ 2', -4],
    ['2 ^ -1', 0.5],
    ['17 % 5', 2],
    ['0.1 + 0.2', 0.3],
    ['((7))', 7],
  ])('%s = %d', (text, value) => {
    expect(calculate(text)).toBe(value)
  })

  test.each(['', '1 +', '(1', '1)', '1 / 0', 'a + 1', '1 2', 'process.exit()'])(
    'refuses “%s” with a sentence',
    (text) => {
      expect(() => calculate(text)).toThrow(/^[“A].+\.$/)
    },
  )

  test('any text gives a number or a RangeError', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'0123456789.+-*/^%() x') }), (text) => {
        try {
          expect(Number.isFinite(calculate(text))).toBe(true)
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError)
        }
      }),
    )
  })
})

describe('findArithmetic', () => {
  test.each([
    ['What is 12 * (3 + 4)?', '12 * (3 + 4)', 84],
    ['what is 12 times 7', '12 * 7', 84],
    ['17 % of 240, please', '17 / 100 * 240', 40.8],
    ['how much is 1,200 divided by 4.', '1200 / 4', 300],
    ['9 squared', '9 ^ 2', 81],
    ['Compute -(2+3)*4 and tell me about 2 cats', '-(2+3)*4', -20],
  ])('%s', (text, expression, value) => {
    expect(findArithmetic(text)?.expression).toBe(expression)
    expect(calculate(expression)).toBe(value)
  })

  test.each(['hello', 'I have 3 cats', 'in 1999 - or so', 'chapter 2.'])('finds none in “%s”', (text) => {
    expect(findArithmetic(text)).toBeUndefined()
  })
})
