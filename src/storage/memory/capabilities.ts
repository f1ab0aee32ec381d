import type { StoreCapabilities } from '../store/store.ts'

export const MEMORY: StoreCapabilities = { name: 'memory', shared: false, durable: false, coalesceMs: 0 }
