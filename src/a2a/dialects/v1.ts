import type { Dialect, Operation } from './dialect.ts'
import { readPush, readSend, readSetPush, readTask } from './v1-read.ts'
import { writeItem, writePush, writeSent, writeTask } from './v1-write.ts'

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

/** A2A v1.0 over JSON-RPC. Source: its specification, §4 and §9, and `a2a.proto` read as ProtoJSON. */
export const v1: Dialect = {
  version: '1.0',
  methods: METHODS,
  readSend,
  readTask,
  readSetPush,
  readPush,
  writeSent,
  writeTask,
  writeItem,
  writePush,
  writePushList: (pushes) => ({ configs: pushes.map(writePush) }),
  writeNotification: (item) => ({ body: writeItem(item), contentType: 'application/a2a+json' }),
}
