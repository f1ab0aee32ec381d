export { GraphStoreError } from './errors.ts'
export { createGraphStore, type GraphStores, graphStoresOf } from './graph-store.ts'
export type * from './types.ts'
