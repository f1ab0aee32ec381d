import { isUuid } from '../../core/ids.ts'
import { retryOnConflict } from '../../storage/coordination/retry.ts'
import type { DocIndex, Guard, Json, Op, Store } from '../../storage/store/store.ts'
import { RunError } from '../errors.ts'
import { guardThread, loadThread, type ThreadRecord } from './records.ts'

export const putThread = (thread: ThreadRecord): Op => ({
  op: 'put',
  collection: 'threads',
  id: thread.threadId,
  value: thread as unknown as Json,
  index: threadIndex(thread),
})

/** The fields by which threads can be ordered. */
export type ThreadOrder = 'threadId' | 'status' | 'createdAt' | 'updatedAt' | 'stateUpdatedAt'

/** A metadata value that is the same in every thread of a list. */
export type MetadataValue = string | number | boolean

/** The orders of lists by metadata. */
export type MetadataOrder = 'createdAt' | 'updatedAt'

/**
 * How many keys of a thread have lists. A thread with more keys is also in a list of all such threads of its
 * owner.
 */
const MAX_KEYS = 8
/** Longer keys and values have no list. */
const MAX_LENGTH = 128
/** These keys always have lists. */
const ASSISTANT_KEYS = ['graph_id', 'assistant_id'] as const
/** Titles differ between threads, so lists of them would contain one thread each. */
const UNLISTED = 'title'

/**
 * The metadata that clients see and search, including the keys by which the SDK finds an assistant's threads.
 */
export function metadataOf({
  metadata,
  assistantId,
}: Pick<ThreadRecord, 'metadata' | 'assistantId'>): Readonly<Record<string, unknown>> {
  if (assistantId === null) return metadata
  // The UUID of the assistant of that graph that the thread ran with.
  const { assistant_id: named } = metadata
  return { ...metadata, assistant_id: isUuid(named) ? named : assistantId, graph_id: assistantId }
}

/** Whether there is a list of the threads with this metadata value. */
export const hasList = (key: string, value: unknown): value is MetadataValue =>
  key !== UNLISTED &&
  key.length <= MAX_LENGTH &&
  (typeof value === 'string' ? value.length <= MAX_LENGTH : isFlat(value))

const isFlat = (value: unknown): boolean =>
  typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))

const ofOwner = (owner: string | null): string => `of ${owner === null ? '' : `=${owner}`}`

/**
 * The index field that orders an owner's threads, or those with one status. Each list has its own field, so
 * that paging or counting reads no other threads.
 */
export const listField = (
  owner: string | null,
  order: ThreadOrder,
  status: ThreadRecord['status'] | 'all' = 'all',
): string => `${status} by ${order === 'threadId' ? 'id' : order} ${ofOwner(owner)}`

/** The index field that orders an owner's threads with one value of a metadata key. */
export const metadataField = (
  owner: string | null,
  order: MetadataOrder,
  key: string,
  value: MetadataValue,
): string => metadataFieldOf(owner, order, JSON.stringify([key, value]))

const metadataFieldOf = (owner: string | null, order: MetadataOrder, pair: string): string =>
  `${pair} by ${order} ${ofOwner(owner)}`

/**
 * The index field that orders an owner's threads that are not in all lists by metadata, because they have too
 * many keys.
 */
export const crowdedField = (owner: string | null, order: MetadataOrder): string =>
  `crowded by ${order} ${ofOwner(owner)}`

function threadIndex(thread: ThreadRecord): DocIndex {
  const { owner, status, createdAt, updatedAt, stateUpdatedAt, queue, deleting, temporary } = thread
  const expiresAt = expiryOf(thread)
  if (deleting) return { deleting: 1 }
  const index: Record<string, number | string> = {}
  for (const of of ['all', status] as const) {
    // Each thread is a partition, and documents with equal field values are ordered by partition.
    index[listField(owner, 'threadId', of)] = 0
    index[listField(owner, 'createdAt', of)] = createdAt
    index[listField(owner, 'updatedAt', of)] = updatedAt
    index[listField(owner, 'stateUpdatedAt', of)] = stateUpdatedAt
  }
  index[listField(owner, 'status')] = status
  addMetadata(index, thread)
  if (queue.length > 0) index.queued = startOfFirst(queue) ?? updatedAt
  if (temporary) index.temporary = updatedAt
  if (expiresAt !== undefined) index.expires = expiresAt
  return index
}

