import { checkOptions, type OptionTable } from '../../core/options.ts'
import type { Store } from '../store/store.ts'
import { createGraphStore } from './graph-store.ts'
import type { Owner } from './layout.ts'
import type { GraphStore, GraphStoreLike, GraphStoreOptions, GraphStoreTtl } from './types.ts'

const TTL: OptionTable<GraphStoreTtl> = { defaultTtl: 'number', refreshOnRead: 'boolean' }

const GRAPH_STORE_OPTIONS: OptionTable<GraphStoreOptions> = {
  embed: 'function',
  dims: 'number',
  fields: 'list',
  ttl: TTL,
}

/** The graph stores of a server: one for each owner, or a given one that all owners share. */
export interface GraphStores {
  readonly isShared: boolean
  of(owner: Owner): GraphStore
}

export function graphStoresOf(
  store: Store,
  given: GraphStoreLike | GraphStoreOptions | undefined,
): GraphStores {
  if (given && 'batch' in given) return { isShared: true, of: () => given as unknown as GraphStore }
  checkOptions('createAgentEngine: graphStore', given ?? {}, GRAPH_STORE_OPTIONS)
  return { isShared: false, of: (owner) => createGraphStore(store, owner, given) }
}
