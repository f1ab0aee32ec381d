import type { Store } from '../storage/store/store.ts'
import { createGraphStore } from './graph-store.ts'
import type { Owner } from './layout.ts'
import type { GraphStore, GraphStoreLike, GraphStoreOptions } from './types.ts'

/** The stores for graphs of a server: one for each owner, or one that was given and is everybody's. */
export interface GraphStores {
  readonly isShared: boolean
  of(owner: Owner): GraphStore
}

export function graphStoresOf(
  store: Store,
  given: GraphStoreLike | GraphStoreOptions | undefined,
): GraphStores {
  if (given && 'batch' in given) return { isShared: true, of: () => given as unknown as GraphStore }
  return { isShared: false, of: (owner) => createGraphStore(store, owner, given) }
}
