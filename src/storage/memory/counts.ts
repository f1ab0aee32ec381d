import type { StorageCounts } from '../durable.ts'
import type { MemoryThreads } from './checkpointer.ts'
import type { MemoryContents } from './store.ts'

export interface MemoryCounts extends Omit<StorageCounts, 'checkpoints'> {
  /** Of the logs alone. */
  readonly bytes: number
}

/** Counts what a memory store holds. */
export function countContents(contents: MemoryContents): MemoryCounts {
  const { partitions, tombstones, documents, byAppend, leased, now } = contents
  const logs = [...byAppend.values()]
  const collections = [...documents.collections.values()]
  return {
    partitions: partitions.size + tombstones.size,
    documents: sum(collections.flatMap((inPartitions) => [...inPartitions.values()].map(({ size }) => size))),
    events: sum(logs.map(({ head, firstRetained }) => head - firstRetained + 1)),
    leases: [...leased.values()].filter(({ lease }) => lease!.expiresAt > now()).length,
    bytes: sum(logs.map(({ bytes }) => bytes)),
  }
}

/** Counts the checkpoints of a memory saver. */
export function countCheckpoints(threads: MemoryThreads): number {
  return sum([...threads.values()].flatMap((thread) => [...thread.values()].map(({ kept }) => kept.size)))
}

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0)
