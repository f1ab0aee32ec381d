import { uuid7 } from '../../ids.ts'
import { ConflictError, type Guard, type Json, type Op, type Store } from '../../storage/index.ts'
import { listFitting, pagesOf } from '../../storage/store/pages.ts'
import { refusal } from '../errors.ts'
import type { PageRequest } from './deployments.ts'
import { retryConflicts } from './retry-conflicts.ts'
import { ownerKey, recordOf } from './stored.ts'

/** A cluster that an agent of the user's looks after. Names of the wire: it is stored and answered as it came. */
export interface ListenerRecord {
  readonly id: string
  readonly version: string | null
  readonly compute_id: string
  readonly compute_config: { readonly k8s_namespaces?: readonly string[] | null | undefined }
  /** Milliseconds since 1970. */
  readonly createdAt: number
  readonly updatedAt: number
}

/** All listeners of an owner are one partition, in which each has a document and its `compute_id` another one. */
const LISTENERS = 'listeners'
const COMPUTE_IDS = 'listener-compute-ids'
export const LISTENER_COLLECTIONS = [LISTENERS, COMPUTE_IDS]
const ORDER = 'createdAt'

export const partitionOf = (owner: string | null): string => `listeners:${ownerKey(owner)}`

export async function findListener(
  store: Store,
  owner: string | null,
  id: string,
): Promise<ListenerRecord | undefined> {
  const doc = await store.get(partitionOf(owner), LISTENERS, id)
  return doc && recordOf<ListenerRecord>(doc)
}

/** Newest first. */
export const listListeners = (
  store: Store,
  owner: string | null,
  page: PageRequest,
): Promise<readonly ListenerRecord[]> =>
  listFitting(
    pagesOf(store, LISTENERS, { partition: partitionOf(owner), orderBy: ORDER, descending: true }),
    { read: (doc) => recordOf<ListenerRecord>(doc), fits: () => true, ...page },
  )

/** Throws 409 where the owner has one of this `compute_id`. */
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
      guards: [{ guard: 'absent', collection: COMPUTE_IDS, id: compute_id }],
      ops: [put(listener), { op: 'put', collection: COMPUTE_IDS, id: compute_id, value: id }],
    })
    return listener
  } catch (cause) {
    if (!(cause instanceof ConflictError)) throw cause
    throw refusal(409, 'A listener with this compute_id already exists in the workspace.', { cause })
  }
}

/** Undefined where there is none of this id. The last writer wins. */
export async function updateListener(
  store: Store,
  owner: string | null,
  id: string,
  change: (listener: ListenerRecord) => ListenerRecord,
): Promise<ListenerRecord | undefined> {
  return attempt(store, owner, id, (listener) => {
    const changed = change(listener)
    return { result: changed, ops: [put(changed)] }
  })
}

/** Undefined where there is none of this id. `check` is called with what is deleted, and may throw. */
export async function deleteListener(
  store: Store,
  owner: string | null,
  id: string,
  check: (listener: ListenerRecord) => void,
): Promise<ListenerRecord | undefined> {
  return attempt(store, owner, id, (listener) => {
    check(listener)
    return {
      result: listener,
      ops: [
        { op: 'delete', collection: LISTENERS, id },
        { op: 'delete', collection: COMPUTE_IDS, id: listener.compute_id },
      ],
    }
  })
}

const attempt = (
  store: Store,
  owner: string | null,
  id: string,
  change: (listener: ListenerRecord) => { readonly result: ListenerRecord; readonly ops: readonly Op[] },
): Promise<ListenerRecord | undefined> =>
  retryConflicts(async () => {
    const doc = await store.get(partitionOf(owner), LISTENERS, id)
    if (!doc) return undefined
    const { result, ops } = change(recordOf<ListenerRecord>(doc))
    const guard: Guard = { guard: 'version', collection: LISTENERS, id, version: doc.version }
    await store.commit(partitionOf(owner), { guards: [guard], ops })
    return result
  })

const put = (listener: ListenerRecord): Op => ({
  op: 'put',
  collection: LISTENERS,
  id: listener.id,
  value: listener as unknown as Json,
  index: { [ORDER]: listener.createdAt },
})
