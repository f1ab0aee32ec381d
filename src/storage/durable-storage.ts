import type { OptionTable } from '../core/options.ts'
import { type CheckpointTables, createDurableSaver } from './checkpointer/durable-saver.ts'
import { DATABASE } from './checkpointer/fenced.ts'
import type { Serde } from './checkpointer/serde.ts'
import type { DurableStorage, DurableStorageOptions } from './durable.ts'
import { checkFence } from './store/commit.ts'
import type { StorageCounts, StorageReport } from './store/report.ts'
import type { PartitionListener, Store } from './store/store.ts'

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
