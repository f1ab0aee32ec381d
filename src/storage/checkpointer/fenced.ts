import type { Store } from '../store/store.ts'
import type { Checkpointer } from './checkpointer.ts'
import { beforeWrites } from './overlay.ts'

/**
 * What a store and a saver over one database have in common: both carry the same object under this key. Only then can the
 * saver check the lease in its own transaction.
 */
export const DATABASE: unique symbol = Symbol.for('agentwire.database') as never

/**
 * A view of a saver whose `put`, `putWrites`, `deleteThread` and `keepLatest` throw `FencedError` once `partition`'s lease is not held with
 * `token`. Where saver and store share a database the check and the write are one transaction; with a foreign saver one write that is already under way may still land.
 */
export function fencedCheckpointer(
  inner: Checkpointer,
  store: Store,
  partition: string,
  token: number,
): Checkpointer {
  if (inner.withFence && sharesDatabase(inner, store)) return inner.withFence(partition, token)
  return beforeWrites(inner, () => store.assertFence(partition, token))
}

function sharesDatabase(a: object, b: object): boolean {
  const database = (a as { [DATABASE]?: unknown })[DATABASE]
  return database !== undefined && database === (b as { [DATABASE]?: unknown })[DATABASE]
}
