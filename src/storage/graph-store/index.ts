export { type GraphStores, graphStoresOf } from './choose.ts'
export { GraphStoreError } from './errors.ts'
export { createGraphStore } from './graph-store.ts'
export type * from './types.ts'
