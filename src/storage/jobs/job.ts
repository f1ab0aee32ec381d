import type { Json, Op } from '../store/store.ts'

/** Work that stays in the store until its handler has returned, or has failed for too long. */
export interface Job {
  /** The partition of the job's subject, such as a thread. The job is deleted with it. */
  readonly partition: string
  readonly id: string
  /** The data for its handler. `save` replaces them. */
  readonly data: Json
}

export interface NewJob extends Omit<Job, 'partition'> {
  /** The name of its kind, which determines the handler. */
  readonly kind: string
}

/** A job as it is stored. */
export interface StoredJob {
  readonly kind: string
  readonly data: Json
  /** The number of failures since it was put or saved. */
  readonly failures: number
  /** The time of the first failure. */
  readonly failingSince?: number
}

/** The collection of the jobs. */
export const COLLECTION = 'jobs'

/**
 * The index field with the time from which a job may be claimed, by the store's clock. Each kind has its own
 * field, so that a process does not list jobs for which it has no handler.
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
 * Adds a job in the commit of its subject. Call `wake` of the jobs after that commit. The job is due at once,
 * or at a time of the store's clock. It replaces a job with the same id, whose handler stops before its next
 * delivery.
 */
export const putJobOp = ({ id, kind, data }: NewJob, due = 0): Op =>
  putJob(id, { kind, data, failures: 0 }, due)

/** Removes a job as part of another commit. Its handler stops before its next delivery. */
export const removeJobOp = (id: string): Op => ({ op: 'delete', collection: COLLECTION, id })
