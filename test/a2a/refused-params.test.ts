import { describe, expect, test } from 'vitest'
import { v1 as dialectV1 } from '../../src/faces/a2a/dialects/v1.ts'
import * as v1Readers from '../../src/faces/a2a/dialects/v1-read.ts'
import { v03 as dialectV03 } from '../../src/faces/a2a/dialects/v03.ts'
import * as v03Readers from '../../src/faces/a2a/dialects/v03-read.ts'
import { A2AError } from '../../src/faces/a2a/errors.ts'

const v1 = { ...dialectV1, ...v1Readers }
const v03 = { ...dialectV03, ...v03Readers }
const { readList } = v1Readers

const thrown = (read: () => unknown): A2AError => {
  try {
    return new Error(`Was read: ${JSON.stringify(read())}`) as never
  } catch (error) {
    if (error instanceof A2AError) return error
    throw error
  }
}

type Row = [params: unknown, field: string, code?: string]

const v03Message = (changes: object) => ({
  message: {
    kind: 'message',
    messageId: 'm',
    role: 'user',
    parts: [{ kind: 'text', text: 'x' }],
    ...changes,
  },
})
const v03Part = (part: unknown) => v03Message({ parts: [{ kind: 'text', text: 'x' }, part] })
const UNSUPPORTED = 'content_type_not_supported'

const V03_SENDS: readonly Row[] = [
  [undefined, 'params'],
  [null, 'params'],
  [[], 'params'],
  ['x', 'params'],
  [{}, 'params.message'],
  [{ '': 'x' }, 'params.message'],
  [{ message: [] }, 'params.message'],
  [v03Message({ kind: 'task' }), 'params.message.kind'],
  [v03Message({ messageId: undefined }), 'params.message.messageId'],
  [v03Message({ messageId: 7 }), 'params.message.messageId'],
  [v03Message({ role: 'ROLE_USER' }), 'params.message.role'],
  [v03Message({ role: undefined }), 'params.message.role'],
  [v03Message({ parts: undefined }), 'params.message.parts'],
  [v03Message({ parts: [] }), 'params.message.parts'],
  [v03Message({ parts: 'invalid' }), 'params.message.parts'],
  [v03Message({ contextId: 7 }), 'params.message.contextId'],
  [v03Message({ taskId: {} }), 'params.message.taskId'],
  [v03Message({ referenceTaskIds: ['r', 7] }), 'params.message.referenceTaskIds[1]'],
  [v03Message({ metadata: [] }), 'params.message.metadata'],
  [v03Message({ command: 'resume' }), 'params.message.command'],
  [v03Part(null), 'params.message.parts[1]'],
  [v03Part({ text: 'x' }), 'params.message.parts[1].kind'],
  [v03Part({ kind: 'text' }), 'params.message.parts[1].text'],
  [v03Part({ kind: 'text', text: 1 }), 'params.message.parts[1].text'],
  [v03Part({ kind: 'image', url: 'x' }), 'params.message.parts[1].kind', UNSUPPORTED],
  [v03Part({ kind: '__proto__' }), 'params.message.parts[1].kind', UNSUPPORTED],
  [v03Part({ kind: 'data' }), 'params.message.parts[1].data', UNSUPPORTED],
  [v03Part({ kind: 'data', data: [1] }), 'params.message.parts[1].data', UNSUPPORTED],
  [v03Part({ kind: 'data', data: 'x' }), 'params.message.parts[1].data', UNSUPPORTED],
  [v03Part({ kind: 'data', data: null }), 'params.message.parts[1].data', UNSUPPORTED],
  [v03Part({ kind: 'file' }), 'params.message.parts[1].file'],
  [v03Part({ kind: 'file', file: {} }), 'params.message.parts[1].file'],
  [v03Part({ kind: 'file', file: { bytes: 'AA==', uri: 'x' } }), 'params.message.parts[1].file'],
  [v03Part({ kind: 'file', file: { uri: '' } }), 'params.message.parts[1].file.uri'],
  [v03Part({ kind: 'file', file: { bytes: 'A' } }), 'params.message.parts[1].file.bytes'],
  [{ ...v03Message({}), configuration: [] }, 'params.configuration'],
  [{ ...v03Message({}), configuration: { blocking: 'no' } }, 'params.configuration.blocking'],
  [{ ...v03Message({}), configuration: { historyLength: -1 } }, 'params.configuration.historyLength'],
  [{ ...v03Message({}), configuration: { historyLength: 1.5 } }, 'params.configuration.historyLength'],
  [{ ...v03Message({}), configuration: { historyLength: '1' } }, 'params.configuration.historyLength'],
  [
    { ...v03Message({}), configuration: { acceptedOutputModes: 'x' } },
    'params.configuration.acceptedOutputModes',
  ],
  [
    { ...v03Message({}), configuration: { pushNotificationConfig: {} } },
    'params.configuration.pushNotificationConfig.url',
  ],
  [
    { ...v03Message({}), configuration: { pushNotificationConfig: { url: 'x', authentication: {} } } },
    'params.configuration.pushNotificationConfig.authentication.schemes',
  ],
  [{ ...v03Message({}), metadata: 'x' }, 'params.metadata'],
]

