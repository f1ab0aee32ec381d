import { checkOptions, type OptionTable } from '../../core/options.ts'
import type { Store } from '../store/store.ts'
import type { Owner } from './layout.ts'
import type { NamespaceItems } from './read.ts'
import type {
  GraphStore,
  GraphStoreLike,
  GraphStoreMatch,
  GraphStoreOperation,
  GraphStoreOptions,
  GraphStoreTtl,
} from './types.ts'

/** Loaded with the first operation. */
let operations: Promise<typeof import('./batch.ts')> | undefined

/** The graph store of one owner. No operation can access the items of other owners. */
export function createGraphStore(store: Store, owner: Owner, options: GraphStoreOptions = {}): GraphStore {
  const shelf: NamespaceItems = { store, owner, options }

  async function batch<Results>(asked: readonly GraphStoreOperation[]): Promise<Results> {
    const { runBatch } = await (operations ??= import('./batch.ts'))
    return (await runBatch(shelf, asked)) as Results
  }

  /** The result of a batch with one operation. */
  const only = async <Result>(operation: GraphStoreOperation): Promise<Result> =>
    (await batch<[Result]>([operation]))[0]

  return {
    batch,
    get: (namespace, key, read) => only({ ...read, namespace, key }),
    async put(namespace, key, value, index, write) {
      await batch([{ ...write, namespace, key, value, ...(index !== undefined && { index }) }])
    },
    async delete(namespace, key) {
      await batch([{ namespace, key, value: null }])
    },
    search: (namespacePrefix, search) => only({ ...search, namespacePrefix }),
    listNamespaces: ({ prefix, suffix, ...page } = {}) =>
      only({ ...page, matchConditions: [...matchOf('prefix', prefix), ...matchOf('suffix', suffix)] }),
    start() {},
    stop() {},
  }
}

const matchOf = (matchType: GraphStoreMatch['matchType'], path: string[] | undefined): GraphStoreMatch[] =>
  path ? [{ matchType, path }] : []

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
