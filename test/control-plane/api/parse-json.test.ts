import { expect, test } from 'vitest'
import { parseJson } from '../../../src/control-plane/api/create-api.ts'
import { InvalidRequest } from '../../../src/control-plane/errors.ts'

test('what is no JSON is refused without a word of it', () => {
  const text = '{"secrets":[{"name":"A","value":"hush-hush"}'
  for (const given of [text, `${text}]`, `${text}]}x`, 'hush-hush', '', `[${'1,'.repeat(1_000_000)}x]`]) {
    expect(problemsOf(given)).toEqual([
      {
        type: 'json_invalid',
        loc: ['body'],
        msg: 'JSON decode error',
        input: {},
        ctx: { error: 'The body is not JSON' },
      },
    ])
  }
})

test('JSON that is whole is read as it is', () => {
  expect(parseJson(' {"a":[1,"x",null,{"b":{}}]} ')).toEqual({ a: [1, 'x', null, { b: {} }] })
})

function problemsOf(text: string) {
  try {
    parseJson(text)
  } catch (error) {
    if (error instanceof InvalidRequest) return error.problems
    throw error
  }
}
