import { lazy } from '../../../core/lazy.ts'
import type { Dialect, Operation } from './dialect.ts'
import { writePush, writeV1 } from './v1-write.ts'

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
