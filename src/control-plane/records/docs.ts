import { retryOnConflict } from '../../storage/coordination/retry.ts'
import type { Doc, DocIndex, Guard, Json, Op, Store } from '../../storage/index.ts'
import { refusal } from '../errors.ts'

/** A record as it was read, with the version that guards a change. */
export interface Stored<T> {
  readonly record: T
  readonly version: number
  readonly index: DocIndex
}

export const recordOf = <T>(doc: Doc): T => doc.value as unknown as T

export const stored = <T>(doc: Doc): Stored<T> => ({
  record: recordOf<T>(doc),
  version: doc.version,
  index: doc.index,
})

export async function load<T>(
  store: Store,
  partition: string,
  collection: string,
  id: string,
): Promise<Stored<T> | undefined> {
  const doc = await store.get(partition, collection, id)
  return doc && stored<T>(doc)
}

export const put = (
  collection: string,
  id: string,
  record: object,
  options: Pick<Op & { op: 'put' }, 'index' | 'ttlMs'> = {},
): Op => ({ op: 'put', collection, id, value: record as unknown as Json, ...options })

/** A guard that passes if a record is as it was read, or still absent. */
export const unchanged = (
  collection: string,
  id: string,
  read: Pick<Stored<unknown>, 'version'> | undefined,
): Guard =>
  read ? { guard: 'version', collection, id, version: read.version } : { guard: 'absent', collection, id }

/** Like `retryOnConflict`. Finally throws 409. */
export const retryConflicts = <T>(attempt: () => Promise<T>): Promise<T> =>
  retryOnConflict(attempt, (cause) => refusal(409, 'This is changing too fast. Try again.', { cause }))
