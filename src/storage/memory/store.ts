import { checkOptions, type OptionTable } from '../../options.ts'
import { UnavailableError } from '../errors.ts'
import {
  changeBy,
  checkFence,
  checkGuard,
  checkLease,
  leaseOf,
  type PreparedOp,
  prepareOps,
} from '../store/commit.ts'
import { createListeners } from '../store/listeners.ts'
import {
  appendEvents,
  createLog,
  dropOlderThan,
  dropOldestPage,
  type EventLog,
  keepLast,
  readEvents,
} from '../store/log-pages.ts'
import type { Committed, LeaseRecord, Op, PartitionState, Store } from '../store/store.ts'
import type { MemoryContents, Partition, Tombstone } from './counts.ts'
import { createDocuments } from './documents.ts'

export interface MemoryStoreOptions {
  /**
   * Limit of the log of one partition, in bytes. Older events are dropped first, by whole pages. Default 16
   * MiB.
   */
  readonly maxThreadBytes?: number | undefined
  /**
   * Limit of all logs together, in bytes. The log with the oldest last append loses events first. Default 256
   * MiB.
   */
  readonly maxTotalBytes?: number | undefined
  /**
   * Maximum age of events in milliseconds, enforced by sweeps, except in partitions with a lease. Default:
   * none.
   */
  readonly maxAgeMs?: number | undefined
  /** The store's clock, in milliseconds since 1970. Default `Date.now`. */
  readonly now?: (() => number) | undefined
}

const MEMORY_OPTIONS: OptionTable<MemoryStoreOptions> = {
  maxThreadBytes: 'number',
  maxTotalBytes: 'number',
  maxAgeMs: 'number',
  now: 'function',
}

const MAX_TOMBSTONES = 65_536

