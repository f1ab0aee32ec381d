import type { Json, Op } from '../storage/store/store.ts'

/** Work that is kept in the store until its handler has returned, or has failed for too long. */
export interface Job {
  /** The partition of what it is about, such as a thread. It is deleted with that. */
  readonly partition: string
  readonly id: string
  /** What its handler needs. `save` replaces it. */
  readonly data: Json
}

export interface NewJob extends Omit<Job, 'partition'> {
  /** The name of its kind, which has its handler. */
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

/** The collection of the jobs, by the name that databases of earlier versions have. */
export const COLLECTION = 'outbox'

/**
 * The index field that says when a job may be claimed, by the store's clock. Each kind has its own, so that a
 * process does not list jobs for which it has no handler.
 */
export const dueField = (kind: string): string => `due:${kind}`

export const putJob = (id: string, { kind, data, failures, failingSince }: StoredJob, due: number): Op => ({
  op: 'put',
  collection: COLLECTION,
  id,
  value: { kind, data, failures, failingSince },
  index: { [dueField(kind)]: due },
})

/**
 * Puts a job in the commit of what it is about. Call `wake` of the jobs after that commit. The job is due at
 * once, or at a time of the store's clock. It replaces a job of the same id, whose handler stops before its
 * next delivery.
 */
export const putJobOp = ({ id, kind, data }: NewJob, due = 0): Op =>
  putJob(id, { kind, data, failures: 0 }, due)

/** Removes a job in the commit of something else. Its handler stops before its next delivery. */
export const removeJobOp = (id: string): Op => ({ op: 'delete', collection: COLLECTION, id })