const v1Message = (changes: object) => ({
  message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x' }], ...changes },
})
const v1Part = (part: unknown) => v1Message({ parts: [{ text: 'x' }, part] })

const V1_SENDS: readonly Row[] = [
  [undefined, 'params'],
  [[v1Message({})], 'params'],
  [{}, 'params.message'],
  [v1Message({ messageId: '' }), 'params.message.messageId'],
  [v1Message({ messageId: undefined }), 'params.message.messageId'],
  [v1Message({ role: undefined }), 'params.message.role'],
  [v1Message({ role: 'ROLE_UNSPECIFIED' }), 'params.message.role'],
  [v1Message({ role: 0 }), 'params.message.role'],
  [v1Message({ role: 3 }), 'params.message.role'],
  [v1Message({ role: 'ROLE_SYSTEM' }), 'params.message.role'],
  [v1Message({ role: '__proto__' }), 'params.message.role'],
  [v1Message({ parts: [] }), 'params.message.parts'],
  [v1Message({ parts: null }), 'params.message.parts'],
  [v1Part({}), 'params.message.parts[1]'],
  [v1Part([]), 'params.message.parts[1]'],
  [v1Part({ text: null }), 'params.message.parts[1]'],
  [v1Part({ text: 'x', data: {} }), 'params.message.parts[1]'],
  [v1Part({ raw: 'AA==', url: 'x' }), 'params.message.parts[1]'],
  [v1Part({ file: { bytes: 'AA==' } }), 'params.message.parts[1]'],
  [v1Part({ text: 7 }), 'params.message.parts[1].text'],
  [v1Part({ raw: 'AA=' }), 'params.message.parts[1].raw'],
  [v1Part({ url: {} }), 'params.message.parts[1].url'],
  [v1Part({ text: 'x', mediaType: 7 }), 'params.message.parts[1].mediaType'],
  [v1Part({ text: 'x', media_type: 7 }), 'params.message.parts[1].mediaType'],
  [{ ...v1Message({}), configuration: { returnImmediately: 1 } }, 'params.configuration.returnImmediately'],
  [{ ...v1Message({}), configuration: { historyLength: -1 } }, 'params.configuration.historyLength'],
  [{ ...v1Message({}), configuration: { history_length: 0.5 } }, 'params.configuration.historyLength'],
  [
    { ...v1Message({}), configuration: { taskPushNotificationConfig: { id: 'p' } } },
    'params.configuration.taskPushNotificationConfig.url',
  ],
  [
    { ...v1Message({}), configuration: { taskPushNotificationConfig: { url: 'x', authentication: {} } } },
    'params.configuration.taskPushNotificationConfig.authentication.scheme',
  ],
  [{ ...v1Message({}), metadata: 7 }, 'params.metadata'],
]

describe.each([
  ['v0.3', v03, V03_SENDS],
  ['v1.0', v1, V1_SENDS],
] as const)('a message of %s', (_, dialect, rows) => {
  test.each<Row>(rows)(
    'is refused by the path of what is wrong: %j',
    (params, field, code = 'invalid_params') => {
      const error = thrown(() => dialect.readSend(params))
      expect([error.code, error.details]).toEqual([code, { field }])
      expect(error.message).toMatch(new RegExp(`^${field.replace(/[.[\]]/g, '\\$&')}: expected .+\\.$`))
    },
  )
})

