import * as z from 'zod/mini'
import { InvalidValue, parse, type Read, type Schema } from '../../kit/parse.ts'
import { anything, map, nonEmpty, object, parseWithin, record, refuse } from '../../kit/schema.ts'
import { base64, text } from '../dialects/fields.ts'
import { ROLES, STATES, wireRole, wireState } from '../dialects/write.ts'
import type { Part, StreamItem, Task } from '../model.ts'
import { A2ARemoteError } from './remote-error.ts'

/*
 * Parses a server's responses, in either dialect: some servers answer the methods of v1.0 in the format of
 * v0.3, so parsing does not depend on the request. Unknown fields and parts of an unknown kind are ignored.
 */

/**
 * Parses the result of a send, or one event of a stream. Throws `invalid_answer` with the path of the invalid
 * value.
 */
export const readItem = (result: unknown): StreamItem => readAnswer(item, result)

/** Parses the result of a get or a cancel. */
export const readTask = (result: unknown): Task => readAnswer(task, result)

function readAnswer<S extends Schema>(schema: S, result: unknown): Read<S> {
  try {
    return parse(schema, result, 'result')
  } catch (cause) {
    if (!(cause instanceof InvalidValue)) throw cause
    const message = `The remote agent's response is not valid A2A: ${cause.message}`
    throw new A2ARemoteError('invalid_answer', message, { cause })
  }
}

const metadata = z.optional(record)

const anyPart = object({
  text: z.optional(z.string()),
  raw: z.optional(base64),
  url: z.optional(nonEmpty),
  file: z.optional(
    object({ bytes: z.optional(base64), uri: z.optional(nonEmpty), name: text, mimeType: text }),
  ),
  data: anything,
  filename: text,
  mediaType: text,
  metadata,
})

const parts = map(z.array(anyPart), (all) =>
  all.flatMap(({ text, raw, url, file, data, filename, mediaType, metadata }): readonly Part[] => {
    const about = { name: file?.name ?? filename, mediaType: file?.mimeType ?? mediaType, metadata }
    const [bytes, uri] = [raw ?? file?.bytes, url ?? file?.uri]
    if (text !== undefined) return [{ kind: 'text', text, metadata }]
    if (bytes !== undefined) return [{ kind: 'bytes', bytes, ...about }]
    if (uri !== undefined) return [{ kind: 'uri', uri, ...about }]
    return data === undefined ? [] : [{ kind: 'data', data, metadata }]
  }),
)

function word<T extends string>(words: readonly T[], wire: (word: T) => string) {
  return map(
    anything,
    (value, payload) =>
      words.find((one) => value === one || value === wire(one)) ??
      refuse(payload, `one of ${words.join(', ')}`),
  )
}

const role = word(ROLES, wireRole)
const state = word(STATES, wireState)

const message = object({
  messageId: map(text, (id) => id ?? ''),
  role,
  parts,
  contextId: text,
  taskId: text,
  metadata,
})

const status = object({
  state,
  message: z.optional(message),
  timestamp: map(text, (at) => at ?? ''),
})

const artifact = object({ artifactId: nonEmpty, name: text, parts, metadata })

const contextId = map(text, (id) => id ?? '')

const task = object({
  id: nonEmpty,
  contextId,
  status,
  history: z.optional(z.array(message)),
  artifacts: z.optional(z.array(artifact)),
  metadata,
})

const statusUpdate = object({ taskId: nonEmpty, contextId, status, final: z.optional(z.boolean()) })
const artifactUpdate = object({
  taskId: nonEmpty,
  contextId,
  artifact,
  append: z.optional(z.boolean()),
  lastChunk: z.optional(z.boolean()),
})

const itemOfStatus = map(
  statusUpdate,
  (update): StreamItem => ({
    type: 'status',
    ...update,
    final: update.final === true,
  }),
)
const itemOfArtifact = map(
  artifactUpdate,
  (update): StreamItem => ({
    type: 'artifact',
    ...update,
    append: update.append === true,
    lastChunk: update.lastChunk === true,
  }),
)
const itemOfTask = map(task, (task): StreamItem => ({ type: 'task', task }))
const itemOfMessage = map(message, (message): StreamItem => ({ type: 'message', message }))

/** The kinds of items. v1.0 identifies them by the only field of an object, v0.3 by `kind`. */
const KINDS: readonly (readonly [name: string, kind: string, schema: Schema<StreamItem>])[] = [
  ['task', 'task', itemOfTask],
  ['message', 'message', itemOfMessage],
  ['statusUpdate', 'status-update', itemOfStatus],
  ['artifactUpdate', 'artifact-update', itemOfArtifact],
]

/** An item without its kind. */
const bare = z.union(
  KINDS.map(([, , schema]) => schema),
  'a task, a message or an update',
)

const item = map(record, (fields, payload): StreamItem => {
  for (const [name, kind, schema] of KINDS) {
    if (fields.kind === kind) return parseWithin(payload, schema, fields)
    if (fields.kind === undefined && fields[name] != null)
      return parseWithin(payload, schema, fields[name], name)
  }
  return parseWithin(payload, bare, fields)
})
