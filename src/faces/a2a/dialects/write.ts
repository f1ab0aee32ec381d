import type { A2AMessage, Artifact, Part, StreamItem, Task, TaskState, TaskStatus } from '../model.ts'

/** In the order of their numbers, starting at 1. Source: `a2a.proto`, Role. */
export const ROLES = ['user', 'agent'] as const

/** In the order of their numbers, starting at 1. Source: `a2a.proto`, TaskState. */
export const STATES: readonly TaskState[] = [
  'submitted',
  'working',
  'completed',
  'failed',
  'canceled',
  'input-required',
  'rejected',
  'auth-required',
]

export const wireRole = (role: string): string => `ROLE_${role.toUpperCase()}`
export const wireState = (state: string): string => `TASK_STATE_${state.toUpperCase().replace('-', '_')}`

/**
 * Formats a dialect's responses. v0.3 distinguishes objects by `kind`, v1.0 by the field that contains them.
 * v1.0 also omits empty and false values, like ProtoJSON. Undefined fields are omitted when the JSON is
 * written.
 */
/* @__NO_SIDE_EFFECTS__ */
export function writerOf(version: '0.3' | '1.0', writePart: (part: Part) => unknown) {
  const isOld = version === '0.3'
  const within = (field: string, value: unknown) => (isOld ? value : { [field]: value })
  const flag = (value: boolean) => (isOld || value ? value : undefined)
  const { writeMessage, writeStatus, writeArtifact, writeTask } = objectsOf(isOld, writePart)

  const writeSent = (sent: { readonly task: Task } | { readonly message: A2AMessage }) =>
    'task' in sent ? within('task', writeTask(sent.task)) : within('message', writeMessage(sent.message))

  const writeItem = (item: StreamItem): unknown => {
    if (item.type === 'task' || item.type === 'message') return writeSent(item)
    const { taskId, contextId, metadata } = item
    return item.type === 'status'
      ? within('statusUpdate', {
          kind: isOld ? 'status-update' : undefined,
          taskId,
          contextId,
          status: writeStatus(item.status),
          final: isOld ? item.final : undefined,
          metadata,
        })
      : within('artifactUpdate', {
          kind: isOld ? 'artifact-update' : undefined,
          taskId,
          contextId,
          artifact: writeArtifact(item.artifact),
          append: flag(item.append),
          lastChunk: flag(item.lastChunk),
          metadata,
        })
  }

  return { writeMessage, writeTask, writeSent, writeItem }
}

/* @__NO_SIDE_EFFECTS__ */
function objectsOf(isOld: boolean, writePart: (part: Part) => unknown) {
  const filled = <T>(list: readonly T[] | undefined) => (isOld || list?.length ? list : undefined)

  const writeMessage = (message: A2AMessage) => ({
    kind: isOld ? 'message' : undefined,
    messageId: message.messageId,
    contextId: message.contextId,
    taskId: message.taskId,
    role: isOld ? message.role : wireRole(message.role),
    parts: message.parts.map(writePart),
    metadata: message.metadata,
    extensions: filled(message.extensions),
    referenceTaskIds: filled(message.referenceTaskIds),
  })

  const writeStatus = ({ state, message, timestamp }: TaskStatus) => ({
    state: isOld ? state : wireState(state),
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

  const writeTask = (task: Task) => ({
    kind: isOld ? 'task' : undefined,
    id: task.id,
    contextId: task.contextId,
    status: writeStatus(task.status),
    artifacts: filled(task.artifacts)?.map(writeArtifact),
    history: filled(task.history)?.map(writeMessage),
    metadata: task.metadata,
  })

  return { writeMessage, writeStatus, writeArtifact, writeTask }
}
