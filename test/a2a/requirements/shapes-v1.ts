import { z } from 'zod'

/** The objects of A2A v1.0 as JSON. Nothing else may be in them. Source: the specification, §4 and its a2a.proto. */

const STATES = [
  'SUBMITTED',
  'WORKING',
  'COMPLETED',
  'FAILED',
  'CANCELED',
  'INPUT_REQUIRED',
  'REJECTED',
  'AUTH_REQUIRED',
] as const

const id = z.string().min(1)
const struct = z.record(z.string(), z.unknown())
const extensions = z.array(z.string()).optional()

const part = z
  .strictObject({
    text: z.string().optional(),
    raw: z.base64().optional(),
    url: z.string().optional(),
    data: z.unknown(),
    metadata: struct.optional(),
    filename: z.string().optional(),
    mediaType: z.string().optional(),
  })
  .partial({ data: true })
  .refine((value) => ['text', 'raw', 'url', 'data'].filter((key) => key in value).length === 1, {
    message: 'A part has exactly one content.',
  })

const message = z.strictObject({
  messageId: id,
  contextId: id.optional(),
  taskId: id.optional(),
  role: z.enum(['ROLE_USER', 'ROLE_AGENT']),
  parts: z.array(part).min(1),
  metadata: struct.optional(),
  extensions,
  referenceTaskIds: z.array(id).optional(),
})

const status = z.strictObject({
  state: z.enum(STATES.map((state) => `TASK_STATE_${state}` as const)),
  message: message.optional(),
  timestamp: z.iso.datetime({ precision: 3 }).optional(),
})

const artifact = z.strictObject({
  artifactId: id,
  name: z.string().optional(),
  description: z.string().optional(),
  parts: z.array(part).min(1),
  metadata: struct.optional(),
  extensions,
})

export const task = z.strictObject({
  id,
  contextId: id,
  status,
  artifacts: z.array(artifact).optional(),
  history: z.array(message).optional(),
  metadata: struct.optional(),
})

export const sent = z.union([z.strictObject({ task }), z.strictObject({ message })])

const update = { taskId: id, contextId: id, metadata: struct.optional() }

export const streamed = z.union([
  z.strictObject({ task }),
  z.strictObject({ message }),
  z.strictObject({ statusUpdate: z.strictObject({ ...update, status }) }),
  z.strictObject({
    artifactUpdate: z.strictObject({
      ...update,
      artifact,
      append: z.boolean().optional(),
      lastChunk: z.boolean().optional(),
    }),
  }),
])

export const taskList = z.strictObject({
  tasks: z.array(task),
  nextPageToken: z.string(),
  pageSize: z.int(),
  totalSize: z.int(),
})

export const error = z.strictObject({
  code: z.int(),
  message: z.string().min(1),
  data: z.array(z.looseObject({ '@type': z.string() })).optional(),
})

const envelope = { jsonrpc: z.literal('2.0'), id: z.union([z.string(), z.number(), z.null()]) }

export const answer = z.union([
  z.strictObject({ ...envelope, result: z.unknown() }),
  z.strictObject({ ...envelope, error }),
])

export const card = z.looseObject({
  name: id,
  description: id,
  version: id,
  supportedInterfaces: z
    .array(
      z.strictObject({
        url: z.url(),
        protocolBinding: id,
        protocolVersion: z.string().regex(/^\d+\.\d+$/),
        tenant: z.string().optional(),
      }),
    )
    .min(1),
  provider: z.strictObject({ organization: id, url: z.url() }).optional(),
  documentationUrl: z.url().optional(),
  iconUrl: z.url().optional(),
  capabilities: z.strictObject({
    streaming: z.boolean().optional(),
    pushNotifications: z.boolean().optional(),
    extendedAgentCard: z.boolean().optional(),
    extensions: z.array(z.looseObject({ uri: id })).optional(),
  }),
  securitySchemes: struct.optional(),
  securityRequirements: z.array(struct).optional(),
  defaultInputModes: z.array(id).min(1),
  defaultOutputModes: z.array(id).min(1),
  skills: z
    .array(
      z.strictObject({
        id,
        name: id,
        description: id,
        tags: z.array(id).min(1),
        examples: z.array(id).optional(),
        inputModes: z.array(id).optional(),
        outputModes: z.array(id).optional(),
        securityRequirements: z.array(struct).optional(),
      }),
    )
    .min(1),
  signatures: z.array(struct).optional(),
})
