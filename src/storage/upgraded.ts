import { ConflictError } from './errors.ts'
import type { Store } from './store/store.ts'

/** What earlier versions stored for owners. */
const COLLECTIONS = [
  ...['threads', 'assistants', 'crons', 'graph-items', 'deployments', 'listeners'],
  ...['oauth-providers', 'oauth-tokens', 'oauth-workspace-tokens'],
]
/** No thread has this id, because thread ids have no control characters. */
const PLACE = '\u001fowners'
const OWNERS = 'owners'

const known = new WeakMap<Store, Promise<boolean>>()

/**
 * Whether an earlier version, which named owners differently, may have written to the store. The first
 * process to check stores the answer. A store that ends with its process never belonged to another version.
 */
export function isUpgraded(store: Store): Promise<boolean> {
  let found = known.get(store)
  if (!found) {
    found = store.capabilities.durable ? look(store) : Promise.resolve(false)
    known.set(store, found)
    found.catch(() => known.delete(store))
  }
  return found
}

async function look(store: Store): Promise<boolean> {
  const noted = await store.get(PLACE, OWNERS, OWNERS)
  if (noted) return noted.value === 'upgraded'
  const pages = await Promise.all(COLLECTIONS.map((collection) => store.list(collection, { limit: 1 })))
  const upgraded = pages.some(({ docs }) => docs.length > 0)
  try {
    await store.commit(PLACE, {
      guards: [{ guard: 'absent', collection: OWNERS, id: OWNERS }],
      ops: [{ op: 'put', collection: OWNERS, id: OWNERS, value: upgraded ? 'upgraded' : 'new' }],
    })
    return upgraded
  } catch (error) {
    // Another process was first, and may have read less than this one.
    if (error instanceof ConflictError) return look(store)
    throw error
  }
}
