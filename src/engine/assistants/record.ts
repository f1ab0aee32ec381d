import type { Doc, Json, Op } from '../../storage/index.ts'

/** Plain JSON from clients. */
export type Fields = Readonly<Record<string, unknown>>

/** A graph with a config, a context and metadata for the runs that use it. */
export interface AssistantRecord {
  /** A UUID. */
  readonly assistantId: string
  /** The agent that it runs. */
  readonly graphId: string
  /** The active version. New assistants have version 1, and each change creates the next version. */
  readonly version: number
  readonly name: string
  readonly description: string | null
  /** In the clients' format: `{ configurable, tags, recursion_limit, … }`. */
  readonly config: Fields & { readonly configurable?: Fields | undefined }
  readonly context: Fields
  readonly metadata: Fields
  /** The owner that can access it. For a system assistant, the caller. */
  readonly owner: string | null
  /** Whether it exists because its graph does, instead of being created by a client. */
  readonly isSystem: boolean
  /** Milliseconds since 1970. */
  readonly createdAt: number
  /** Milliseconds since 1970. */
  readonly updatedAt: number
}

/**
 * The stored form: with the highest version so far, which is not the active one after a client activated an
 * earlier version.
 */
export interface StoredAssistant extends AssistantRecord {
  readonly newestVersion: number
}

export type AssistantOrder = 'assistantId' | 'graphId' | 'name' | 'createdAt' | 'updatedAt'

export const ASSISTANTS = 'assistants'
export const VERSIONS = 'assistant-versions'

/**
 * The partition of an assistant and its versions. Several owners may have assistants with the same id, and
 * changed system assistants. Thread ids cannot collide, because they contain no control characters.
 */
export const placeOf = (owner: string | null, assistantId: string): string =>
  `\u001fassistant ${JSON.stringify([owner, assistantId])}`

/**
 * The index field that orders an owner's assistants, or those of one graph. Each list has its own field, so
 * that paging or counting reads no other assistants.
 */
export const listField = (owner: string | null, order: AssistantOrder, graphId?: string): string =>
  `${order} of ${JSON.stringify([owner, graphId])}`

/** The index field of the system assistants that an owner changed. They are few, and in no other list. */
export const changedField = (owner: string | null): string => `changed by ${JSON.stringify([owner])}`

const ORDERS: readonly AssistantOrder[] = ['assistantId', 'graphId', 'name', 'createdAt', 'updatedAt']

/** Databases limit the length of index keys. */
const MAX_KEY = 200
/** Characters that some databases do not order like JavaScript. */
const UNEVEN = /[^\u0020-\ud7ff]/g

/** The sort key of an order. Assistants with equal keys are ordered by id, like their partitions. */
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

// The cast is safe: the values were plain JSON when they were stored.
export const recordOf = (doc: Doc): StoredAssistant => doc.value as unknown as StoredAssistant

/** The settings of an assistant, a thread or a run. */
export interface RunSettings {
  readonly config?: { readonly configurable?: Fields | undefined } | undefined
  readonly context?: Fields | undefined
  readonly metadata?: Fields | undefined
}

export interface MergedSettings extends RunSettings {
  readonly config: { readonly configurable?: Fields }
  readonly context: Fields
  readonly metadata: Fields
}

/**
 * Merges the settings of a run. Later arguments take precedence. `config.configurable`, `context` and
 * `metadata` are merged by key.
 */
export function mergeSettings(...all: readonly (RunSettings | undefined)[]): MergedSettings {
  const merged = (of: (settings: RunSettings) => unknown): Fields =>
    Object.assign({}, ...all.map((settings) => settings && of(settings)))
  const configurable = merged(({ config }) => config?.configurable)
  return {
    config: {
      ...merged(({ config }) => config),
      ...(Object.keys(configurable).length > 0 && { configurable }),
    },
    context: merged(({ context }) => context),
    metadata: merged(({ metadata }) => metadata),
  }
}
