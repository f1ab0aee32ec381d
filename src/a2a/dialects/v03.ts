import type { Dialect, Operation } from './dialect.ts'
import { readPush, readSend, readSetPush, readTask } from './v03-read.ts'
import { writeItem, writePush, writeSent, writeTask } from './v03-write.ts'

const METHODS: ReadonlyMap<string, Operation> = new Map([
  ['message/send', 'send'],
  ['message/stream', 'stream'],
  ['tasks/get', 'getTask'],
  ['tasks/cancel', 'cancelTask'],
  ['tasks/resubscribe', 'subscribe'],
  ['tasks/pushNotificationConfig/set', 'setPush'],
  ['tasks/pushNotificationConfig/get', 'getPush'],
  ['tasks/pushNotificationConfig/list', 'listPush'],
  ['tasks/pushNotificationConfig/delete', 'deletePush'],
  ['agent/getAuthenticatedExtendedCard', 'extendedCard'],
])

/** A2A v0.3.0 over JSON-RPC. Source: its specification, §6 and §7. */
export const v03: Dialect = {
  version: '0.3',
  methods: METHODS,
  readSend,
  readTask,
  readSetPush,
  readPush,
  writeSent,
  writeTask,
  writeItem,
  writePush,
  writePushList: (pushes) => pushes.map(writePush),
  // The specification fixes no body; its example and the official SDK send the task.
  writeNotification: (_item, task) => ({ body: writeTask(task), contentType: 'application/json' }),
}
