import type { DurableCheckpointer } from './checkpointer/durable-saver.ts'
import type { Serde } from './checkpointer/serde.ts'
import type { StorageReport } from './store/report.ts'
import type { RetentionOptions } from './store/retention.ts'
import type { Store } from './store/store.ts'

export type { DurableCheckpointer } from './checkpointer/durable-saver.ts'
export type { StorageCounts, StorageReport } from './store/report.ts'
export type { RetentionOptions } from './store/retention.ts'

/** What every storage over a database takes. */
export interface DurableStorageOptions extends RetentionOptions {
  /** What the names of tables or keys begin with. Default `agentwire_`, in Redis `agentwire:`. */
  readonly prefix?: string | undefined
  /** The deadline of a call in milliseconds, including waits for a connection or a lock. Default 5,000. */
  readonly deadlineMs?: number | undefined
  /**
   * Serializes channel values and metadata. Default: `jsonSerde`; under `langgraph()` one that also revives
   * LangChain objects.
   */
  readonly serde?: Serde | undefined
}

/** A store and a saver over one database. */
export interface DurableStorage {
  readonly store: Store
  readonly checkpointer: DurableCheckpointer
  /** Creates or migrates what the database needs. The first call to the store or the saver does it too. */
  setup(): Promise<void>
  /** What it is and holds. Sets nothing up. */
  report(): Promise<StorageReport>
  /** Ends store and saver, and every connection that is not yours. */
  close(): Promise<void>
}
