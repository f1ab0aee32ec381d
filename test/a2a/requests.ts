import fc from 'fast-check'
import { request, V1_MESSAGE, V03_MESSAGE } from './fake-operations.ts'

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

/** A request of any method, with some of its fields wrong. */
export const call = fc
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
export const broken = fc
  .tuple(call, fc.nat(), fc.string({ maxLength: 3 }))
  .map(([{ body, headers }, at, put]) => ({
    body: body.slice(0, at % body.length) + put + body.slice((at % body.length) + 1),
    headers,
  }))
