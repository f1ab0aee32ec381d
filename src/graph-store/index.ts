export { type GraphStores, graphStoresOf } from './choose.ts'
export { GraphStoreError } from './errors.ts'
export { createGraphStore } from './graph-store.ts'
export type {
  GraphStore,
  GraphStoreGet,
  GraphStoreItem,
  GraphStoreLike,
  GraphStoreListNamespaces,
  GraphStoreMatch,
  GraphStoreNamespaceOptions,
  GraphStoreOperation,
  GraphStoreOptions,
  GraphStorePut,
  GraphStoreReadOptions,
  GraphStoreSearch,
  GraphStoreSearchItem,
  GraphStoreSearchOptions,
  GraphStoreTtl,
  GraphStoreWriteOptions,
} from './types.ts'
