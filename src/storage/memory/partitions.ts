import { appendEvents, createLog, dropOldestPage, type EventLog } from '../store/log-pages.ts'
import type { LeaseRecord, Op } from '../store/store.ts'

export interface Partition {
  readonly log: EventLog
  token: number
  lease: LeaseRecord | undefined
}

const MAX_TOMBSTONES = 65_536

export type Partitions = ReturnType<typeof createPartitions>

/** The logs and leases of all partitions. An empty partition is dropped, unless `hasDocuments`. */
export function createPartitions(
  maxThreadBytes: number,
  maxTotalBytes: number,
  hasDocuments: (id: string) => boolean,
) {
  const known = new Map<string, Partition>()
  const tombstones = createTombstones()
  /** Logs with events, ordered by their last append, oldest first. */
  const byAppend = new Map<string, EventLog>()
  const leased = new Map<string, Partition>()
  let logBytes = 0

  /** Changes the log, and updates the counts of events and bytes. */
  function changeLog(id: string, log: EventLog, change: () => void): void {
    logBytes -= log.bytes
    change()
    logBytes += log.bytes
    if (log.pages.length === 0) byAppend.delete(id)
  }

  function settle(id: string): void {
    const partition = known.get(id)
    if (!partition || partition.lease || partition.log.pages.length > 0 || hasDocuments(id)) return
    known.delete(id)
    tombstones.add(id, { head: partition.log.head, token: partition.token })
  }

  function evict(written: string): void {
    while (logBytes > maxTotalBytes) {
      const [id, log] = byAppend.entries().next().value!
      if (id === written && log.pages.length === 1) return
      changeLog(id, log, () => dropOldestPage(log))
      if (log.pages.length === 0) settle(id)
    }
  }

  return {
    known,
    tombstones: tombstones.counters,
    byAppend,
    leased,
    changeLog,
    /** Drops a partition that has nothing left but its counters. */
    settle,
    /** The partition, or a new one that is not stored yet. */
    find(id: string): Partition {
      const found = known.get(id)
      if (found) return found
      const { head, token } = tombstones.find(id)
      return { log: createLog(head, maxThreadBytes), token, lease: undefined }
    },
    keep(id: string, partition: Partition): void {
      known.set(id, partition)
      tombstones.counters.delete(id)
    },
    append(id: string, { log }: Partition, op: Op & { op: 'append' }, time: number): void {
      if (op.events.length === 0) return
      byAppend.delete(id)
      byAppend.set(id, log)
      changeLog(id, log, () => appendWithin(maxThreadBytes, log, op, time))
      evict(id)
    },
    setLease(id: string, partition: Partition, lease: LeaseRecord | undefined): void {
      partition.lease = lease
      if (lease) leased.set(id, partition)
      else leased.delete(id)
    },
    clear(): void {
      for (const map of [known, byAppend, leased, tombstones.counters]) map.clear()
    },
  }
}

interface Counters {
  readonly head: number
  readonly token: number
}

/** The counters of dropped partitions, because counters must not decrease. */
function createTombstones() {
  const counters = new Map<string, Counters>()
  /** The highest token of dropped tombstones. No partition issues a lower token again. */
  let tokenFloor = 0
  return {
    counters,
    find: (id: string): Counters => counters.get(id) ?? { head: 0, token: tokenFloor },
    add(id: string, { head, token }: Counters): void {
      if (head === 0 && token <= tokenFloor) return
      counters.set(id, { head, token })
      if (counters.size <= MAX_TOMBSTONES) return
      const [oldest, given] = counters.entries().next().value!
      counters.delete(oldest)
      tokenFloor = Math.max(tokenFloor, given.token)
    },
  }
}

function appendWithin(
  maxBytes: number,
  log: EventLog,
  { token, events }: Op & { op: 'append' },
  time: number,
): void {
  appendEvents(log, token, events, time)
  while (log.bytes > maxBytes && log.pages.length > 1) dropOldestPage(log)
}
