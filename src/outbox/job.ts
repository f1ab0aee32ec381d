import type { Json, Op } from '../storage/store/store.ts'

/** Something to deliver. It stays in the store until its handler has returned, or was failing for too long. */
export interface OutboxJob {
  /** The partition of what it is about, such as a thread: it goes with that. */
  readonly partition: string
  readonly id: string
  /** What its handler needs. `save` replaces it. */
  readonly data: Json
}

export interface NewOutboxJob extends Omit<OutboxJob, 'partition'> {
  /** The name of its handler. */
  readonly kind: string
}

/** A job as it is stored. */
export interface StoredJob {
  readonly kind: string
  readonly data: Json
  /** How often it failed since it was put or saved. */
  readonly failures: number
  /** When it first did. */
  readonly failingSince?: number
}

export const COLLECTION = 'outbox'

/** The index field that says when a job may be claimed, by the store's clock. One for each kind, so that nobody lists what it has no handler of. */
export const dueField = (kind: string): string => `due:${kind}`

export const putJob = (id: string, { kind, data, failures, failingSince }: StoredJob, due: number): Op => ({
  op: 'put',
  collection: COLLECTION,
  id,
  value: { kind, data, failures, failingSince },
  index: { [dueField(kind)]: due },
})

/**
 * Puts a job in the commit of what it is about, which `wake` of the outbox follows. It is due at once, or at a time of the store's
 * clock. A job of the same id is replaced, and its handler stops before its next delivery.
 */
export const putJobOp = ({ id, kind, data }: NewOutboxJob, due = 0): Op =>
  putJob(id, { kind, data, failures: 0 }, due)

/** Removes a job in somebody's commit. Its handler stops before its next delivery. */
export const removeJobOp = (id: string): Op => ({ op: 'delete', collection: COLLECTION, id })
