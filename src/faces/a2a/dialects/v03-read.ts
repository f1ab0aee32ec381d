import * as z from 'zod/mini'
import { isRecord } from '../../../messages/record.ts'
import { parse, type Read } from '../../kit/parse.ts'
import { anything, list, map, nonEmpty, object, parseWithin, record, refuse } from '../../kit/schema.ts'
import type { A2AMessage, Part, PushConfig, PushConfigRequest, SendRequest, TaskRequest } from '../model.ts'
import { base64, historyLength, historyScope, readParams, strings, text, uri } from './fields.ts'

const metadata = z.optional(record)

const file = object({ bytes: z.optional(base64), uri: z.optional(uri), name: text, mimeType: text })

const anyPart = object({ kind: z.string(), text: anything, data: anything, file: anything, metadata })

const part = map(anyPart, ({ kind, metadata, ...given }, payload): Part => {
  if (kind === 'text') return { kind, text: parseWithin(payload, z.string(), given.text, 'text'), metadata }
  if (kind === 'data')
    return isRecord(given.data)
      ? { kind, data: parse(record, given.data), metadata }
      : refuseKind(payload, 'an object', 'data')
  if (kind !== 'file') return refuseKind(payload, 'one of text, file, data', 'kind')
  const { bytes, uri, name, mimeType: mediaType } = parseWithin(payload, file, given.file, 'file')
  if (bytes !== undefined && uri === undefined) return { kind: 'bytes', bytes, name, mediaType, metadata }
  if (uri !== undefined && bytes === undefined) return { kind: 'uri', uri, name, mediaType, metadata }
  return refuse(payload, 'either bytes or uri', 'file')
})

/** Rejects a part of a kind that this dialect does not have, which has its own error. */
function refuseKind({ issues, value }: z.core.ParsePayload, message: string, field: string): never {
  issues.push({ code: 'custom', input: value, message, path: [field], params: { unsupported: true } })
  return z.NEVER
}

/** The id may be empty or missing, as in old LangGraph samples. */
const anyMessage = object({
  kind: z.optional(z.enum(['message'])),
  messageId: z.optional(z.string()),
  role: z.enum(['user', 'agent']),
  parts: list(part, 1),
  contextId: text,
  taskId: text,
  referenceTaskIds: strings,
  extensions: strings,
  metadata,
  command: metadata,
})

const pushConfig = object({
  id: text,
  url: nonEmpty,
  token: text,
  authentication: z.optional(object({ schemes: z.array(z.string()), credentials: text })),
})

const send = object({
  message: anyMessage,
  messageId: z.optional(z.string()),
  configuration: z.optional(
    object({
      acceptedOutputModes: strings,
      blocking: z.optional(z.boolean()),
      historyLength,
      historyScope,
      pushNotificationConfig: z.optional(pushConfig),
    }),
  ),
  metadata,
})

export const readSend = (params: unknown): SendRequest => readParams(sendRequest, params)

const sendRequest = map(
  send,
  ({ message, messageId, configuration, metadata }, payload): SendRequest => ({
    message: withId(message, messageId) ?? refuse(payload, 'a string', 'message', 'messageId'),
    acceptedOutputModes: configuration?.acceptedOutputModes,
    blocking: configuration?.blocking !== false,
    historyLength: configuration?.historyLength,
    historyScope: configuration?.historyScope,
    push: configuration?.pushNotificationConfig,
    metadata,
  }),
)

/**
 * Old LangGraph samples send the id next to the message, and may send an empty one. Undefined if there is
 * none.
 */
function withId(
  { kind: _, ...message }: Read<typeof anyMessage>,
  beside: string | undefined,
): A2AMessage | undefined {
  const messageId = message.messageId || beside
  if (messageId) return { ...message, messageId }
  const isMissing = messageId === undefined && message.messageId === undefined
  return isMissing ? undefined : { ...message, messageId: crypto.randomUUID() }
}

const task = object({
  id: nonEmpty,
  contextId: text,
  historyLength,
  historyScope,
  metadata,
})

export const readTask = (params: unknown): TaskRequest => readParams(task, params)

const setPush = object({ taskId: nonEmpty, pushNotificationConfig: pushConfig })

export function readSetPush(params: unknown): { taskId: string; config: PushConfig } {
  const { taskId, pushNotificationConfig: config } = readParams(setPush, params)
  return { taskId, config }
}

const somePush = object({ id: nonEmpty, pushNotificationConfigId: text })
const onePush = object({ id: nonEmpty, pushNotificationConfigId: nonEmpty })

export function readPush(params: unknown, operation: string): PushConfigRequest {
  const { id: taskId, pushNotificationConfigId: configId } =
    operation === 'deletePush' ? readParams(onePush, params) : readParams(somePush, params)
  return { taskId, configId }
}
