import type { Store } from '../store/store.ts'
import type { Checkpointer } from './checkpointer.ts'
import { beforeWrites, hooked } from './hooks.ts'

/**
 * A store and a saver over the same database have the same object under this key. Only then can the saver
 * check the lease in its own transaction.
 */
export const DATABASE: unique symbol = /* @__PURE__ */ Symbol.for('agentwire.database') as never

/**
 * How long a commit counts as a lease check, in milliseconds. A write may also take this long after its
 * check.
 */
const TRUST_MS = 100

/**
 * A view of a saver whose `put`, `putWrites`, `deleteThread` and `keepLatest` throw `FencedError` once
 * `partition`'s lease is not held with `token`. If saver and store share a database, the check and the write
 * are one transaction. Otherwise, a write in flight may still complete. `heldAt` returns when the last commit
 * started that held the lease, by `performance.now()`: a recent one replaces the check.
 */
export function fencedCheckpointer(
  inner: Checkpointer,
  store: Pick<Store, 'assertFence'>,
  partition: string,
  token: number,
  heldAt: () => number = () => Number.NEGATIVE_INFINITY,
): Checkpointer {
  if (inner.withFence && sharesDatabase(inner, store)) return inner.withFence(partition, token)
  const check = async (): Promise<void> => {
    if (performance.now() - heldAt() > TRUST_MS) await store.assertFence(partition, token)
  }
  return hooked(inner, [beforeWrites(check)])
}

function sharesDatabase(a: object, b: object): boolean {
  const database = (a as { [DATABASE]?: unknown })[DATABASE]
  return database !== undefined && database === (b as { [DATABASE]?: unknown })[DATABASE]
}
