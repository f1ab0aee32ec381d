import { expect, test } from 'vitest'
import { parseJson } from '../../../src/control-plane/api/parse-json.ts'
import { InvalidRequest } from '../../../src/control-plane/errors.ts'

/** What the JSON parser of Python 3.11 says, and at which character. */
const FAULTS: readonly (readonly [text: string, at: number, error: string])[] = [
  ['{', 1, 'Expecting property name enclosed in double quotes'],
  ['[', 1, 'Expecting value'],
  ['{"a"', 4, "Expecting ':' delimiter"],
  ['{"a":', 5, 'Expecting value'],
  ['{"a":1', 6, "Expecting ',' delimiter"],
  ['{"a":1,', 7, 'Expecting property name enclosed in double quotes'],
  ['{"a":1,}', 7, 'Expecting property name enclosed in double quotes'],
  ['[1,', 3, 'Expecting value'],
  ['[1,]', 3, 'Expecting value'],
  ['[1 2]', 3, "Expecting ',' delimiter"],
  ['{a:1}', 1, 'Expecting property name enclosed in double quotes'],
  ['{"a" 1}', 5, "Expecting ':' delimiter"],
  ['"abc', 0, 'Unterminated string starting at'],
  ['"a\nb"', 2, 'Invalid control character at'],
  ['"\\x"', 1, 'Invalid \\escape'],
  ['"\\u12"', 2, 'Invalid \\uXXXX escape'],
  ['"\\u12G4"', 2, 'Invalid \\uXXXX escape'],
  ['"\\', 0, 'Unterminated string starting at'],
  ['nul', 0, 'Expecting value'],
  ['tru', 0, 'Expecting value'],
  ['1 2', 2, 'Extra data'],
  ['01', 1, 'Extra data'],
  ['-', 0, 'Expecting value'],
  ['1.', 1, 'Extra data'],
  ['.5', 0, 'Expecting value'],
  ['+1', 0, 'Expecting value'],
  [' ', 1, 'Expecting value'],
  ['{} x', 3, 'Extra data'],
  ['[}', 1, 'Expecting value'],
  ['{"a":1 "b":2}', 7, "Expecting ',' delimiter"],
  ['😀', 0, 'Expecting value'],
  ['["😀" x]', 5, "Expecting ',' delimiter"],
  ["{'a':1}", 1, 'Expecting property name enclosed in double quotes'],
  ['[1e]', 2, "Expecting ',' delimiter"],
  ['{"a":1}}', 7, 'Extra data'],
  ['{"a":"b" : 3}', 9, "Expecting ',' delimiter"],
  ['[,]', 1, 'Expecting value'],
  ['{,}', 1, 'Expecting property name enclosed in double quotes'],
  ['{1:2}', 1, 'Expecting property name enclosed in double quotes'],
  ['[tru]', 1, 'Expecting value'],
  ['[nulll]', 5, "Expecting ',' delimiter"],
  ['"\\u123"', 2, 'Invalid \\uXXXX escape'],
]

test.each(FAULTS)('%j is refused at character %i: %s', (text, at, error) => {
  expect(problemsOf(text)).toEqual([
    { type: 'json_invalid', loc: ['body', at], msg: 'JSON decode error', input: {}, ctx: { error } },
  ])
})

test('JSON that is whole is read as it is', () => {
  expect(parseJson(' {"a":[1,"x",null,{"b":{}}]} ')).toEqual({ a: [1, 'x', null, { b: {} }] })
})

test('every prefix of a text is refused, at a place within it', () => {
  const text = '{"a":[1,-2.5e3,"x\\u00e9",null,{"b":{},"c":[]}]}'
  for (let length = 1; length < text.length; length++) {
    const [problem] = problemsOf(text.slice(0, length)) ?? []
    expect(problem?.loc[1]).toBeLessThanOrEqual(length)
  }
})

test('a huge text is refused soon', () => {
  const before = process.cpuUsage()
  expect(problemsOf(`[${'1,'.repeat(1_000_000)}x]`)?.[0]?.loc).toEqual(['body', 2_000_001])
  expect(problemsOf(`"${'x'.repeat(4_000_000)}`)?.[0]?.loc).toEqual(['body', 0])
  const { user, system } = process.cpuUsage(before)
  expect((user + system) / 1_000).toBeLessThan(2_000)
})

function problemsOf(text: string) {
  try {
    parseJson(text)
  } catch (error) {
    if (error instanceof InvalidRequest) return error.problems
    throw error
  }
}
