export type {
  ChannelVersion,
  Checkpoint,
  CheckpointConfig,
  Checkpointer,
  CheckpointListOptions,
  CheckpointMetadata,
  CheckpointTuple,
} from './checkpointer/checkpointer.ts'
export type { DeltaHistory } from './checkpointer/delta-history.ts'
export type { CheckpointSaver } from './checkpointer/saver.ts'
export { jsonSerde, type Serde } from './checkpointer/serde.ts'
export { ConflictError, FencedError, UnavailableError } from './errors.ts'
export { type MemoryCheckpointer, memoryCheckpointer } from './memory/checkpointer.ts'
export { type MemoryStorage, memoryStorage } from './memory/storage.ts'
export { type MemoryStoreOptions, memoryStore } from './memory/store.ts'
export type { StorageCounts, StorageReport, StoreReport } from './store/report.ts'
export type {
  Change,
  Committed,
  Doc,
  DocIndex,
  DocPage,
  Guard,
  Json,
  LeaseRecord,
  ListQuery,
  LogBatch,
  LogEvent,
  LogOrigin,
  Op,
  PartitionChange,
  PartitionListener,
  PartitionState,
  ReadQuery,
  Store,
  StoreCapabilities,
  TrimBound,
} from './store/store.ts'
