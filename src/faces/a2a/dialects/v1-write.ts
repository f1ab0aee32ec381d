import type { Part, TaskList, TaskPushConfig } from '../model.ts'
import { writerOf } from './write.ts'

/** The field of a part's content, by kind. In the model, the field has the name of the kind. */
const CONTENT = { text: 'text', bytes: 'raw', uri: 'url', data: 'data' } as const

const writePart = (part: Part) => ({
  [CONTENT[part.kind]]: (part as unknown as Readonly<Record<string, unknown>>)[part.kind],
  filename: part.name,
  mediaType: part.mediaType,
  metadata: part.metadata,
})

export const writeV1 = writerOf('1.0', writePart)

export const writeList = (list: TaskList) => ({ ...list, tasks: list.tasks.map(writeV1.writeTask) })

export const writePush = ({ taskId, config: { id, url, token, authentication } }: TaskPushConfig) => ({
  id,
  taskId,
  url,
  token,
  authentication: authentication?.schemes.length
    ? { scheme: authentication.schemes[0], credentials: authentication.credentials }
    : undefined,
})
