import {
  boolean,
  list,
  map,
  nonEmpty,
  type ObjectOf,
  object,
  optional,
  record,
  refuse,
  type Schema,
  type Shape,
  string,
  unknown,
  whole,
} from '../../face/schema.ts'
import type {
  ListRequest,
  Part,
  PushConfig,
  PushConfigRequest,
  SendRequest,
  TaskRequest,
  TaskState,
} from '../model.ts'
import { base64, historyLength, historyScope, readParams, strings, text, uri } from './fields.ts'
import { ROLES, STATES, wireRole, wireState } from './v1-words.ts'

/** An object of ProtoJSON, whose fields may also have the names of the proto file, in snake case. */
/* @__NO_SIDE_EFFECTS__ */
function proto<S extends Shape>(shape: S): Schema<ObjectOf<S>> {
  const schema = object(shape)
  const names = Object.keys(shape).map((name) => [name, name.replace(/[A-Z]/g, '_$&').toLowerCase()] as const)
  return (value, path) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return schema(value, path)
    const given = value as Readonly<Record<string, unknown>>
    const renamed: Record<string, unknown> = {}
    for (const [name, snake] of names) renamed[name] = given[name] ?? given[snake]
    return schema(renamed, path)
  }
}

/** A number of ProtoJSON, which may stand in a string. */
/* @__NO_SIDE_EFFECTS__ */
function numeric<T>(schema: Schema<T>): Schema<T> {
  return (value, path) =>
    schema(typeof value === 'string' && PROTO_NUMBER.test(value) ? Number(value) : value, path)
}

const PROTO_NUMBER = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i

const metadata = optional(record)

const anyPart = proto({
  text: optional(string),
  raw: optional(base64),
  url: optional(uri),
  data: unknown,
  filename: text,
  mediaType: text,
  metadata,
})

const part: Schema<Part> = (value, path = '') => {
  const { text, raw, url, data, filename: name, mediaType, metadata } = anyPart(value, path)
  const content = [text, raw, url, data ?? undefined].filter((one) => one !== undefined)
  // Null is data of its own only where nothing else is set, because clients send null for what is not set.
  if (content.length + Number(content.length === 0 && data === null) !== 1)
    return refuse(path, 'exactly one of text, raw, url, data')
  const fields = { name, mediaType, metadata }
  if (text !== undefined) return { kind: 'text', text, ...fields }
  if (raw !== undefined) return { kind: 'bytes', bytes: raw, ...fields }
  if (url !== undefined) return { kind: 'uri', uri: url, ...fields }
  const isObject = typeof data === 'object' && data !== null && !Array.isArray(data)
  return { kind: 'data', data: isObject ? record(data) : data, ...fields }
}

/** An enum by its name or number. Zero means not set. */
/* @__NO_SIDE_EFFECTS__ */
function word<const T extends string>(words: readonly T[], wire: (word: T) => string): Schema<T | undefined> {
  const byName = new Map<unknown, T>(
    words.flatMap((one, index): [unknown, T][] => [
      [wire(one), one],
      [index + 1, one],
    ]),
  )
  const names = words.map(wire).join(', ')
  const unset = new Set<unknown>([undefined, null, '', 0, wire('unspecified' as T)])
  return (value, path = '') =>
    unset.has(value) ? undefined : (byName.get(value) ?? refuse(path, `one of ${names}`))
}

const anyRole = word(ROLES, wireRole)
const state: Schema<TaskState | undefined> = word(STATES, wireState)

/** The words of v0.3 are taken too: clients of LangGraph mix them with the methods of v1.0. */
const role: Schema<'user' | 'agent'> = (value, path = '') =>
  ROLES.find((one) => one === value) ?? anyRole(value, path) ?? refuse(path, ROLES.map(wireRole).join(' or '))

const message = proto({
  messageId: nonEmpty,
  role,
  parts: list(part, 1),
  contextId: text,
  taskId: text,
  referenceTaskIds: strings,
  extensions: strings,
  metadata,
  command: metadata,
})

const anyPushConfig = proto({
  id: text,
  taskId: text,
  url: nonEmpty,
  token: text,
  authentication: optional(proto({ scheme: nonEmpty, credentials: text })),
})

const pushConfig: Schema<{ taskId: string | undefined; config: PushConfig }> = map(
  anyPushConfig,
  ({ id, taskId, url, token, authentication }) => ({
    taskId,
    config: {
      id,
      url,
      token,
      authentication: authentication && {
        schemes: [authentication.scheme],
        credentials: authentication.credentials,
      },
    },
  }),
)

const send = proto({
  message,
  configuration: optional(
    proto({
      acceptedOutputModes: strings,
      returnImmediately: optional(boolean),
      historyLength: numeric(historyLength),
      historyScope,
      taskPushNotificationConfig: optional(pushConfig),
    }),
  ),
  metadata,
})

export function readSend(params: unknown): SendRequest {
  const { message, configuration, metadata } = readParams(send, params)
  return {
    message,
    acceptedOutputModes: configuration?.acceptedOutputModes,
    blocking: configuration?.returnImmediately !== true,
    historyLength: configuration?.historyLength,
    historyScope: configuration?.historyScope,
    push: configuration?.taskPushNotificationConfig?.config,
    metadata,
  }
}

/** The context and the metadata are not of v1.0: LangGraph's server takes a run id beside its context. */
const task: Schema<TaskRequest> = proto({
  id: nonEmpty,
  contextId: text,
  historyLength: numeric(historyLength),
  historyScope,
  metadata,
})

export const readTask = (params: unknown): TaskRequest => readParams(task, params)

const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/i

const timestamp: Schema<number> = (value, path = '') => {
  const at = typeof value === 'string' && RFC_3339.test(value) ? Date.parse(value) : Number.NaN
  return Number.isNaN(at) ? refuse(path, 'a time such as 2026-03-12T09:30:00.000Z') : at
}

const tasks = proto({
  contextId: text,
  status: state,
  pageSize: numeric(optional(whole(1, 100))),
  pageToken: text,
  historyLength: numeric(historyLength),
  statusTimestampAfter: optional(timestamp),
  includeArtifacts: optional(boolean),
})

export function readList(params: unknown): ListRequest {
  const { status, pageSize, statusTimestampAfter, includeArtifacts, ...rest } = readParams(tasks, params)
  return {
    ...rest,
    state: status,
    pageSize: pageSize ?? 50,
    changedSince: statusTimestampAfter,
    includeArtifacts: includeArtifacts === true,
  }
}

export function readSetPush(params: unknown): { taskId: string; config: PushConfig } {
  return readParams(setPush, params)
}

const setPush: Schema<{ taskId: string; config: PushConfig }> = (value, path) => {
  const { taskId, config } = pushConfig(value, path)
  return { taskId: nonEmpty(taskId, `${path}.taskId`), config }
}

const allPushes = proto({ taskId: nonEmpty })
const onePush = proto({ taskId: nonEmpty, id: nonEmpty })

export function readPush(params: unknown, operation: string): PushConfigRequest {
  if (operation === 'listPush') return readParams(allPushes, params)
  const { taskId, id: configId } = readParams(onePush, params)
  return { taskId, configId }
}
