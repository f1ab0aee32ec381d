import type { OptionTable } from '../core/options.ts'
import {
  type CheckpointTables,
  createDurableSaver,
  type DurableCheckpointer,
} from './checkpointer/durable-saver.ts'
import { DATABASE } from './checkpointer/fenced.ts'
import type { Serde } from './checkpointer/serde.ts'
import { checkFence } from './store/commit.ts'
import type { StorageCounts, StorageReport } from './store/report.ts'
import type { RetentionOptions } from './store/retention.ts'
import type { PartitionListener, Store } from './store/store.ts'

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

/** The store calls that each backend implements. */
export type StoreCalls = Pick<
  Store,
  'get' | 'getMany' | 'list' | 'count' | 'commit' | 'read' | 'inspect' | 'expired' | 'trim' | 'sweep'
>

interface Backend {
  readonly name: string
  /**
   * How long the store collects events, in milliseconds: long enough to avoid most commits of a token stream,
   * too short to be noticed.
   */
  readonly coalesceMs: number
  readonly database: { setup(): Promise<void>; assertOpen(): void }
  readonly notifier: { watch(partition: string, listener: PartitionListener): () => void }
  readonly calls: StoreCalls
  readonly tables: CheckpointTables
  readonly serde: Serde | undefined
  readonly report: () => Promise<StorageReport>
  /** Called once. */
  readonly close: () => Promise<void>
}

export function createDurableStorage(backend: Backend): DurableStorage {
  const { name, coalesceMs, database, notifier, calls, tables, serde, report } = backend
  let closing: Promise<void> | undefined
  const setup = () => database.setup()
  const close = () => (closing ??= backend.close())
  const store: Store & { readonly [DATABASE]: object } = {
    ...calls,
    [DATABASE]: database,
    capabilities: { name, shared: true, durable: true, coalesceMs },
    async assertFence(partition, token) {
      const { lease, now } = await calls.inspect(partition)
      checkFence(partition, token, lease, now)
    },
    watch(partition, listener) {
      database.assertOpen()
      return notifier.watch(partition, listener)
    },
    setup,
    report,
    close,
  }
  const checkpointer = createDurableSaver({ name: `${name}Checkpointer`, database, tables, serde, close })
  return { store, checkpointer, setup, report, close }
}

export const DURABLE_OPTIONS: OptionTable<DurableStorageOptions> = {
  maxThreadBytes: 'number',
  maxTotalBytes: 'number',
  maxAgeMs: 'number',
  prefix: 'string',
  deadlineMs: 'number',
  serde: 'object',
}

export const DEADLINE_MS = 5_000
export const PREFIX = 'agentwire_'

export const EMPTY_COUNTS: StorageCounts = {
  partitions: 0,
  documents: 0,
  events: 0,
  leases: 0,
  checkpoints: 0,
}

/** From a row whose columns have the names of the counts. The sum over no rows is null. */
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