/** A `Store` in this process's memory, lost with the process and invisible to others. */
export function memoryStore(options: MemoryStoreOptions = {}): Store {
  checkOptions('memoryStore', options, MEMORY_OPTIONS)
  const maxThreadBytes = options.maxThreadBytes ?? 16 * 1024 * 1024
  const maxTotalBytes = options.maxTotalBytes ?? 256 * 1024 * 1024
  const { maxAgeMs, now = Date.now } = options
  const partitions = new Map<string, Partition>()
  const tombstones = new Map<string, Tombstone>()
  const documents = createDocuments()
  const listeners = createListeners()
  const byAppend = new Map<string, EventLog>()
  const leased = new Map<string, Partition>()
  const contents: MemoryContents = { partitions, tombstones, documents, byAppend, leased, now }
  let logBytes = 0
  /** The highest token of the tombstones that were dropped: no partition deals a token below it again. */
  let tokenFloor = 0
  let closed = false

  function assertOpen(): void {
    if (closed) throw new UnavailableError('The store is closed.', { written: 'no' })
  }

  /** The partition, or a new one that is not kept yet. */
  function find(id: string): Partition {
    const known = partitions.get(id)
    if (known) return known
    const { head, token } = tombstones.get(id) ?? { head: 0, token: tokenFloor }
    return { log: createLog(head, maxThreadBytes), token, lease: undefined }
  }

  /** Changes the log, and counts what that adds or frees. */
  function changeLog(id: string, log: EventLog, change: () => void): void {
    logBytes -= log.bytes
    change()
    logBytes += log.bytes
    if (log.pages.length === 0) byAppend.delete(id)
  }

  /** Forgets a partition with nothing left but its counters. */
  function settle(id: string): void {
    const partition = partitions.get(id)
    if (!partition || partition.lease || partition.log.pages.length > 0 || documents.has(id)) return
    partitions.delete(id)
    const { token, log } = partition
    if (log.head === 0 && token <= tokenFloor) return
    tombstones.set(id, { head: log.head, token })
    if (tombstones.size <= MAX_TOMBSTONES) return
    const [oldest, given] = tombstones.entries().next().value!
    tombstones.delete(oldest)
    tokenFloor = Math.max(tokenFloor, given.token)
  }

  function evict(written: string): void {
    while (logBytes > maxTotalBytes) {
      const [id, log] = byAppend.entries().next().value!
      if (id === written && log.pages.length === 1) return
      changeLog(id, log, () => dropOldestPage(log))
      if (log.pages.length === 0) settle(id)
    }
  }

  function append(id: string, { log }: Partition, op: Op & { op: 'append' }, time: number): void {
    if (op.events.length === 0) return
    byAppend.delete(id)
    byAppend.set(id, log)
    changeLog(id, log, () => {
      appendEvents(log, op.token, op.events, time)
      while (log.bytes > maxThreadBytes && log.pages.length > 1) dropOldestPage(log)
    })
    evict(id)
  }

  function setLease(id: string, partition: Partition, lease: LeaseRecord | undefined): void {
    partition.lease = lease
    if (lease) leased.set(id, partition)
    else leased.delete(id)
  }

  /** It cannot fail, because everything was checked before. */
  function apply(id: string, partition: Partition, ops: readonly PreparedOp[], time: number): number[] {
    const versions: number[] = []
    for (const op of ops) {
      switch (op.op) {
        case 'put': {
          const { collection, id: docId, text, index } = op
          const expiresAt = op.ttlMs === undefined ? Number.POSITIVE_INFINITY : time + op.ttlMs
          versions.push(documents.put(collection, { partition: id, id: docId, text, index, expiresAt }, time))
          break
        }
        case 'delete':
          documents.remove(id, op.collection, op.id)
          break
        case 'append':
          append(id, partition, op, time)
          break
        case 'claim':
          partition.token = op.token
          setLease(id, partition, leaseOf(id, op.owner, op.token, time + op.ttlMs))
          break
        case 'renew':
          setLease(id, partition, leaseOf(id, partition.lease!.owner, op.token, time + op.ttlMs))
          break
        case 'release':
          if (partition.lease?.token === op.token) setLease(id, partition, undefined)
          break
        case 'clear':
          documents.clear(id)
          changeLog(id, partition.log, () => keepLast(partition.log, 0))
          setLease(id, partition, undefined)
          break
      }
    }
    return versions
  }

  const store: Store = {
    capabilities: { name: 'memory', shared: false, durable: false, coalesceMs: 0 },
    async get(partition, collection, id) {
      assertOpen()
      return documents.get(partition, collection, id, now())
    },
    async list(collection, query = {}) {
      assertOpen()
      return documents.list(collection, query, now())
    },
    async count(collection, field) {
      assertOpen()
      return documents.count(collection, field)
    },
    async commit(id, change): Promise<Committed> {
      assertOpen()
      const { guards = [] } = change
      const prepared = prepareOps(change)
      const time = now()
      const partition = find(id)
      const { log, token, lease } = partition
      const current = {
        now: time,
        head: log.head,
        token,
        lease,
        version: (collection: string, docId: string) => documents.version(id, collection, docId, time),
      }
      for (const guard of guards) checkGuard(id, guard, current)
      checkLease(id, prepared, current)
      partitions.set(id, partition)
      tombstones.delete(id)
      const versions = apply(id, partition, prepared, time)
      const { head } = log
      settle(id)
      if (listeners.has(id)) listeners.notify(id, changeBy(prepared))
      return { head, versions }
    },
    async read(id, query) {
      assertOpen()
      return readEvents(find(id).log, query)
    },
    async inspect(id): Promise<PartitionState> {
      assertOpen()
      const { log, token, lease } = find(id)
      return { head: log.head, firstRetained: log.firstRetained, token, lease, now: now() }
    },
    async assertFence(id, token) {
      assertOpen()
      checkFence(id, token, partitions.get(id)?.lease, now())
    },
    watch(id, listener) {
      assertOpen()
      return listeners.add(id, listener)
    },
    async expired({ limit = 100 } = {}) {
      assertOpen()
      const time = now()
      return [...leased.values()]
        .map(({ lease }) => lease!)
        .filter(({ expiresAt }) => expiresAt <= time)
        .sort((a, b) => a.expiresAt - b.expiresAt)
        .slice(0, limit)
    },
    async trim(id, bound) {
      assertOpen()
      const { log } = find(id)
      changeLog(id, log, () => {
        if ('keepLast' in bound) keepLast(log, bound.keepLast)
        else dropOlderThan(log, now() - bound.olderThanMs)
      })
      settle(id)
    },
    async sweep() {
      assertOpen()
      for (const id of documents.sweep(now())) settle(id)
      if (maxAgeMs === undefined) return
      for (const [id, log] of [...byAppend]) {
        if (leased.has(id)) continue
        changeLog(id, log, () => dropOlderThan(log, now() - maxAgeMs))
        settle(id)
      }
    },
    async setup() {
      assertOpen()
    },
    report: async () => (await import('./counts.ts')).reportOf(contents),
    async close() {
      closed = true
      listeners.clear()
      partitions.clear()
      byAppend.clear()
      leased.clear()
      tombstones.clear()
    },
  }
  return store
}
