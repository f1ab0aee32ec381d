import type { A2AMessage, Artifact, Part, StreamItem, Task, TaskPushConfig, TaskStatus } from '../model.ts'

// Undefined fields are left out where the JSON is written.

function writePart(part: Part): unknown {
  const { metadata } = part
  switch (part.kind) {
    case 'text':
      return { kind: 'text', text: part.text, metadata }
    case 'data':
      return { kind: 'data', data: asObject(part.data), metadata }
    default: {
      const content = part.kind === 'bytes' ? { bytes: part.bytes } : { uri: part.uri }
      return { kind: 'file', file: { ...content, name: part.name, mimeType: part.mediaType }, metadata }
    }
  }
}

/** Only v1.0 allows other values than objects. */
const asObject = (data: unknown): unknown =>
  typeof data === 'object' && data !== null && !Array.isArray(data) ? data : { value: data }

export const writeMessage = (message: A2AMessage) => ({
  kind: 'message',
  messageId: message.messageId,
  role: message.role,
  parts: message.parts.map(writePart),
  contextId: message.contextId,
  taskId: message.taskId,
  referenceTaskIds: message.referenceTaskIds,
  extensions: message.extensions,
  metadata: message.metadata,
})

const writeStatus = ({ state, message, timestamp }: TaskStatus) => ({
  state,
  message: message && writeMessage(message),
  timestamp,
})

const writeArtifact = (artifact: Artifact) => ({
  artifactId: artifact.artifactId,
  name: artifact.name,
  description: artifact.description,
  parts: artifact.parts.map(writePart),
  extensions: artifact.extensions,
  metadata: artifact.metadata,
})

export const writeTask = (task: Task) => ({
  kind: 'task',
  id: task.id,
  contextId: task.contextId,
  status: writeStatus(task.status),
  history: task.history?.map(writeMessage),
  artifacts: task.artifacts?.map(writeArtifact),
  metadata: task.metadata,
})

export const writeSent = (sent: { readonly task: Task } | { readonly message: A2AMessage }) =>
  'task' in sent ? writeTask(sent.task) : writeMessage(sent.message)

export function writeItem(item: StreamItem): unknown {
  switch (item.type) {
    case 'task':
      return writeTask(item.task)
    case 'message':
      return writeMessage(item.message)
    case 'status':
      return {
        kind: 'status-update',
        taskId: item.taskId,
        contextId: item.contextId,
        status: writeStatus(item.status),
        final: item.final,
        metadata: item.metadata,
      }
    case 'artifact':
      return {
        kind: 'artifact-update',
        taskId: item.taskId,
        contextId: item.contextId,
        artifact: writeArtifact(item.artifact),
        append: item.append,
        lastChunk: item.lastChunk,
        metadata: item.metadata,
      }
  }
}

export const writePush = ({ taskId, config }: TaskPushConfig) => ({
  taskId,
  pushNotificationConfig: {
    id: config.id,
    url: config.url,
    token: config.token,
    authentication: config.authentication,
  },
})
