import { rewriteAll } from '../../storage/inherit.ts'
import type { Store } from '../../storage/store/store.ts'
import { isUpgraded } from '../../storage/upgraded.ts'
import { oldListFields, putThread, readThread } from './records.ts'

/** The index field of records that were written before lists had their own fields. */
const OLD_FIELD = 'owner'

/**
 * Rewrites records of earlier versions, so that they are in the lists. It is repeated, because an instance of
 * such a version may still write some. If there are none it costs one read.
 */
export const reindexThreads = (store: Store): Promise<void> => reindex(store, OLD_FIELD)

const reindex = (store: Store, oldField: string): Promise<void> =>
  rewriteAll(store, 'threads', oldField, { put: (doc) => putThread(readThread(doc)) })

const indexing = new WeakMap<Store, Promise<void>>()

/** Resolves when all records of earlier versions are in an owner's lists. */
export async function threadsIndexed(store: Store, owner: string | null): Promise<void> {
  // Reading memory costs nothing.
  if (store.capabilities.durable && !(await isUpgraded(store))) return
  await unownedIndexed(store)
  await Promise.all(
    oldListFields(owner).map(async (field) => {
      if ((await store.count('threads', field)) > 0) await reindex(store, field)
    }),
  )
}

function unownedIndexed(store: Store): Promise<void> {
  let work = indexing.get(store)
  if (!work) {
    work = reindexThreads(store)
    indexing.set(store, work)
    work.catch(() => indexing.delete(store))
  }
  return work
}
