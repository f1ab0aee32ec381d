import fc from 'fast-check'
import { expect, test } from 'vitest'
import { A2A_ERROR_CODES } from '../../src/a2a/errors.ts'
import { eventsOf, request, serve, V1_MESSAGE, V03_MESSAGE } from './fake-operations.ts'

const PARTS = [
  {
    text: 'x',
    raw: 'AA==',
    url: 'https://example.com',
    data: { a: 1 },
    filename: 'f',
    mediaType: 't/t',
    metadata: {},
  },
  { kind: 'text', text: 'x', metadata: {} },
  { kind: 'file', file: { bytes: 'AA==', uri: 'x', name: 'f', mimeType: 't/t' } },
  { kind: 'data', data: { a: [1] } },
]
const FIELDS = {
  contextId: 'c',
  taskId: 't',
  referenceTaskIds: ['r'],
  extensions: ['e'],
  metadata: { a: 1 },
  command: { resume: 1 },
}
const PUSH = {
  id: 'p',
  taskId: 't',
  url: 'https://example.com',
  token: 'k',
  authentication: { scheme: 'Bearer', schemes: ['Bearer'], credentials: 's' },
}
const CONFIGURATION = {
  acceptedOutputModes: ['text/plain'],
  historyLength: 1,
  blocking: true,
  returnImmediately: true,
  pushNotificationConfig: PUSH,
  taskPushNotificationConfig: PUSH,
}
const send = (message: object) => ({
  message: { ...message, parts: PARTS, ...FIELDS },
  configuration: CONFIGURATION,
  metadata: { a: 1 },
})
const TASK = { id: 't1', contextId: 'c', historyLength: 3, metadata: {} }
const FILTERS = { ...TASK, status: 'TASK_STATE_WORKING', pageSize: 3, pageToken: 'p', includeArtifacts: true }
const PARAMS: Readonly<Record<string, unknown>> = {
  'message/send': send(V03_MESSAGE),
  'message/stream': send(V03_MESSAGE),
  'tasks/get': TASK,
  'tasks/cancel': TASK,
  'tasks/resubscribe': TASK,
  'tasks/pushNotificationConfig/set': { taskId: 't', pushNotificationConfig: PUSH },
  'tasks/pushNotificationConfig/get': { id: 't', pushNotificationConfigId: 'p' },
  'tasks/pushNotificationConfig/list': { id: 't' },
  'tasks/pushNotificationConfig/delete': { id: 't', pushNotificationConfigId: 'p' },
  'agent/getAuthenticatedExtendedCard': {},
  SendMessage: send(V1_MESSAGE),
  SendStreamingMessage: send(V1_MESSAGE),
  GetTask: TASK,
  ListTasks: { ...FILTERS, statusTimestampAfter: '2026-01-01T00:00:00Z' },
  CancelTask: TASK,
  SubscribeToTask: TASK,
  CreateTaskPushNotificationConfig: PUSH,
  GetTaskPushNotificationConfig: PUSH,
  ListTaskPushNotificationConfigs: PUSH,
  DeleteTaskPushNotificationConfig: PUSH,
  GetExtendedAgentCard: {},
}

const weird = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom<unknown>(
    null,
    true,
    0,
    -1,
    1.5,
    1e308,
    '',
    '=',
    'x'.repeat(300),
    [],
    {},
    '__proto__',
    '\u0000\r\n\u2028',
    '\ud800',
  ),
)

/** A template with some of its values replaced, removed, spelled in snake case or extended. */
const spoilt = (template: unknown): fc.Arbitrary<unknown> => {
  if (Array.isArray(template))
    return fc.oneof(
      { weight: 8, arbitrary: fc.subarray(template).chain((some) => fc.tuple(...some.map(spoilt))) },
      { weight: 1, arbitrary: weird },
    )
  if (typeof template !== 'object' || template === null)
    return fc.oneof({ weight: 12, arbitrary: fc.constant(template) }, { weight: 1, arbitrary: weird })
  const fields = Object.fromEntries(Object.entries(template).map(([key, value]) => [key, spoilt(value)]))
  const added = fc.dictionary(fc.constantFrom('__proto__', 'constructor', 'toString', 'kind'), weird, {
    maxKeys: 1,
  })
  const inSnakeCase = (own: object, spell: boolean) =>
    Object.fromEntries(
      Object.entries(own).map(([key, value]) => [
        spell ? key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) : key,
        value,
      ]),
    )
  const whole = fc
    .tuple(fc.record(fields, { requiredKeys: [] }), added, fc.boolean())
    .map(([own, more, spell]) => ({ ...inSnakeCase(own, spell), ...more }))
  return fc.oneof({ weight: 12, arbitrary: whole }, { weight: 1, arbitrary: weird })
}

const call = fc
  .constantFrom(...Object.keys(PARAMS))
  .chain((method) =>
    fc.tuple(
      fc.oneof({ weight: 9, arbitrary: fc.constant(method) }, { weight: 1, arbitrary: weird }),
      spoilt(PARAMS[method]),
      fc.oneof(
        { weight: 6, arbitrary: fc.constantFrom<unknown>(1, 0, '', 'x', null) },
        { weight: 1, arbitrary: weird },
      ),
      fc.constantFrom(undefined, '0.3', '1.0', '9'),
      fc.constantFrom('application/json', 'text/event-stream'),
    ),
  )
  .map(([method, params, id, version, accept]) => ({
    body: JSON.stringify(request(method as string, params, id)),
    headers: { accept, ...(version !== undefined && { 'a2a-version': version }) },
  }))

/** JSON with some of its characters lost, doubled or replaced. */
const broken = fc.tuple(call, fc.nat(), fc.string({ maxLength: 3 })).map(([{ body, headers }, at, put]) => ({
  body: body.slice(0, at % body.length) + put + body.slice((at % body.length) + 1),
  headers,
}))

const CODES: ReadonlySet<number> = new Set(Object.values(A2A_ERROR_CODES))

test('any request is answered by JSON-RPC, and never with a failure of the server', async () => {
  let accepted = 0
  await fc.assert(
    fc.asyncProperty(
      fc.oneof({ weight: 4, arbitrary: call }, { weight: 1, arbitrary: broken }),
      async ({ body, headers }) => {
        const { post, reported } = serve()
        const { status, text, body: answer } = await post(body, { headers })
        expect([200, 204]).toContain(status)
        expect(reported).toEqual([])
        if (status === 204) return
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
    { numRuns: 2_000 },
  )
  expect(accepted).toBeGreaterThan(100)
}, 60_000)

const SIZE = 4_000_000
const many = (text: string, joint = ',') =>
  new Array(Math.floor(SIZE / (text.length + 1))).fill(text).join(joint)
const message = (parts: string, more = '') =>
  `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[${parts}]${more}}}}`

test.each([
  ['many parts', message(many('{"text":""}')), true],
  ['many parts, the last of which is wrong', message(`${many('{"text":""}')},{}`), false],
  ['many ids', message('{"text":"x"}', `,"referenceTaskIds":[${many('"r"')}]`), true],
  ['many keys', message('{"text":"x"}', `,"metadata":{${many('"__proto__":1')}}`), true],
  ['many unknown fields', message('{"text":"x"}', `,${many('"a_b":1')}`), true],
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
  expect((user + system) / 1_000).toBeLessThan(2_000)
})
