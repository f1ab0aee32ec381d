import { ConflictError } from '../../storage/errors.ts'
import type { Store } from '../../storage/store/store.ts'
import { guardThread, oldListField, putThread, type ThreadRecord } from './records.ts'

/** The index field of records that were written before lists had fields of their own. */
const OLD_FIELD = 'owner'

/**
 * Writes records of earlier versions again, so that they are in the lists. An instance of such a version may still write some, so
 * this is repeated. Where there are none it costs one look.
 */
export const reindexThreads = (store: Store): Promise<void> => reindex(store, OLD_FIELD)

async function reindex(store: Store, oldField: string): Promise<void> {
  for (let written = 1; written > 0; ) {
    const { docs } = await store.list('threads', { orderBy: oldField })
    const done = await Promise.all(
      docs.map(async ({ partition, value, version }) => {
        const record = value as unknown as ThreadRecord
        try {
          await store.commit(partition, {
            guards: [guardThread(partition, { record, version })],
            ops: [putThread(record)],
          })
          return 1
        } catch (error) {
          // Another process has written it, and with that has indexed it or is of the earlier version.
          if (error instanceof ConflictError) return 0
          throw error
        }
      }),
    )
    written = done.reduce<number>((sum, one) => sum + one, 0)
  }
}

const indexing = new WeakMap<Store, Promise<void>>()

/** Settles when no record of an earlier version is missing in an owner's lists. */
export async function threadsIndexed(store: Store, owner: string | null): Promise<void> {
  await unownedIndexed(store)
  if ((await store.count('threads', oldListField(owner))) > 0) await reindex(store, oldListField(owner))
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
