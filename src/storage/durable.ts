import type { DurableCheckpointer } from './checkpointer/durable-saver.ts'
import type { Serde } from './checkpointer/serde.ts'
import type { RetentionOptions } from './store/retention.ts'
import type { Store } from './store/store.ts'

/** What every storage over a database takes. */
export interface DurableStorageOptions extends RetentionOptions {
  /** What the names of tables or keys begin with. Default `agentwire_`, in Redis `agentwire:`. */
  readonly prefix?: string | undefined
  /** How long one call may take, in milliseconds, waiting for a connection or a lock included. Default 5,000. */
  readonly deadlineMs?: number | undefined
  /** How channel values and metadata become bytes. Default: `jsonSerde`; under `langgraph()` one that revives LangChain objects too. */
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

export const DEADLINE_MS = 5_000
export const PREFIX = 'agentwire_'

/** What a storage is and holds, as its `report()` says. */
export interface StorageReport {
  /** A short name for messages: `sqlite`, `postgres`, `redis`. */
  readonly name: string
  /** A storage that cannot be reached throws `UnavailableError` instead. */
  readonly reachable: true
  /** The version of what is installed, 0 before `setup()`, and the one that this version of the library brings it to. */
  readonly schema: { readonly version: number; readonly newest: number }
  /** What was acknowledged survives a crash of the database's process. */
  readonly durable: boolean
  /** What an operator should know or change, each a sentence. */
  readonly warnings: readonly string[]
  /** Large tables may be estimated. */
  readonly counts: StorageCounts
  /** What the storage occupies; undefined where the backend does not say. */
  readonly bytes: number | undefined
}

export interface StorageCounts {
  /** Partitions that ever existed: their counters stay when all else of them is gone. */
  readonly partitions: number
  /** Those that have expired and were not swept yet count too. */
  readonly documents: number
  readonly events: number
  /** Held and not expired. */
  readonly leases: number
  readonly checkpoints: number
}

export const EMPTY_COUNTS: StorageCounts = {
  partitions: 0,
  documents: 0,
  events: 0,
  leases: 0,
  checkpoints: 0,
}

/** From a row whose columns have the names of the counts, as a driver gives it: a sum over nothing is null. */
export function readCounts(row: Readonly<Record<keyof StorageCounts, unknown>>): StorageCounts {
  const { partitions, documents, events, leases, checkpoints } = row
  return {
    partitions: Number(partitions),
    documents: Number(documents),
    events: Number(events ?? 0),
    leases: Number(leases ?? 0),
    checkpoints: Number(checkpoints),
  }
}
