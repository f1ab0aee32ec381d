import type { OptionTable } from '../core/options.ts'
import type { DurableStorageOptions } from './durable.ts'
import type { StorageCounts } from './store/report.ts'

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
