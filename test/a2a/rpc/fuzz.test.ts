import fc from 'fast-check'
import { expect, test } from 'vitest'
import { A2A_ERROR_CODES } from '../../../src/faces/a2a/errors.ts'
import { runs } from '../../kit/runs.ts'
import { eventsOf, serve } from '../fake-operations.ts'
import { broken, call } from '../requests.ts'

const CODES: ReadonlySet<number> = new Set(Object.values(A2A_ERROR_CODES))

test('any request is answered by JSON-RPC, and never with a failure of the server', async () => {
  let accepted = 0
  await fc.assert(
    fc.asyncProperty(
      fc.oneof({ weight: 4, arbitrary: call }, { weight: 1, arbitrary: broken }),
      async ({ body, headers }) => {
        const { post, reported } = serve()
        const { status, text, body: answer } = await post(body, { headers })
        expect(status).toBe(200)
        expect(reported).toEqual([])
        const answers = answer === undefined ? eventsOf(text).map(({ data }) => data) : [answer]
        expect(answers.length).toBeGreaterThan(0)
        for (const one of answers) {
          expect(one).toMatchObject({ jsonrpc: '2.0' })
          expect('id' in one && 'result' in one !== 'error' in one).toBe(true)
          if ('result' in one) accepted++
          else {
            expect(CODES.has(one.error.code) && one.error.code !== A2A_ERROR_CODES.internal_error).toBe(true)
            expect(one.error.message).toMatch(/\.$/)
            expect(one.error.message).not.toMatch(/\bat .*:\d+:\d+|node_modules/)
          }
        }
      },
    ),
    { numRuns: runs(2_000) },
  )
  expect(accepted).toBeGreaterThan(25)
})

const SIZE = 4_000_000
const many = (text: string, joint = ',', most = Number.POSITIVE_INFINITY) =>
  new Array(Math.min(most, Math.floor(SIZE / (text.length + 1)))).fill(text).join(joint)
/** As many as a body may have values. */
const most = (text: string) => many(text, ',', 100_000)
const message = (parts: string, more = '') =>
  `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[${parts}]${more}}}}`

test.each([
  ['many parts', message(most('{"text":""}')), true],
  ['many parts, the last of which is wrong', message(`${most('{"text":""}')},{}`), false],
  ['many ids', message('{"text":"x"}', `,"referenceTaskIds":[${most('"r"')}]`), true],
  ['many keys', message('{"text":"x"}', `,"metadata":{${most('"__proto__":1')}}`), true],
  ['many unknown fields', message('{"text":"x"}', `,${most('"a_b":1')}`), true],
  ['a long text of line ends', message(`{"text":"${many('\\r\\n\\u2028', '')}"}`), true],
  ['a long method', `{"jsonrpc":"2.0","id":1,"method":"${many('x', '')}"}`, false],
  ['a long id', `{"jsonrpc":"2.0","id":"${many('x', '')}","method":"GetTask"}`, false],
  ['a long enum', message('{"text":"x"}').replace('ROLE_USER', many('ROLE_', '')), false],
  ['padding only', message(`{"raw":"${'='.repeat(SIZE - 1_000)}"}`), false],
  ['many brackets', '['.repeat(SIZE), false],
  [
    'many digits',
    `{"jsonrpc":"2.0","id":${'9'.repeat(300)},"method":"x","params":${'9'.repeat(SIZE - 1_000)}}`,
    false,
  ],
])('%s: little time', async (_, body, isRight) => {
  const { post } = serve()
  const before = process.cpuUsage()
  const { body: answer, text } = await post(body)
  const { user, system } = process.cpuUsage(before)
  expect('result' in answer).toBe(isRight)
  expect(text.length).toBeLessThan(2_000)
  // Quadratic work would take minutes. A machine with more work than cores takes several times as long for the same.
  expect((user + system) / 1_000).toBeLessThan(10_000)
})
