import {
  boolean,
  list,
  nonEmpty,
  object,
  oneOf,
  optional,
  record,
  refuse,
  type Schema,
  string,
  unknown,
} from '../../face/schema.ts'
import type { A2AMessage, Part, PushConfig, PushConfigRequest, SendRequest, TaskRequest } from '../model.ts'
import {
  base64,
  historyLength,
  historyScope,
  readParams,
  strings,
  text,
  unsupportedPart,
  uri,
} from './fields.ts'

const metadata = optional(record)

const partHead = object({ kind: string, metadata })
const textPart = object({ text: string })
const dataPart = object({ data: unknown })
const filePart = object({
  file: object({ bytes: optional(base64), uri: optional(uri), name: text, mimeType: text }),
})

const part: Schema<Part> = (value, path = '') => {
  const { kind, metadata } = partHead(value, path)
  if (kind === 'text') return { kind, text: textPart(value, path).text, metadata }
  if (kind === 'data') {
    const { data } = dataPart(value, path)
    if (data === null || typeof data !== 'object' || Array.isArray(data))
      return unsupportedPart(`${path}.data`, 'an object')
    return { kind, data: record(data), metadata }
  }
  if (kind !== 'file') return unsupportedPart(`${path}.kind`, 'one of text, file, data')
  const { bytes, uri, name, mimeType: mediaType } = filePart(value, path).file
  if ((bytes === undefined) === (uri === undefined)) return refuse(`${path}.file`, 'either bytes or uri')
  return bytes === undefined
    ? { kind: 'uri', uri: uri as string, name, mediaType, metadata }
    : { kind: 'bytes', bytes, name, mediaType, metadata }
}

/** The id may be empty or missing, as old samples of LangGraph have it. */
const anyMessage = object({
  kind: optional(oneOf('message')),
  messageId: optional(string),
  role: oneOf('user', 'agent'),
  parts: list(part, 1),
  contextId: text,
  taskId: text,
  referenceTaskIds: strings,
  extensions: strings,
  metadata,
  command: metadata,
})

const pushConfig: Schema<PushConfig> = object({
  id: text,
  url: nonEmpty,
  token: text,
  authentication: optional(object({ schemes: list(string), credentials: text })),
})

const send = object({
  message: anyMessage,
  messageId: optional(string),
  configuration: optional(
    object({
      acceptedOutputModes: strings,
      blocking: optional(boolean),
      historyLength,
      historyScope,
      pushNotificationConfig: optional(pushConfig),
    }),
  ),
  metadata,
})

export function readSend(params: unknown): SendRequest {
  return readParams(sendRequest, params)
}

const sendRequest: Schema<SendRequest> = (value, path = '') => {
  const { message, messageId, configuration, metadata } = send(value, path)
  return {
    message: withId(message, messageId, `${path}.message.messageId`),
    acceptedOutputModes: configuration?.acceptedOutputModes,
    blocking: configuration?.blocking !== false,
    historyLength: configuration?.historyLength,
    historyScope: configuration?.historyScope,
    push: configuration?.pushNotificationConfig,
    metadata,
  }
}

/** Old samples of LangGraph send the id beside the message, and may send an empty one. */
function withId(
  { kind: _, ...message }: ReturnType<typeof anyMessage>,
  beside: string | undefined,
  path: string,
): A2AMessage {
  const messageId = message.messageId || beside
  if (messageId) return { ...message, messageId }
  const isMissing = messageId === undefined && message.messageId === undefined
  return isMissing ? refuse(path, 'a string') : { ...message, messageId: crypto.randomUUID() }
}

const task: Schema<TaskRequest> = object({
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
  const schema: typeof somePush = operation === 'deletePush' ? onePush : somePush
  const { id: taskId, pushNotificationConfigId: configId } = readParams(schema, params)
  return { taskId, configId }
}
