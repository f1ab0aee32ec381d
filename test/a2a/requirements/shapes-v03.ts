import { z } from 'zod'

/** The objects of A2A v0.3 as JSON. Nothing else may be in them. Source: the specification, §5 to §7 and its a2a.json. */

const id = z.string().min(1)
const struct = z.record(z.string(), z.unknown())
const metadata = struct.optional()
const extensions = z.array(z.string()).optional()
const file = { name: z.string().optional(), mimeType: z.string().optional() }

const part = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('text'), text: z.string(), metadata }),
  z.strictObject({ kind: z.literal('data'), data: struct, metadata }),
  z.strictObject({
    kind: z.literal('file'),
    file: z.union([
      z.strictObject({ ...file, bytes: z.base64() }),
      z.strictObject({ ...file, uri: z.string() }),
    ]),
    metadata,
  }),
])

const message = z.strictObject({
  kind: z.literal('message'),
  messageId: id,
  contextId: id.optional(),
  taskId: id.optional(),
  role: z.enum(['user', 'agent']),
  parts: z.array(part).min(1),
  referenceTaskIds: z.array(id).optional(),
  extensions,
  metadata,
})

const status = z.strictObject({
  state: z.enum([
    'submitted',
    'working',
    'input-required',
    'completed',
    'canceled',
    'failed',
    'rejected',
    'auth-required',
    'unknown',
  ]),
  message: message.optional(),
  timestamp: z.iso.datetime().optional(),
})

const artifact = z.strictObject({
  artifactId: id,
  name: z.string().optional(),
  description: z.string().optional(),
  parts: z.array(part).min(1),
  extensions,
  metadata,
})

export const task = z.strictObject({
  kind: z.literal('task'),
  id,
  contextId: id,
  status,
  artifacts: z.array(artifact).optional(),
  history: z.array(message).optional(),
  metadata,
})

export const sent = z.discriminatedUnion('kind', [task, message])

const update = { taskId: id, contextId: id, metadata }

export const streamed = z.discriminatedUnion('kind', [
  task,
  message,
  z.strictObject({ kind: z.literal('status-update'), ...update, status, final: z.boolean() }),
  z.strictObject({
    kind: z.literal('artifact-update'),
    ...update,
    artifact,
    append: z.boolean().optional(),
    lastChunk: z.boolean().optional(),
  }),
])

const envelope = { jsonrpc: z.literal('2.0'), id: z.union([z.string(), z.number(), z.null()]) }

export const answer = z.union([
  z.strictObject({ ...envelope, result: z.unknown() }),
  z.strictObject({
    ...envelope,
    error: z
      .strictObject({ code: z.int(), message: z.string().min(1), data: z.unknown() })
      .partial({ data: true }),
  }),
])

export const card = z.looseObject({
  name: id,
  description: id,
  url: z.url(),
  version: id,
  protocolVersion: z.string().regex(/^0\.3(\.\d+)?$/),
  preferredTransport: z.literal('JSONRPC'),
  capabilities: z.looseObject({}),
  defaultInputModes: z.array(id).min(1),
  defaultOutputModes: z.array(id).min(1),
  skills: z.array(z.looseObject({ id, name: id, description: id, tags: z.array(id) })).min(1),
})
