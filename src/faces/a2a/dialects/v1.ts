import { lazy } from '../../../core/lazy.ts'
import type { Part, TaskList, TaskPushConfig } from '../model.ts'
import type { Dialect, Operation } from './dialect.ts'
import { writerOf } from './write.ts'

/** The field of a part's content, by kind. In the model, the field has the name of the kind. */
const CONTENT = { text: 'text', bytes: 'raw', uri: 'url', data: 'data' } as const

const writePart = (part: Part) => ({
  [CONTENT[part.kind]]: (part as unknown as Readonly<Record<string, unknown>>)[part.kind],
  filename: part.name,
  mediaType: part.mediaType,
  metadata: part.metadata,
})

const writeV1 = writerOf('1.0', writePart)

export const writeList = (list: TaskList) => ({ ...list, tasks: list.tasks.map(writeV1.writeTask) })

const writePush = ({ taskId, config: { id, url, token, authentication } }: TaskPushConfig) => ({
  id,
  taskId,
  url,
  token,
  authentication: authentication?.schemes.length
    ? { scheme: authentication.schemes[0], credentials: authentication.credentials }
    : undefined,
})

const readers = /* @__PURE__ */ lazy(() => import('./v1-read.ts'))

const METHODS: ReadonlyMap<string, Operation> = new Map([
  ['SendMessage', 'send'],
  ['SendStreamingMessage', 'stream'],
  ['GetTask', 'getTask'],
  ['ListTasks', 'listTasks'],
  ['CancelTask', 'cancelTask'],
  ['SubscribeToTask', 'subscribe'],
  ['CreateTaskPushNotificationConfig', 'setPush'],
  ['GetTaskPushNotificationConfig', 'getPush'],
  ['ListTaskPushNotificationConfigs', 'listPush'],
  ['DeleteTaskPushNotificationConfig', 'deletePush'],
  ['GetExtendedAgentCard', 'extendedCard'],
])

const own: Omit<Dialect, keyof typeof writeV1> = {
  version: '1.0',
  methods: METHODS,
  readers,
  writePush,
  writePushList: (pushes) => ({ configs: pushes.map(writePush) }),
  writeNotification: (item) => ({ body: writeV1.writeItem(item), contentType: 'application/a2a+json' }),
}

/** A2A v1.0 over JSON-RPC. Source: its specification, §4 and §9, and `a2a.proto` read as ProtoJSON. */
// Bundlers drop an unused assignment, but keep an unused spread.
export const v1: Dialect = /* @__PURE__ */ Object.assign(own, writeV1)
