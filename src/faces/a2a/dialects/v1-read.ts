import * as z from 'zod/mini'
import { isRecord } from '../../../messages/record.ts'
import { parse, type Schema } from '../../kit/parse.ts'
import { anything, integer, list, map, nonEmpty, object, record, refuse } from '../../kit/schema.ts'
import type { ListRequest, Part, PushConfig, PushConfigRequest, SendRequest, TaskRequest } from '../model.ts'
import { base64, historyLength, historyScope, readParams, strings, text, uri } from './fields.ts'
import { ROLES, STATES, wireRole, wireState } from './write.ts'

/** A ProtoJSON object, whose fields may also have the snake_case names of the proto file. */
function proto<Shape extends z.core.$ZodShape>(shape: Shape) {
  const names = Object.keys(shape).map((name) => [name, name.replace(/[A-Z]/g, '_$&').toLowerCase()] as const)
  return object(shape, (value) =>
    isRecord(value)
      ? Object.fromEntries(names.map(([name, snake]) => [name, value[name] ?? value[snake]]))
      : value,
  )
}

/** A ProtoJSON number, which may be in a string. */
function numeric<S extends Schema>(schema: S) {
  const numberOf = (value: unknown): unknown =>
    typeof value === 'string' && PROTO_NUMBER.test(value) ? Number(value) : value
  return z.pipe(z.transform(numberOf), schema)
}

const PROTO_NUMBER = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i

const metadata = z.optional(record)

const anyPart = proto({
  text: z.optional(z.string()),
  raw: z.optional(base64),
  url: z.optional(uri),
  data: anything,
  filename: text,
  mediaType: text,
  metadata,
})

const part = map(anyPart, ({ text, raw, url, data, filename: name, mediaType, metadata }, payload): Part => {
  const content = [text, raw, url, data ?? undefined].filter((one) => one !== undefined)
  // Null is data only if nothing else is set, because clients send null for unset values.
  if (content.length + Number(content.length === 0 && data === null) !== 1)
    return refuse(payload, 'exactly one of text, raw, url, data')
  const fields = { name, mediaType, metadata }
  if (text !== undefined) return { kind: 'text', text, ...fields }
  if (raw !== undefined) return { kind: 'bytes', bytes: raw, ...fields }
  if (url !== undefined) return { kind: 'uri', uri: url, ...fields }
  return { kind: 'data', data: isRecord(data) ? parse(record, data) : data, ...fields }
})

/** Parses an enum by its name or number. Zero means unset. */
function wordOf<const T extends string>(words: readonly T[], wire: (word: T) => string) {
  const byName = new Map<unknown, T>(
    words.flatMap((one, index): [unknown, T][] => [
      [wire(one), one],
      [index + 1, one],
    ]),
  )
  const names = words.map(wire).join(', ')
  const unset = new Set<unknown>([undefined, null, '', 0, wire('unspecified' as T)])
  return (value: unknown, payload: z.core.ParsePayload): T | undefined =>
    unset.has(value) ? undefined : (byName.get(value) ?? refuse(payload, `one of ${names}`))
}

const roleOf = wordOf(ROLES, wireRole)
const state = map(anything, wordOf(STATES, wireState))

/** The names of v0.3 are also accepted: LangGraph's clients use them with the methods of v1.0. */
const role = map(
  anything,
  (value, payload) =>
    ROLES.find((one) => one === value) ??
    roleOf(value, payload) ??
    refuse(payload, ROLES.map(wireRole).join(' or ')),
)

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
  authentication: z.optional(proto({ scheme: nonEmpty, credentials: text })),
})

const pushConfig = map(
  anyPushConfig,
  ({ id, taskId, url, token, authentication }): { taskId: string | undefined; config: PushConfig } => ({
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
  configuration: z.optional(
    proto({
      acceptedOutputModes: strings,
      returnImmediately: z.optional(z.boolean()),
      historyLength: numeric(historyLength),
      historyScope,
      taskPushNotificationConfig: z.optional(pushConfig),
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

/**
 * The context and metadata are not part of v1.0: LangGraph's server accepts a run id together with its
 * context.
 */
const task = proto({
  id: nonEmpty,
  contextId: text,
  historyLength: numeric(historyLength),
  historyScope,
  metadata,
})

export const readTask = (params: unknown): TaskRequest => readParams(task, params)

const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/i

const timestamp = map(anything, (value, payload): number => {
  const at = typeof value === 'string' && RFC_3339.test(value) ? Date.parse(value) : Number.NaN
  return Number.isNaN(at) ? refuse(payload, 'a time such as 2026-03-12T09:30:00.000Z') : at
})

const tasks = proto({
  contextId: text,
  status: state,
  pageSize: numeric(z.optional(integer(1, 100))),
  pageToken: text,
  historyLength: numeric(historyLength),
  statusTimestampAfter: z.optional(timestamp),
  includeArtifacts: z.optional(z.boolean()),
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

export const readSetPush = (params: unknown): { taskId: string; config: PushConfig } =>
  readParams(setPush, params)

const setPush = map(pushConfig, ({ taskId, config }, payload) => ({
  taskId: taskId ?? refuse(payload, 'a string that is not empty', 'taskId'),
  config,
}))

const allPushes = proto({ taskId: nonEmpty })
const onePush = proto({ taskId: nonEmpty, id: nonEmpty })

export function readPush(params: unknown, operation: string): PushConfigRequest {
  if (operation === 'listPush') return readParams(allPushes, params)
  const { taskId, id: configId } = readParams(onePush, params)
  return { taskId, configId }
}
