import type { Part, TaskPushConfig } from '../model.ts'
import { writerOf } from './write.ts'

function writePart(part: Part): unknown {
  const { kind, metadata } = part
  if (kind === 'text') return { kind, text: part.text, metadata }
  if (kind === 'data') return { kind, data: asObject(part.data), metadata }
  const content = kind === 'bytes' ? { bytes: part.bytes } : { uri: part.uri }
  return { kind: 'file', file: { ...content, name: part.name, mimeType: part.mediaType }, metadata }
}

/** Only v1.0 allows values other than objects. */
const asObject = (data: unknown): unknown =>
  typeof data === 'object' && data !== null && !Array.isArray(data) ? data : { value: data }

export const writeV03 = writerOf('0.3', writePart)

export const writePush = ({ taskId, config }: TaskPushConfig) => {
  const { id, url, token, authentication } = config
  return { taskId, pushNotificationConfig: { id, url, token, authentication } }
}