test.each([
  ['AA==', true],
  ['AAA=', true],
  ['AAAA', true],
  ['+/+/', true],
  ['', true],
  ['A', false],
  ['AA', false],
  ['AAA', false],
  ['AA=', false],
  ['AAAA====', false],
  ['AAAA=', false],
  ['A===', false],
  ['====', false],
  ['=AAA', false],
  ['AA=A', false],
  ['-_-_', false],
  ['AA A', false],
  ['AAA\n', false],
  ['AAA\u0141', false],
])('base64 %j is right: %j', (bytes, isRight) => {
  const reads = [
    () => v1.readSend(v1Part({ raw: bytes })),
    () => v03.readSend(v03Part({ kind: 'file', file: { bytes } })),
  ]
  for (const read of reads) {
    if (isRight) expect(read().message.parts[1]).toMatchObject({ kind: 'bytes', bytes })
    else expect(thrown(read).code).toBe('invalid_params')
  }
})

test('a file of 12 MiB is checked in little time, right or wrong in its last character', () => {
  const right = 'A'.repeat(16 * 1024 * 1024)
  const wrong = [`${right.slice(0, -1)}*`, '='.repeat(right.length), `${right.slice(0, -4)}A===`]
  const before = process.cpuUsage().user
  expect(v1.readSend(v1Part({ raw: right })).message.parts[1]).toHaveProperty('bytes', right)
  for (const raw of wrong)
    expect(thrown(() => v1.readSend(v1Part({ raw }))).details.field).toBe('params.message.parts[1].raw')
  expect((process.cpuUsage().user - before) / 1_000).toBeLessThan(2_000)
})

test.each([
  [{}, 'params.id'],
  [{ id: '' }, 'params.id'],
  [{ id: 7 }, 'params.id'],
  [{ name: 'tasks/1' }, 'params.id'],
  [{ id: 't', historyLength: -1 }, 'params.historyLength'],
  [{ id: 't', historyLength: 1.5 }, 'params.historyLength'],
  [{ id: 't', historyLength: 'all' }, 'params.historyLength'],
  [{ id: 't', contextId: 7 }, 'params.contextId'],
  [{ id: 't', metadata: 7 }, 'params.metadata'],
])('a task is refused in both dialects: %j', (params, field) => {
  for (const dialect of [v03, v1]) expect(thrown(() => dialect.readTask(params)).details).toEqual({ field })
})

test('a task may be named beside its context, and null is nothing', () => {
  const params = { id: 't', contextId: 'c', historyLength: 0, metadata: { a: 1 } }
  for (const dialect of [v03, v1]) {
    expect(dialect.readTask(params)).toEqual(params)
    expect(dialect.readTask({ id: 't', contextId: '', historyLength: null })).toEqual({ id: 't' })
  }
})

test.each([
  [{ pageSize: 0 }, 'params.pageSize'],
  [{ pageSize: 101 }, 'params.pageSize'],
  [{ pageSize: 1.5 }, 'params.pageSize'],
  [{ page_size: -1 }, 'params.pageSize'],
  [{ pageToken: 7 }, 'params.pageToken'],
  [{ status: 'working' }, 'params.status'],
  [{ status: 'TASK_STATE_UNKNOWN' }, 'params.status'],
  [{ status: 9 }, 'params.status'],
  [{ historyLength: -1 }, 'params.historyLength'],
  [{ includeArtifacts: 'yes' }, 'params.includeArtifacts'],
  [{ statusTimestampAfter: 'yesterday' }, 'params.statusTimestampAfter'],
  [{ statusTimestampAfter: '2026-13-01T00:00:00Z' }, 'params.statusTimestampAfter'],
  [{ statusTimestampAfter: '2026-01-01' }, 'params.statusTimestampAfter'],
  [{ statusTimestampAfter: '2026-01-01T00:00:00' }, 'params.statusTimestampAfter'],
  [{ statusTimestampAfter: 1_700_000_000_000 }, 'params.statusTimestampAfter'],
  [{ contextId: [] }, 'params.contextId'],
  [[], 'params'],
])('a list of tasks is refused: %j', (params, field) => {
  expect(thrown(() => readList(params)).details).toEqual({ field })
})

