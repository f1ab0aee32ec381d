import type { StoreReport } from '../store/report.ts'
import type { MemoryThreads } from './checkpointer.ts'
import type { Documents } from './documents.ts'
import type { Partitions } from './partitions.ts'

export function reportOf(partitions: Partitions, documents: Documents, now: number): StoreReport {
  const { known, tombstones, leased } = partitions
  const logs = [...partitions.byAppend.values()]
  const docs = [...documents.collections.values()].flatMap((collection) => [...collection.values()])
  return {
    name: 'memory',
    reachable: true,
    schema: { version: 0, newest: 0 },
    durable: false,
    warnings: [
      'It is in the memory of this process: everything is lost when the process ends, and no other process sees it.',
    ],
    counts: {
      partitions: known.size + tombstones.size,
      documents: sum(docs.map(({ size }) => size)),
      events: sum(logs.map(({ head, firstRetained }) => head - firstRetained + 1)),
      leases: [...leased.values()].filter(({ lease }) => lease!.expiresAt > now).length,
    },
    // Only the logs.
    bytes: sum(logs.map(({ bytes }) => bytes)),
  }
}

export function countCheckpoints(threads: MemoryThreads): number {
  return sum([...threads.values()].flatMap((thread) => [...thread.values()].map(({ kept }) => kept.size)))
}

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0)