/** When a thread's time to live expires. Undefined while a run is active or waiting. */
function expiryOf({ ttl, status, queue, updatedAt, shortenedAt }: ThreadRecord): number | undefined {
  if (!ttl || status === 'busy' || queue.length > 0 || shortenedAt === updatedAt) return undefined
  return updatedAt + ttl.minutes * 60_000
}

/** When the first waiting run may start. Undefined if none waits, or if one may start now. */
export function startOfFirst([first, ...others]: ThreadRecord['queue']): number | undefined {
  const start = others.reduce((min, { startsAt = 0 }) => Math.min(min, startsAt), first?.startsAt ?? 0)
  return start === 0 ? undefined : start
}

function addMetadata(index: Record<string, number | string>, thread: ThreadRecord): void {
  const { owner, createdAt, updatedAt } = thread
  const metadata = metadataOf(thread)
  const keys = [...new Set([...ASSISTANT_KEYS, ...Object.keys(metadata)])].filter((key) =>
    hasList(key, metadata[key]),
  )
  for (const key of keys.slice(0, MAX_KEYS)) {
    const pair = JSON.stringify([key, metadata[key]])
    index[metadataFieldOf(owner, 'createdAt', pair)] = createdAt
    index[metadataFieldOf(owner, 'updatedAt', pair)] = updatedAt
  }
  if (keys.length > MAX_KEYS) {
    index[crowdedField(owner, 'createdAt')] = createdAt
    index[crowdedField(owner, 'updatedAt')] = updatedAt
  }
}

/**
 * Repeats what was decided on values that another writer has changed: the attempt must read, decide and write.
 * Throws `thread_busy` if it gives up.
 */
export const retryConflicts = <T>(attempt: () => Promise<T>, what = 'thread'): Promise<T> =>
  retryOnConflict(
    attempt,
    (cause) => new RunError('thread_busy', `The ${what} is changing too fast. Try again.`, { cause }),
  )

/**
 * Reads, changes and writes a thread's record, and retries after conflicts. `change` returns undefined to
 * keep it unchanged.
 */
export async function updateThread(
  store: Store,
  threadId: string,
  change: (thread: ThreadRecord) => ThreadRecord | undefined,
  extra: { readonly guards?: readonly Guard[]; readonly ops?: readonly Op[] } = {},
): Promise<ThreadRecord | undefined> {
  return retryConflicts(async () => {
    const read = await loadThread(store, threadId)
    const next = read && change(read.record)
    if (!next) return read?.record
    await store.commit(threadId, {
      guards: [guardThread(threadId, read), ...(extra.guards ?? [])],
      ops: [putThread(next), ...(extra.ops ?? [])],
    })
    return next
  })
}

/** Of metadata, which searches compare, and of a state, where each key is a channel with versions of its own. */
const MOST_KEYS = 1_000
/** Every read of a thread returns its metadata, and a page has up to 1,000 threads. */
const MOST_TEXT = 256 * 1024

/** The metadata of a thread. Throws `invalid_argument` if they have more than 1,000 keys, or 262,144 characters of JSON. */
export function boundedMetadata(metadata: ThreadRecord['metadata']): ThreadRecord['metadata'] {
  if (Object.keys(metadata).length > MOST_KEYS) throw tooLarge(`${MOST_KEYS} keys`)
  if (JSON.stringify(metadata).length > MOST_TEXT) throw tooLarge(`${MOST_TEXT} characters of JSON`)
  return metadata
}

const tooLarge = (bound: string): RunError =>
  new RunError(
    'invalid_argument',
    `metadata: expected at most ${bound} on a thread. Keep larger values in its state.`,
  )

/** Throws `invalid_argument` for an input or an update of a state with more than 1,000 keys. */
export function requireFewKeys(name: string, value: unknown): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return
  if (Object.keys(value).length > MOST_KEYS)
    throw new RunError(
      'invalid_argument',
      `${name}: expected at most ${MOST_KEYS} keys. Put more values below one key.`,
    )
}
