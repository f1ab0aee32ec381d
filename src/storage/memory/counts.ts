import type { EventLog } from '../store/log-pages.ts'
import type { StoreReport } from '../store/report.ts'
import type { LeaseRecord } from '../store/store.ts'
import type { MemoryThreads } from './checkpointer.ts'
import type { Documents } from './documents.ts'

/** What a memory store holds. */
export interface MemoryContents {
  readonly partitions: ReadonlyMap<string, Partition>
  readonly tombstones: ReadonlyMap<string, Tombstone>
  readonly documents: Documents
  /** Partitions with events, the one longest without an append first. */
  readonly byAppend: ReadonlyMap<string, EventLog>
  readonly leased: ReadonlyMap<string, Partition>
  readonly now: () => number
}

export interface Partition {
  readonly log: EventLog
  token: number
  lease: LeaseRecord | undefined
}

/** What stays of a partition that has nothing left, because its counters must not go backwards. */
export interface Tombstone {
  readonly head: number
  readonly token: number
}

export function reportOf({
  partitions,
  tombstones,
  documents,
  byAppend,
  leased,
  now,
}: MemoryContents): StoreReport {
  const logs = [...byAppend.values()]
  const collections = [...documents.collections.values()]
  return {
    name: 'memory',
    reachable: true,
    schema: { version: 0, newest: 0 },
    durable: false,
    warnings: [
      'It is in the memory of this process: nothing is kept when it ends, and no other process sees it.',
    ],
    counts: {
      partitions: partitions.size + tombstones.size,
      documents: sum(
        collections.flatMap((inPartitions) => [...inPartitions.values()].map(({ size }) => size)),
      ),
      events: sum(logs.map(({ head, firstRetained }) => head - firstRetained + 1)),
      leases: [...leased.values()].filter(({ lease }) => lease!.expiresAt > now()).length,
    },
    // Of the logs alone.
    bytes: sum(logs.map(({ bytes }) => bytes)),
  }
}

/** Counts the checkpoints of a memory saver. */
export function countCheckpoints(threads: MemoryThreads): number {
  return sum([...threads.values()].flatMap((thread) => [...thread.values()].map(({ kept }) => kept.size)))
}

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0)
