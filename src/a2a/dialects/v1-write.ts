import type {
  A2AMessage,
  Artifact,
  Part,
  StreamItem,
  Task,
  TaskList,
  TaskPushConfig,
  TaskStatus,
} from '../model.ts'
import { wireRole, wireState } from './v1-words.ts'

// Undefined fields are left out where the JSON is written, and ProtoJSON leaves out what is empty or false.

const filled = <T>(list: readonly T[] | undefined): readonly T[] | undefined =>
  list?.length ? list : undefined

/** The field of a part's content. In the model it is named as the kind. */
const CONTENT = { text: 'text', bytes: 'raw', uri: 'url', data: 'data' } as const

const writePart = (part: Part) => ({
  [CONTENT[part.kind]]: (part as unknown as Readonly<Record<string, unknown>>)[part.kind],
  filename: part.name,
  mediaType: part.mediaType,
  metadata: part.metadata,
})

export const writeMessage = (message: A2AMessage) => ({
  messageId: message.messageId,
  contextId: message.contextId,
  taskId: message.taskId,
  role: wireRole(message.role),
  parts: message.parts.map(writePart),
  metadata: message.metadata,
  extensions: filled(message.extensions),
  referenceTaskIds: filled(message.referenceTaskIds),
})

const writeStatus = ({ state, message, timestamp }: TaskStatus) => ({
  state: wireState(state),
  message: message && writeMessage(message),
  timestamp,
})

const writeArtifact = (artifact: Artifact) => ({
  artifactId: artifact.artifactId,
  name: artifact.name,
  description: artifact.description,
  parts: artifact.parts.map(writePart),
  metadata: artifact.metadata,
  extensions: filled(artifact.extensions),
})

export const writeTask = (task: Task) => ({
  id: task.id,
  contextId: task.contextId,
  status: writeStatus(task.status),
  artifacts: filled(task.artifacts)?.map(writeArtifact),
  history: filled(task.history)?.map(writeMessage),
  metadata: task.metadata,
})

export const writeSent = (sent: { readonly task: Task } | { readonly message: A2AMessage }) =>
  'task' in sent ? { task: writeTask(sent.task) } : { message: writeMessage(sent.message) }

export const writeList = (list: TaskList) => ({ ...list, tasks: list.tasks.map(writeTask) })

export function writeItem(item: StreamItem): unknown {
  switch (item.type) {
    case 'task':
    case 'message':
      return writeSent(item)
    case 'status':
      return {
        statusUpdate: {
          taskId: item.taskId,
          contextId: item.contextId,
          status: writeStatus(item.status),
          metadata: item.metadata,
        },
      }
    case 'artifact':
      return {
        artifactUpdate: {
          taskId: item.taskId,
          contextId: item.contextId,
          artifact: writeArtifact(item.artifact),
          append: item.append || undefined,
          lastChunk: item.lastChunk || undefined,
          metadata: item.metadata,
        },
      }
  }
}

export const writePush = ({ taskId, config: { id, url, token, authentication } }: TaskPushConfig) => ({
  id,
  taskId,
  url,
  token,
  authentication: authentication?.schemes.length
    ? { scheme: authentication.schemes[0], credentials: authentication.credentials }
    : undefined,
})
