import { checkOptions, type OptionTable } from '../../core/options.ts'
import { UnavailableError } from '../errors.ts'
import { changeBy, checkChange, checkFence, leaseOf, type PreparedOp, prepareOps } from '../store/commit.ts'
import { createListeners } from '../store/listeners.ts'
import { dropOlderThan, keepLast, readEvents } from '../store/log-pages.ts'
import type { RetentionOptions } from '../store/retention.ts'
import type { Committed, Guard, Inspection, LeaseRecord, Store } from '../store/store.ts'
import { MEMORY } from './capabilities.ts'
import { createDocuments, type Documents } from './documents.ts'
import { createPartitions, type Partition, type Partitions } from './partitions.ts'

/** The log limits also apply between sweeps, and logs lose events by whole pages. */
export interface MemoryStoreOptions extends RetentionOptions {
  /** The store's clock, in milliseconds since 1970. Default `Date.now`. */
  readonly now?: (() => number) | undefined
}

const MEMORY_OPTIONS: OptionTable<MemoryStoreOptions> = {
  maxThreadBytes: 'number',
  maxTotalBytes: 'number',
  maxAgeMs: 'number',
  now: 'function',
}

const MIB = 1024 * 1024

/** A `Store` in this process's memory. It is lost with the process and invisible to other processes. */
export function memoryStore(options: MemoryStoreOptions = {}): Store {
  checkOptions('memoryStore', options, MEMORY_OPTIONS)
  const { maxThreadBytes = 16 * MIB, maxTotalBytes = 256 * MIB, maxAgeMs, now = Date.now } = options
  const documents = createDocuments()
  const partitions = createPartitions(maxThreadBytes, maxTotalBytes, documents.has)
  const { find, settle, changeLog } = partitions
  const listeners = createListeners()
  let closed = false

  function assertOpen(): void {
    if (closed) throw new UnavailableError('The store is closed.', { written: 'no' })
  }

  return {
    capabilities: MEMORY,
    async get(partition, collection, id) {
      assertOpen()
      return documents.get(partition, collection, id, now())
    },
    async getMany(collection, places) {
      assertOpen()
      const time = now()
      return places.map(({ partition, id }) => documents.get(partition, collection, id, time))
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
      const prepared = prepareOps(change)
      const committed = commit(partitions, documents, id, change.guards, prepared, now())
      if (listeners.has(id)) listeners.notify(id, changeBy(prepared))
      return committed
    },
    async read(id, query) {
      assertOpen()
      return readEvents(find(id).log, query)
    },
    async inspect(id, keys = []): Promise<Inspection> {
      assertOpen()
      const { log, token, lease } = find(id)
      const time = now()
      const docs = keys.map((key) => documents.get(id, key.collection, key.id, time))
      return { head: log.head, firstRetained: log.firstRetained, token, lease, now: time, docs }
    },
    async assertFence(id, token) {
      assertOpen()
      checkFence(id, token, find(id).lease, now())
    },
    watch(id, listener) {
      assertOpen()
      return listeners.add(id, listener)
    },
    async expired({ limit = 100 } = {}) {
      assertOpen()
      return expiredLeases(partitions, now()).slice(0, limit)
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
      if (maxAgeMs !== undefined) dropOldEvents(partitions, () => now() - maxAgeMs)
    },
    async setup() {
      assertOpen()
    },
    report: async () => (await import('./counts.ts')).reportOf(partitions, documents, now()),
    async close() {
      closed = true
      listeners.clear()
      partitions.clear()
    },
  }
}

function commit(
  partitions: Partitions,
  documents: Documents,
  id: string,
  guards: readonly Guard[] = [],
  ops: readonly PreparedOp[],
  time: number,
): Committed {
  const partition = partitions.find(id)
  const { log, token, lease } = partition
  checkChange(id, guards, ops, {
    now: time,
    head: log.head,
    token,
    lease,
    version: (collection, docId) => documents.version(id, collection, docId, time),
  })
  partitions.keep(id, partition)
  const versions: number[] = []
  for (const op of ops) {
    const version = apply(partitions, documents, id, partition, op, time)
    if (version !== undefined) versions.push(version)
  }
  const { head } = log
  partitions.settle(id)
  return { head, versions }
}

const expiredLeases = ({ leased }: Partitions, time: number): LeaseRecord[] =>
  [...leased.values()]
    .map(({ lease }) => lease!)
    .filter(({ expiresAt }) => expiresAt <= time)
    .sort((a, b) => a.expiresAt - b.expiresAt)

/** Of logs that no run writes. */
function dropOldEvents({ byAppend, leased, changeLog, settle }: Partitions, oldest: () => number): void {
  for (const [id, log] of [...byAppend]) {
    if (leased.has(id)) continue
    changeLog(id, log, () => dropOlderThan(log, oldest()))
    settle(id)
  }
}

/**
 * Applies an op and returns the version of a document that was put. It cannot fail, because everything was
 * validated before.
 */
function apply(
  partitions: Partitions,
  documents: Documents,
  id: string,
  partition: Partition,
  op: PreparedOp,
  time: number,
): number | undefined {
  switch (op.op) {
    case 'put': {
      const { collection, id: docId, text, index, ttlMs } = op
      const expiresAt = ttlMs === undefined ? Number.POSITIVE_INFINITY : time + ttlMs
      return documents.put(collection, { partition: id, id: docId, text, index, expiresAt }, time)
    }
    case 'delete':
      documents.remove(id, op.collection, op.id)
      break
    case 'append':
      partitions.append(id, partition, op, time)
      break
    case 'claim':
      partition.token = op.token
      partitions.setLease(id, partition, leaseOf(id, op.owner, op.token, time + op.ttlMs))
      break
    case 'renew':
      partitions.setLease(id, partition, leaseOf(id, partition.lease!.owner, op.token, time + op.ttlMs))
      break
    case 'release':
      if (partition.lease?.token === op.token) partitions.setLease(id, partition, undefined)
      break
    case 'clear':
      documents.clear(id)
      partitions.changeLog(id, partition.log, () => keepLast(partition.log, 0))
      partitions.setLease(id, partition, undefined)
      break
  }
  return undefined
}
