import type { Doc, Json, Op } from '../storage/index.ts'

/** Plain JSON that clients gave. */
export type Fields = Readonly<Record<string, unknown>>

/** A graph with a config, a context and metadata for the runs that name it. */
export interface AssistantRecord {
  /** A UUID. */
  readonly assistantId: string
  /** The agent that it runs. */
  readonly graphId: string
  /** The version that is in use: 1 when it is made, and one more than any before with each change. */
  readonly version: number
  readonly name: string
  readonly description: string | null
  /** As clients gave it: `{ configurable, tags, recursion_limit, … }`. */
  readonly config: Fields & { readonly configurable?: Fields | undefined }
  readonly context: Fields
  readonly metadata: Fields
  /** Who sees it. The owner of a system assistant is the caller. */
  readonly owner: string | null
  /** Whether it is there because its graph is, and nobody made it. */
  readonly isSystem: boolean
  /** Milliseconds since 1970. */
  readonly createdAt: number
  /** Milliseconds since 1970. */
  readonly updatedAt: number
}

/** As it is stored: with the highest version that it ever had, which is not the one in use after a client has gone back. */
export interface StoredAssistant extends AssistantRecord {
  readonly newestVersion: number
}

export type AssistantOrder = 'assistantId' | 'graphId' | 'name' | 'createdAt' | 'updatedAt'

export const ASSISTANTS = 'assistants'
export const VERSIONS = 'assistant-versions'

/**
 * The partition of an assistant and its versions. Owners may have assistants of the same id, and system assistants that they have
 * changed. No thread has such an id, because those have no control characters.
 */
export const placeOf = (owner: string | null, assistantId: string): string =>
  `\u001fassistant ${JSON.stringify([owner, assistantId])}`

/**
 * The index field that orders an owner's assistants, or those of one graph. Each such list has a field of its own, so that a page or
 * a count of it looks at no other assistant.
 */
export const listField = (owner: string | null, order: AssistantOrder, graphId?: string): string =>
  `${order} of ${JSON.stringify([owner, graphId])}`

/** The index field of the system assistants that an owner has changed. They are few, and in no other list. */
export const changedField = (owner: string | null): string => `changed by ${JSON.stringify([owner])}`

const ORDERS: readonly AssistantOrder[] = ['assistantId', 'graphId', 'name', 'createdAt', 'updatedAt']

/** Databases bound the keys of an index. */
const MAX_KEY = 200
/** What databases do not all order as JavaScript does. */
const UNEVEN = /[^\u0020-\ud7ff]/g

/** What an order compares. Where it is the same, assistants are in the order of their ids, as partitions are. */
export function orderKey(record: AssistantRecord, order: AssistantOrder): string | number {
  if (order === 'assistantId') return 0
  const key = record[order]
  return typeof key === 'string' ? key.slice(0, MAX_KEY).replace(UNEVEN, '\ud7ff') : key
}

type Put = Op & { readonly op: 'put' }

export function putAssistant(record: StoredAssistant): Put {
  const { owner, graphId, assistantId, isSystem } = record
  const listed = ORDERS.flatMap((order) => {
    const key = orderKey(record, order)
    return [
      [listField(owner, order), key],
      [listField(owner, order, graphId), key],
    ]
  })
  return {
    op: 'put',
    collection: ASSISTANTS,
    id: assistantId,
    value: record as unknown as Json,
    index: isSystem ? { [changedField(owner)]: graphId } : Object.fromEntries(listed),
  }
}

export const putVersion = (record: AssistantRecord): Put => ({
  op: 'put',
  collection: VERSIONS,
  id: `${record.version}`,
  value: record as unknown as Json,
  index: { version: record.version },
})

// They are plain JSON by construction: what clients gave of it came as JSON.
export const recordOf = (doc: Doc): StoredAssistant => doc.value as unknown as StoredAssistant
