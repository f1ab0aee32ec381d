import { uuid7 } from '../../core/ids.ts'
import { ConflictError, type Op, type Store } from '../../storage/index.ts'
import { listFitting, recordsOf } from '../../storage/store/pages.ts'
import { refusal } from '../errors.ts'
import { load, put, recordOf, retryConflicts, unchanged } from './docs.ts'
import type { PageRequest } from './records.ts'
import { ownerKey } from './stored.ts'

/** A cluster that a user's listener watches, with wire names. */
export interface ListenerRecord {
  readonly id: string
  readonly version: string | null
  readonly compute_id: string
  readonly compute_config: { readonly k8s_namespaces?: readonly string[] | null | undefined }
  /** Milliseconds since 1970. */
  readonly createdAt: number
  readonly updatedAt: number
}

/** All of an owner's listeners are one partition, with a document for each and for each `compute_id`. */
const LISTENERS = 'listeners'
const COMPUTE_IDS = 'listener-compute-ids'
const ORDER = 'createdAt'

export const partitionOf = (owner: string | null): string => `listeners:${ownerKey(owner)}`

export const findListener = async (
  store: Store,
  owner: string | null,
  id: string,
): Promise<ListenerRecord | undefined> =>
  (await load<ListenerRecord>(store, partitionOf(owner), LISTENERS, id))?.record

/** Newest first. */
export const listListeners = (
  store: Store,
  owner: string | null,
  page: PageRequest,
): Promise<readonly ListenerRecord[]> => {
  const query = { partition: partitionOf(owner), orderBy: ORDER, descending: true }
  return listFitting(
    recordsOf((doc) => recordOf<ListenerRecord>(doc), store, LISTENERS, query),
    () => true,
    page,
  )
}

/** Throws 409 if the owner has a listener with this `compute_id`. */
export async function createListener(
  store: Store,
  owner: string | null,
  given: Pick<ListenerRecord, 'version' | 'compute_id' | 'compute_config'>,
  now: number,
): Promise<ListenerRecord> {
  const listener = { ...given, id: uuid7(now), createdAt: now, updatedAt: now }
  const { id, compute_id } = listener
  try {
    await store.commit(partitionOf(owner), {
      guards: [unchanged(COMPUTE_IDS, compute_id, undefined)],
      ops: [putListener(listener), { op: 'put', collection: COMPUTE_IDS, id: compute_id, value: id }],
    })
    return listener
  } catch (cause) {
    if (!(cause instanceof ConflictError)) throw cause
    throw refusal(409, 'A listener with this compute_id already exists in the workspace.', { cause })
  }
}

/**
 * Writes the result of `change` for a listener, or deletes the listener if the result is undefined. Returns
 * what was written or deleted, and undefined for an unknown listener. `change` may throw.
 */
export const changeListener = (
  store: Store,
  owner: string | null,
  id: string,
  change: (listener: ListenerRecord) => ListenerRecord | undefined,
): Promise<ListenerRecord | undefined> =>
  retryConflicts(async () => {
    const read = await load<ListenerRecord>(store, partitionOf(owner), LISTENERS, id)
    if (!read) return undefined
    const changed = change(read.record)
    const ops: readonly Op[] = changed
      ? [putListener(changed)]
      : [
          { op: 'delete', collection: LISTENERS, id },
          { op: 'delete', collection: COMPUTE_IDS, id: read.record.compute_id },
        ]
    await store.commit(partitionOf(owner), { guards: [unchanged(LISTENERS, id, read)], ops })
    return changed ?? read.record
  })

const putListener = (listener: ListenerRecord): Op =>
  put(LISTENERS, listener.id, listener, { index: { [ORDER]: listener.createdAt } })