test('a list of tasks has its defaults, and its filters in either spelling', () => {
  const defaults = { pageSize: 50, includeArtifacts: false }
  const unset = { contextId: '', status: 'TASK_STATE_UNSPECIFIED', pageSize: null, pageToken: '' }
  for (const params of [{}, unset, { status: 0 }]) expect(readList(params)).toEqual(defaults)
  const expected = {
    contextId: 'c',
    state: 'input-required',
    pageSize: 100,
    pageToken: 'p',
    historyLength: 0,
    changedSince: Date.UTC(2026, 0, 1, 12, 0, 0, 123),
    includeArtifacts: true,
  }
  const camel = {
    contextId: 'c',
    status: 'TASK_STATE_INPUT_REQUIRED',
    pageSize: 100,
    pageToken: 'p',
    historyLength: 0,
    statusTimestampAfter: '2026-01-01T13:00:00.123456+01:00',
    includeArtifacts: true,
  }
  expect(readList(camel)).toEqual(expected)
  const snake = {
    context_id: 'c',
    status: 6,
    page_size: 100,
    page_token: 'p',
    history_length: 0,
    status_timestamp_after: '2026-01-01T12:00:00.123Z',
    include_artifacts: true,
  }
  expect(readList(snake)).toEqual(expected)
})

test('a push configuration is asked for by the ids of its task and its own', () => {
  const of03 = { id: 't', pushNotificationConfigId: 'p' }
  const of1 = { taskId: 't', id: 'p' }
  for (const operation of ['getPush', 'deletePush'] as const) {
    expect(v03.readPush(of03, operation)).toEqual({ taskId: 't', configId: 'p' })
    expect(v1.readPush(of1, operation)).toEqual({ taskId: 't', configId: 'p' })
    expect(thrown(() => v1.readPush({ taskId: 't' }, operation)).details).toEqual({ field: 'params.id' })
    expect(thrown(() => v1.readPush({ id: 'p' }, operation)).details).toEqual({ field: 'params.taskId' })
  }
  expect(v03.readPush({ id: 't' }, 'getPush')).toEqual({ taskId: 't' })
  expect(v03.readPush({ id: 't' }, 'listPush')).toEqual({ taskId: 't' })
  expect(v1.readPush({ task_id: 't' }, 'listPush')).toEqual({ taskId: 't' })
  const noId = thrown(() => v03.readPush({ id: 't' }, 'deletePush'))
  expect(noId.details).toEqual({ field: 'params.pushNotificationConfigId' })
})

test.each([
  [v03, { pushNotificationConfig: { url: 'x' } }, 'params.taskId'],
  [v03, { taskId: 't' }, 'params.pushNotificationConfig'],
  [v03, { taskId: 't', pushNotificationConfig: { url: '' } }, 'params.pushNotificationConfig.url'],
  [v1, { url: 'x' }, 'params.taskId'],
  [v1, { taskId: 't' }, 'params.url'],
  [v1, { taskId: 't', url: 'x', token: 7 }, 'params.token'],
])('a push configuration is refused: %#', (dialect, params, field) => {
  expect(thrown(() => dialect.readSetPush(params)).details).toEqual({ field })
})

test('a role of v1.0 may be a number of the enum, or a word of v0.3', () => {
  for (const [role, read] of [
    ['ROLE_AGENT', 'agent'],
    [2, 'agent'],
    ['user', 'user'],
  ])
    expect(v1.readSend(v1Message({ role })).message.role).toBe(read)
})

test('a key that would change a prototype is read nowhere', () => {
  const data = JSON.parse(
    '{"__proto__": {"polluted": 1}, "constructor": {"prototype": {"polluted": 1}}, "a": 1}',
  )
  const spoilt = { ...v1Message({ metadata: data }), metadata: data }
  const read = v1.readSend({ ...spoilt, message: { ...spoilt.message, parts: [{ data }], command: data } })
  const old = v03.readSend({ ...v03Part({ kind: 'data', data, metadata: data }), metadata: data })
  for (const found of [
    read.metadata,
    read.message.metadata,
    read.message.command,
    (read.message.parts[0] as { data: object }).data,
    old.metadata,
    (old.message.parts[1] as { data: object }).data,
    old.message.parts[1]!.metadata,
  ]) {
    expect(Object.hasOwn(found!, '__proto__')).toBe(false)
    expect(found).toHaveProperty('a', 1)
  }
  expect({}).not.toHaveProperty('polluted')
})
