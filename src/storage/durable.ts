import type { DurableCheckpointer } from './checkpointer/durable-saver.ts'
import type { Serde } from './checkpointer/serde.ts'
import type { StorageReport } from './store/report.ts'
import type { RetentionOptions } from './store/retention.ts'
import type { Store } from './store/store.ts'

export type { DurableCheckpointer } from './checkpointer/durable-saver.ts'
export type { StorageCounts, StorageReport } from './store/report.ts'
export type { RetentionOptions } from './store/retention.ts'

/** The options of every storage over a database. */
export interface DurableStorageOptions extends RetentionOptions {
  /** The prefix of table or key names. Default `agentwire_`, in Redis `agentwire:`. */
  readonly prefix?: string | undefined
  /** The time limit of a call in milliseconds, including waits for a connection or a lock. Default 5,000. */
  readonly deadlineMs?: number | undefined
  /**
   * Serializes channel values and metadata. Default: `jsonSerde`; with `langgraph()`, one that also revives
   * LangChain objects.
   */
  readonly serde?: Serde | undefined
}

/** A store and a saver over one database. */
export interface DurableStorage {
  readonly store: Store
  readonly checkpointer: DurableCheckpointer
  /** Creates or migrates the tables that it needs. The first call to the store or the saver does this too. */
  setup(): Promise<void>
  /** The kind of storage and its counts. It does not call `setup`. */
  report(): Promise<StorageReport>
  /** Closes the store, the saver, and every connection that the caller does not own. */
  close(): Promise<void>
}
