export { createGraphStore, type GraphStores, graphStoresOf } from './graph-store.ts'
export type * from './types.ts'
export { GraphStoreError } from './vectors.ts'
