import type { Store } from '../store/store.ts'
import type { Checkpointer } from './checkpointer.ts'
import { beforeWrites } from './overlay.ts'

/**
 * A store and a saver over one database have the same object under this key. Only then can the saver check
 * the lease in its own transaction.
 */
export const DATABASE: unique symbol = /* @__PURE__ */ Symbol.for('agentwire.database') as never

/** For how long a commit stands for a check, in milliseconds. A write may take as long after its check. */
const TRUST_MS = 100

/**
 * A view of a saver whose `put`, `putWrites`, `deleteThread` and `keepLatest` throw `FencedError` once
 * `partition`'s lease is not held with `token`. Where saver and store share a database, check and write are
 * one transaction; a foreign saver may still complete a write in flight. `heldAt` gives when the last
 * commit began that has held the lease, as `performance.now()` tells: a recent one stands for a check.
 */
export function fencedCheckpointer(
  inner: Checkpointer,
  store: Pick<Store, 'assertFence'>,
  partition: string,
  token: number,
  heldAt: () => number = () => Number.NEGATIVE_INFINITY,
): Checkpointer {
  if (inner.withFence && sharesDatabase(inner, store)) return inner.withFence(partition, token)
  return beforeWrites(inner, async () => {
    if (performance.now() - heldAt() > TRUST_MS) await store.assertFence(partition, token)
  })
}

function sharesDatabase(a: object, b: object): boolean {
  const database = (a as { [DATABASE]?: unknown })[DATABASE]
  return database !== undefined && database === (b as { [DATABASE]?: unknown })[DATABASE]
}
