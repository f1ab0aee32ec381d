import {
  boolean,
  either,
  InvalidValue,
  list,
  map,
  nonEmpty,
  object,
  optional,
  record,
  refuse,
  type Schema,
  string,
  unknown,
} from '../../face/schema.ts'
import { base64, text } from '../dialects/fields.ts'
import { ROLES, STATES, wireRole, wireState } from '../dialects/v1-words.ts'
import type { A2AMessage, Artifact, Part, StreamItem, Task, TaskState, TaskStatus } from '../model.ts'
import { A2ARemoteError } from './remote-error.ts'

/*
 * What a server answers, in either dialect: some answer the methods of v1.0 in words of v0.3, so what is read does not depend on
 * what was asked. Fields that are not known are ignored, as are parts of an unknown kind.
 */

/** Reads the result of a send, or one event of a stream. Throws `invalid_answer`, which names the place. */
export const readItem = (result: unknown): StreamItem => readAnswer(item, result)

/** Reads the result of a get or a cancel. */
export const readTask = (result: unknown): Task => readAnswer(task, result)

function readAnswer<T>(schema: Schema<T>, result: unknown): T {
  try {
    return schema(result, 'result')
  } catch (cause) {
    if (!(cause instanceof InvalidValue)) throw cause
    throw new A2ARemoteError('invalid_answer', `The remote agent's answer is not A2A: ${cause.message}`, {
      cause,
    })
  }
}

const metadata = optional(record)

const anyPart = object({
  text: optional(string),
  raw: optional(base64),
  url: optional(nonEmpty),
  file: optional(object({ bytes: optional(base64), uri: optional(nonEmpty), name: text, mimeType: text })),
  data: unknown,
  filename: text,
  mediaType: text,
  metadata,
})

const parts: Schema<readonly Part[]> = map(list(anyPart), (all) =>
  all.flatMap(({ text, raw, url, file, data, filename, mediaType, metadata }): readonly Part[] => {
    const about = { name: file?.name ?? filename, mediaType: file?.mimeType ?? mediaType, metadata }
    const [bytes, uri] = [raw ?? file?.bytes, url ?? file?.uri]
    if (text !== undefined) return [{ kind: 'text', text, metadata }]
    if (bytes !== undefined) return [{ kind: 'bytes', bytes, ...about }]
    if (uri !== undefined) return [{ kind: 'uri', uri, ...about }]
    return data === undefined ? [] : [{ kind: 'data', data, metadata }]
  }),
)

/* @__NO_SIDE_EFFECTS__ */
function word<T extends string>(words: readonly T[], wire: (word: T) => string): Schema<T> {
  return (value, path = '') =>
    words.find((one) => value === one || value === wire(one)) ?? refuse(path, `one of ${words.join(', ')}`)
}

const role = word(ROLES, wireRole)
const state: Schema<TaskState> = word(STATES, wireState)

const message: Schema<A2AMessage> = object({
  messageId: map(text, (id) => id ?? ''),
  role,
  parts,
  contextId: text,
  taskId: text,
  metadata,
})

const status: Schema<TaskStatus> = object({
  state,
  message: optional(message),
  timestamp: map(text, (at) => at ?? ''),
})

const artifact: Schema<Artifact> = object({ artifactId: nonEmpty, name: text, parts, metadata })

const contextId = map(text, (id) => id ?? '')

const task: Schema<Task> = object({
  id: nonEmpty,
  contextId,
  status,
  history: optional(list(message)),
  artifacts: optional(list(artifact)),
  metadata,
})

const statusUpdate = object({ taskId: nonEmpty, contextId, status, final: optional(boolean) })
const artifactUpdate = object({
  taskId: nonEmpty,
  contextId,
  artifact,
  append: optional(boolean),
  lastChunk: optional(boolean),
})

const itemOfStatus: Schema<StreamItem> = map(statusUpdate, (update) => ({
  type: 'status',
  ...update,
  final: update.final === true,
}))
const itemOfArtifact: Schema<StreamItem> = map(artifactUpdate, (update) => ({
  type: 'artifact',
  ...update,
  append: update.append === true,
  lastChunk: update.lastChunk === true,
}))
const itemOfTask: Schema<StreamItem> = map(task, (task) => ({ type: 'task', task }))
const itemOfMessage: Schema<StreamItem> = map(message, (message) => ({ type: 'message', message }))

/** What v1.0 names by the one field of an object, and v0.3 by its kind. */
const KINDS: readonly (readonly [name: string, kind: string, schema: Schema<StreamItem>])[] = [
  ['task', 'task', itemOfTask],
  ['message', 'message', itemOfMessage],
  ['statusUpdate', 'status-update', itemOfStatus],
  ['artifactUpdate', 'artifact-update', itemOfArtifact],
]

/** Without its kind. */
const bare = either('a task, a message or an update', ...KINDS.map(([, , schema]) => schema))

const item: Schema<StreamItem> = (value, path = '') => {
  const fields = record(value, path)
  for (const [name, kind, schema] of KINDS) {
    if (fields.kind === kind) return schema(fields, path)
    if (fields.kind === undefined && fields[name] != null) return schema(fields[name], `${path}.${name}`)
  }
  return bare(value, path)
}
