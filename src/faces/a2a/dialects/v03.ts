import { lazy } from '../../../core/lazy.ts'
import type { Dialect, Operation } from './dialect.ts'
import { writePush, writeV03 } from './v03-write.ts'

const readers = /* @__PURE__ */ lazy(() => import('./v03-read.ts'))

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

const own: Omit<Dialect, keyof typeof writeV03> = {
  version: '0.3',
  methods: METHODS,
  readers,
  writePush,
  writePushList: (pushes) => pushes.map(writePush),
  // The specification defines no body; its example and the official SDK send the task.
  writeNotification: (_item, task) => ({ body: writeV03.writeTask(task), contentType: 'application/json' }),
}

/** A2A v0.3.0 over JSON-RPC. Source: its specification, §6 and §7. */
// Bundlers drop an unused assignment, but keep an unused spread.
export const v03: Dialect = /* @__PURE__ */ Object.assign(own, writeV03)
