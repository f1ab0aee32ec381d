import { lazy } from '../../../core/lazy.ts'
import { isRecord } from '../../../messages/record.ts'
import type { Part, TaskPushConfig } from '../model.ts'
import type { Dialect, Operation } from './dialect.ts'
import { writerOf } from './write.ts'

function writePart(part: Part): unknown {
  const { kind, metadata } = part
  if (kind === 'text') return { kind, text: part.text, metadata }
  if (kind === 'data') return { kind, data: asObject(part.data), metadata }
  const content = kind === 'bytes' ? { bytes: part.bytes } : { uri: part.uri }
  return { kind: 'file', file: { ...content, name: part.name, mimeType: part.mediaType }, metadata }
}

/** Only v1.0 allows values other than objects. */
const asObject = (data: unknown): unknown => (isRecord(data) ? data : { value: data })

const writeV03 = writerOf('0.3', writePart)

const writePush = ({ taskId, config }: TaskPushConfig) => {
  const { id, url, token, authentication } = config
  return { taskId, pushNotificationConfig: { id, url, token, authentication } }
}

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
